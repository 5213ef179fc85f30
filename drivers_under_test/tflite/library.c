/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include "common/library.h"
#include "common/text.h"

const char *tf_open_library(const char *path, struct tf_library *out) {
    static const struct common_library where = {
        .title = "TensorFlow Lite's library", .file = "libtensorflowlite_c.so", .brought = "../engines/tflite/lib"};
    void *handle = NULL;
    const char *error = common_open_library(&where, path, &handle);
    const char *missing = NULL;
    if (error) return error;
#define X(RESULT, NAME, PARAMETERS)                                                                                    \
    if (!COMMON_SYMBOL(handle, "TfLite" #NAME, out->NAME)) missing = "TfLite" #NAME;
    TF_FUNCTIONS(X)
#undef X
#define X(RESULT, NAME, PARAMETERS) COMMON_SYMBOL(handle, "TfLite" #NAME, out->NAME);
    TF_OPTIONAL_FUNCTIONS(X)
#undef X
    if (!missing) return NULL;
    return common_keep_textf("%s lacks %s: it is older than TensorFlow Lite's C interface", path ? path : where.file,
                             missing);
}
