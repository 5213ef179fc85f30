/* SPDX-License-Identifier: Apache-2.0 */
/* The files of compiler/byoc/tables, as bytes of the program. */
#include "compiler/byoc/tables.h"

#include <string.h>

#define EMBED(name)                                                                                                    \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "nnv_table_" #name ": .incbin \"compiler/byoc/tables/" #name ".json\"\n"                                   \
            "nnv_table_" #name "_end:\n"                                                                               \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const char nnv_table_##name[], nnv_table_##name##_end[];

EMBED(nnapi)
EMBED(onednn)

const char *nnv_shipped_table(const char *name, size_t *len) {
    const struct {
        const char *name, *text, *end;
    } tables[] = {{"nnapi", nnv_table_nnapi, nnv_table_nnapi_end}, {"onednn", nnv_table_onednn, nnv_table_onednn_end}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(name, tables[i].name) != 0) continue;
        *len = (size_t)(tables[i].end - tables[i].text);
        return tables[i].text;
    }
    return NULL;
}

enum nnv_status nnv_table_open(const char *name, struct nnv_arena *arena, struct nnv_pattern_table *table,
                               struct nnv_err *err) {
    size_t len;
    const char *shipped = nnv_shipped_table(name, &len);
    return shipped ? nnv_pattern_read(shipped, len, name, arena, table, err)
                   : nnv_pattern_load(name, arena, table, err);
}
