/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <string.h>

#include "common/library.h"
#include "common/text.h"

struct api_base {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

const char *or_open_library(const char *path, struct or_library *out) {
    enum { VERSION = 17 }; /* has all that is needed here */
    static const struct common_library where = {
        .title = "ONNX Runtime's library", .file = "libonnxruntime.so.1", .brought = "../engines/onnxruntime/lib"};
    void *handle = NULL;
    const struct api_base *(*get_base)(void) = NULL;
    const char *error = common_open_library(&where, path, &handle);
    if (error) return error;
    const struct api_base *base = COMMON_SYMBOL(handle, "OrtGetApiBase", get_base) ? get_base() : NULL;
    const char *table = base ? base->get_api(VERSION) : NULL;
    if (!table)
        return common_keep_textf("%s is no ONNX Runtime of version 1.%d or later", path ? path : where.file, VERSION);
#define X(POSITION, RESULT, NAME, PARAMETERS) memcpy(&out->NAME, table + (POSITION) * sizeof(void *), sizeof out->NAME);
    OR_FUNCTIONS(X)
#undef X
    return NULL;
}
