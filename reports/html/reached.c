/* SPDX-License-Identifier: Apache-2.0 */
/** @file reached.c report.html: what the run reached of the driver's code, by file. */
#include <inttypes.h>

#include "base/words.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum { ROWS_MAX = 2000, FILE_BYTES = 300, MISSED_MAX = 60 };

/** "12, 40–44": a line behind the last one goes on with its range. */
static void add_missed(struct nnv_text *t, const json_t *lines) {
    const size_t n = json_array_size(lines);
    size_t shown = 0;
    for (size_t i = 0; i < n && shown < MISSED_MAX; shown++) {
        const json_int_t first = json_integer_value(json_array_get(lines, i));
        json_int_t last = first;
        while (++i < n && json_integer_value(json_array_get(lines, i)) == last + 1) last++;
        nnv_text_addf(t, "%s%" JSON_INTEGER_FORMAT, shown > 0 ? ", " : "", first);
        if (last > first) nnv_text_addf(t, "\xe2\x80\x93%" JSON_INTEGER_FORMAT, last);
        if (i < n && shown + 1 == MISSED_MAX) nnv_text_add(t, " ...");
    }
}

static void add_number(struct nnv_text *t, const json_t *file, const char *member) {
    nnv_text_addf(t, "<td class=\"n\">%s</td>", nnv_count(nnv_json_count(file, member)).s);
}

void nnv_html_reached(struct nnv_html *h) {
    static const char *const heads[] = {"file", "#edges reached", "#of", "#lines reached", "#of", "lines missed", NULL};
    json_t *root = nnv_report_file(h->r, NNV_COVERAGE_FILE), *file;
    const json_t *files = json_object_get(root, "files");
    struct nnv_text *t = &h->t;
    size_t i;
    if (json_is_array(files)) {
        nnv_text_add(t, "<section id=\"reached\">\n<h2>Code of the driver</h2>\n");
        nnv_text_add_reached(t, h->r, "<p>Reached: ", ".</p>\n");
        nnv_page_table(t, heads);
        json_array_foreach(files, i, file) {
            if (i == ROWS_MAX) break;
            nnv_page_put(t, "<tr><th scope=\"row\">", nnv_json_text(file, "file", "?"), FILE_BYTES, "</th>");
            add_number(t, file, "edges_reached");
            add_number(t, file, "edges");
            add_number(t, file, "lines_reached");
            add_number(t, file, "lines");
            nnv_text_add(t, "<td>");
            add_missed(t, json_object_get(file, "lines_missed"));
            nnv_text_add(t, "</td></tr>\n");
        }
        nnv_page_table_end(t);
        if (json_array_size(files) > ROWS_MAX)
            nnv_text_addf(t, "<p>and %s more files, see coverage.json</p>\n",
                          nnv_count(json_array_size(files) - ROWS_MAX).s);
        nnv_text_add(t, "</section>\n");
    }
    json_decref(root);
}
