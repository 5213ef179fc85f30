/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/merge_flakes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/outcome.h"

/** Adds what the shard found out. What is not there, or not as nnvts writes it, adds nothing. */
static void add(json_t *all, const char *folder) {
    struct nnv_text path = {0};
    nnv_text_add_path(&path, folder, NNV_FLAKES_FILE);
    json_t *its = path.failed ? NULL : json_load_file(path.data, 0, NULL);
    nnv_text_free(&path);
    json_t *cases = json_object_get(its, "cases");
    if (json_is_array(cases)) {
        static const char *const sums[] = {"tried", "left"};
        json_array_extend(json_object_get(all, "cases"), cases);
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            json_object_set_new(all, sums[i],
                                json_integer(json_integer_value(json_object_get(all, sums[i])) +
                                             json_integer_value(json_object_get(its, sums[i]))));
        json_object_set_new(all, "seconds",
                            json_real(json_number_value(json_object_get(all, "seconds")) +
                                      json_number_value(json_object_get(its, "seconds"))));
    }
    json_decref(its);
}

enum nnv_status nnv_merge_flakes(const char *const *folders, size_t count, const char *out, struct nnv_err *err) {
    json_t *all = json_pack("{s:[]}", "cases");
    struct nnv_text path = {0};
    nnv_text_add_path(&path, out, NNV_FLAKES_FILE);
    if (all == NULL || path.failed) {
        json_decref(all);
        nnv_text_free(&path);
        return nnv_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) add(all, folders[i]);
    enum nnv_status s = NNV_OK;
    if (json_array_size(json_object_get(all, "cases")) > 0) {
        char *text = json_dumps(all, JSON_INDENT(1));
        s = text == NULL ? nnv_no_memory(err) : nnv_file_create(path.data, text, strlen(text), err);
        free(text);
    }
    json_decref(all);
    nnv_text_free(&path);
    return s;
}
