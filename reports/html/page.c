/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/html/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "reports/html/assets.h"

static void add_lines(struct nnv_text *t, const char *const *lines) {
    for (size_t i = 0; lines[i] != NULL; i++) nnv_text_add(t, lines[i]);
}

void nnv_page_begin(struct nnv_text *t, const struct nnv_page *p) {
    nnv_text_addf(t,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; %sstyle-src "
                  "'unsafe-inline'%s\"/>\n<title>",
                  p->script ? "img-src data:; " : "", p->script ? "; script-src 'unsafe-inline'" : "");
    nnv_text_add_xml(t, p->title);
    nnv_text_add(t, " \xe2\x80\x93 nnvts</title>\n<style>/*<![CDATA[*/\n");
    add_lines(t, nnv_html_css);
    for (size_t i = 0; i < sizeof p->css / sizeof *p->css; i++) nnv_text_add(t, p->css[i]);
    nnv_text_addf(t, "/*]]>*/</style>\n</head>\n<body>\n<header class=\"top %c\">\n<p class=\"kicker\">",
                  p->verdict ? p->verdict : '-');
    nnv_text_add_xml(t, p->kicker);
    nnv_text_add(t, "</p>\n<h1>");
    nnv_text_add_xml(t, p->heading);
    nnv_text_add(t, "</h1>\n");
}

void nnv_page_table(struct nnv_text *t, const char *const *heads) {
    nnv_text_add(t, "<div class=\"wide\"><table class=\"plain\"><thead><tr>");
    for (size_t i = 0; heads[i] != NULL; i++) {
        nnv_text_addf(t, "<th scope=\"col\"%s>", *heads[i] == '#' ? " class=\"n\"" : "");
        nnv_text_add_xml(t, heads[i] + (*heads[i] == '#'));
        nnv_text_add(t, "</th>");
    }
    nnv_text_add(t, "</tr></thead><tbody>\n");
}

void nnv_page_table_end(struct nnv_text *t) { nnv_text_add(t, "</tbody></table></div>\n"); }

void nnv_html_cut(struct nnv_text *t, const char *s, size_t max) {
    size_t n = strnlen(s, max + 1);
    if (n <= max) {
        nnv_text_add_xml(t, s);
        return;
    }
    n = max;
    while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80) n--;
    char *part = strndup(s, n);
    if (part == NULL)
        t->failed = true;
    else
        nnv_text_add_xml(t, part);
    free(part);
    nnv_text_add(t, " \xe2\x80\xa6 (cut; the JSON beside this page has all of it)");
}

void nnv_page_text(struct nnv_text *t, const char *before, const char *s, const char *after) {
    nnv_text_add(t, before);
    nnv_text_add_xml(t, s);
    nnv_text_add(t, after);
}

void nnv_page_put(struct nnv_text *t, const char *before, const char *s, size_t max, const char *after) {
    nnv_text_add(t, before);
    nnv_html_cut(t, s, max);
    nnv_text_add(t, after);
}

/* U+202A to 202E and U+2066 to 2069 become U+FFFD, which is as long: what a driver says must not turn what is beside.
 */
static void neutralise(struct nnv_text *t) {
    for (size_t i = 0; i + 2 < t->len; i++) {
        unsigned char *s = (unsigned char *)t->data + i;
        const bool embed = s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae;
        const bool isolate = s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
        if (!embed && !isolate) continue;
        s[0] = 0xef;
        s[1] = 0xbf;
        s[2] = 0xbd;
    }
}

void nnv_page_end(struct nnv_text *t, const struct nnv_page *p) {
    nnv_text_add(t, "</main>\n");
    if (p->script) {
        nnv_text_add(t, "<script>/*<![CDATA[*/\n");
        add_lines(t, p->script);
        nnv_text_add(t, "/*]]>*/</script>\n");
    }
    nnv_text_add(t, "</body>\n</html>\n");
    neutralise(t);
}

enum nnv_status nnv_page_write(struct nnv_text *t, const struct nnv_page *p, const char *path, struct nnv_err *err) {
    nnv_page_end(t, p);
    if (t->failed) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    return nnv_file_write(path, t->data, t->len, err);
}
