/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/reached.h"

#include "base/words.h"

/** "812 of 1,034 edges (78.5 %)"; nothing of nothing. */
static void add_part(struct nnv_text *t, uint64_t part, uint64_t all, const char *what) {
    if (all == 0) return;
    nnv_text_addf(t, "%s of ", nnv_count(part).s);
    nnv_text_addf(t, "%s %s (%.1f %%)", nnv_count(all).s, what, 100 * (double)part / (double)all);
}

void nnv_text_add_reached(struct nnv_text *t, const struct nnv_report *r, const char *before, const char *behind) {
    json_t *root = nnv_report_file(r, NNV_COVERAGE_FILE);
    const uint64_t all = nnv_json_count(root, "edges"), reached = nnv_json_count(root, "edges_reached");
    const uint64_t lines = nnv_json_count(root, "lines");
    const uint64_t covered = nnv_json_count(root, "lines_reached");
    const size_t files = json_array_size(json_object_get(root, "files"));
    if (json_is_object(root)) {
        nnv_text_add(t, before);
        add_part(t, reached, all, "edges");
        if (all > 0 && lines > 0) nnv_text_add(t, ", ");
        add_part(t, covered, lines, "lines");
        nnv_text_addf(t, ", in %s file%s%s", nnv_count(files).s, files == 1 ? "" : "s", behind);
    }
    json_decref(root);
}
