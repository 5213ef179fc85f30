/* SPDX-License-Identifier: Apache-2.0 */
/** @file baseline.c What changed since an earlier run, kept in the folder of the later one and shown in its report. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "reports/compare/compare.h"
#include "reports/html/html.h"
#include "harness/journal/reader.h"
#include "reports/html/page.h"

enum nnv_status nnv_baseline_check(const char *baseline, const char *folder, struct nnv_err *err) {
    struct nnv_journal_reader r;
    char a[PATH_MAX], b[PATH_MAX];
    if (realpath(baseline, a) != NULL && realpath(folder, b) != NULL && strcmp(a, b) == 0)
        return nnv_fail(err, NNV_INVALID, "--baseline %s is the folder of the run itself: give another with --out",
                        baseline);
    enum nnv_status s = nnv_reader_open(baseline, &r, err);
    if (s == NNV_OK) nnv_reader_close(&r);
    return s;
}

enum nnv_status nnv_baseline_write(const char *baseline, const char *folder, struct nnv_text *sentence,
                                   struct nnv_err *err) {
    json_t *j = NULL;
    enum nnv_status s = nnv_compare(baseline, folder, &j, err);
    char *text = s == NNV_OK ? json_dumps(j, JSON_COMPACT) : NULL;
    struct nnv_text path = {0};
    nnv_text_add_path(&path, folder, NNV_BASELINE_FILE);
    if (s == NNV_OK && sentence != NULL) nnv_compare_sentence(sentence, j);
    if (s == NNV_OK && (text == NULL || path.failed)) s = nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_file_write(path.data, text, strlen(text), err);
    nnv_text_free(&path);
    free(text);
    json_decref(j);
    return s;
}

/** The comparison in the folder of the report, a new reference; NULL: there is none, or it is none. */
static json_t *load(const struct nnv_report *r) {
    struct nnv_text path = {0};
    char *text = NULL;
    size_t n = 0;
    json_error_t why;
    enum { MOST = 1 << 28 };
    nnv_text_add_path(&path, r->folder, NNV_BASELINE_FILE);
    json_t *j = !path.failed && nnv_file_read(path.data, MOST, &text, &n, NULL) == NNV_OK
                    ? nnv_record_parse(text, n, &why)
                    : NULL;
    if (j != NULL && strcmp(nnv_json_text(j, "form", ""), "nnvts-compare-1") != 0) {
        json_decref(j);
        j = NULL;
    }
    free(text);
    nnv_text_free(&path);
    return j;
}

void nnv_html_baseline_line(struct nnv_html *h) {
    json_t *j = load(h->r);
    if (j == NULL) return;
    struct nnv_text sentence = {0};
    nnv_compare_sentence(&sentence, j);
    nnv_text_add(&h->t, "<p class=\"since\">Since the baseline ");
    nnv_html_cut(&h->t, nnv_json_text(json_object_get(j, "a"), "folder", "?"), 200);
    nnv_text_addf(&h->t, ": <a href=\"#baseline\">%s%s</a></p>\n", nnv_compare_worse(j) ? "worse, " : "",
                  sentence.data != NULL ? sentence.data : "");
    h->t.failed = h->t.failed || sentence.failed;
    nnv_text_free(&sentence);
    json_decref(j);
}

void nnv_html_baseline(struct nnv_html *h) {
    json_t *j = load(h->r);
    if (j == NULL) return;
    nnv_text_add(&h->t,
                 "<section id=\"baseline\">\n<h2>Since the baseline</h2>\n<p class=\"lead\">A is the baseline, ");
    nnv_html_cut(&h->t, nnv_json_text(json_object_get(j, "a"), "folder", "?"), 200);
    nnv_page_put(&h->t, ", driver ", nnv_json_text(json_object_get(j, "a"), "driver", "?"), 200, " ");
    nnv_html_cut(&h->t, nnv_json_text(json_object_get(j, "a"), "version", "?"), 200);
    nnv_page_put(&h->t, ", of ", nnv_json_text(json_object_get(j, "a"), "start", "?"), 200, "; B is this run.</p>\n");
    nnv_compare_add(&h->t, j);
    nnv_text_add(&h->t, "</section>\n");
    json_decref(j);
}
