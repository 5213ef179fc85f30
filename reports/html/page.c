/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/html/page.h"

#include "base/file.h"
#include "harness/journal/verdict.h"
#include "reports/html/html.h"

void nnv_page_begin(struct nnv_text *t, const char *title, const char *css, enum nnvts_verdict v, const char *kicker,
                    const char *heading) {
    nnv_text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'\"/>\n<title>");
    nnv_text_add_xml(t, title);
    nnv_text_add(t, " \xe2\x80\x93 nnvts</title>\n<style>/*<![CDATA[*/\n");
    for (size_t i = 0; nnv_html_css[i] != NULL; i++) nnv_text_add(t, nnv_html_css[i]);
    if (css != NULL) nnv_text_add(t, css);
    nnv_text_addf(t, "/*]]>*/</style>\n</head>\n<body>\n<header class=\"top %c\">\n<p class=\"kicker\">",
                  nnv_verdict_letter(v));
    nnv_text_add_xml(t, kicker);
    nnv_text_add(t, "</p>\n<h1>");
    nnv_text_add_xml(t, heading);
    nnv_text_add(t, "</h1>\n");
}

/** U+202A to 202E and U+2066 to 2069 become U+FFFD, which is as long. */
static void neutralise(struct nnv_text *t) {
    for (size_t i = 0; i + 2 < t->len; i++) {
        unsigned char *s = (unsigned char *)t->data + i;
        if (s[0] != 0xe2 ||
            !((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) || (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)))
            continue;
        s[0] = 0xef;
        s[1] = 0xbf;
        s[2] = 0xbd;
    }
}

enum nnv_status nnv_page_write(struct nnv_text *t, const char *path, struct nnv_err *err) {
    nnv_text_add(t, "</main>\n</body>\n</html>\n");
    if (t->failed) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    neutralise(t);
    return nnv_file_write(path, t->data, t->len, err);
}
