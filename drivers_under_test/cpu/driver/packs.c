/* SPDX-License-Identifier: Apache-2.0 */
#include "packs.h"

#include <stdlib.h>
#include <string.h>

static uint64_t stored(uint64_t bytes) { return (bytes + CPU_ALIGN - 1) / CPU_ALIGN * CPU_ALIGN; }

size_t cpu_pack_stored_bytes(const struct cpu_pack *pack) { return sizeof *pack + (size_t)stored(pack->bytes); }

struct cpu_pack *cpu_packs_new(struct cpu_packs *packs, size_t bytes) {
    struct cpu_pack **grown = realloc(packs->made, (packs->made_count + 1) * sizeof(struct cpu_pack *));
    if (!grown) return NULL;
    packs->made = grown;
    if (bytes > SIZE_MAX / 8) return NULL;
    struct cpu_pack *pack = cpu_arena_raw(packs->arena, sizeof *pack + (size_t)stored(bytes));
    if (!pack) return NULL;
    *pack = (struct cpu_pack){.bytes = bytes};
    memset((uint8_t *)cpu_pack_weights(pack) + bytes, 0, (size_t)stored(bytes) - bytes);
    packs->made[packs->made_count++] = pack;
    packs->bytes += cpu_pack_stored_bytes(pack);
    return pack;
}

struct cpu_pack *cpu_packs_next(struct cpu_packs *packs) {
    struct cpu_pack *pack = (void *)packs->at;
    packs->unfit = packs->left < sizeof *pack || pack->bytes > packs->left - sizeof *pack ||
                   stored(pack->bytes) > packs->left - sizeof *pack;
    if (packs->unfit) return NULL;
    packs->at += cpu_pack_stored_bytes(pack);
    packs->left -= cpu_pack_stored_bytes(pack);
    return pack;
}

void cpu_packs_free(struct cpu_packs *packs) {
    free(packs->held);
    free(packs->made);
    *packs = (struct cpu_packs){0};
}
