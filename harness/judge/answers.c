/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/answers.h"

#include <string.h>

#include "base/rng.h"
#include "base/type.h"

/** In front of the bytes of an output. */
struct header {
    uint32_t output, rank, dims[NNV_MAX_RANK];
    int32_t type;
    uint32_t kept; /**< its bytes follow */
    uint64_t bytes, hash;
};

void nnv_answers_clear(struct nnv_answers *a) {
    nnv_text_clear(&a->blob);
    a->kept_all = true;
}

void nnv_answers_add(struct nnv_answers *a, uint32_t output, const struct nnv_operand *o, const struct nnv_value *v) {
    struct header h = {.output = output, .rank = v->rank, .type = o->type, .bytes = v->bytes};
    memcpy(h.dims, v->dims, v->rank * sizeof *h.dims);
    h.hash = nnv_hash_words(v->data, v->bytes);
    a->kept_all = a->kept_all && a->blob.len + v->bytes <= NNV_ANSWERS_BYTES;
    h.kept = a->kept_all;
    nnv_text_add_n(&a->blob, (const char *)&h, sizeof h);
    if (h.kept) nnv_text_add_n(&a->blob, (const char *)v->data, v->bytes);
}

/** Takes the next output off *b; false at the end, or if it makes no sense. */
static bool next_answer(struct nnv_bytes *b, struct header *h, const char **data) {
    if (b->len < sizeof *h) return false;
    memcpy(h, b->data, sizeof *h);
    const uint64_t more = h->kept ? h->bytes : 0;
    if (h->rank > NNV_MAX_RANK || more > b->len - sizeof *h) return false;
    *data = h->kept ? b->data + sizeof *h : NULL;
    b->data += sizeof *h + more;
    b->len -= sizeof *h + (size_t)more;
    return true;
}

static void add_dims(struct nnv_text *t, const uint32_t *dims, uint32_t rank) {
    nnv_text_add(t, "[");
    for (uint32_t i = 0; i < rank; i++) nnv_text_addf(t, "%s%u", i ? "," : "", dims[i]);
    nnv_text_add(t, "]");
}

/** Adds element i of data as it is stored. */
static void add_element(struct nnv_text *t, const struct nnv_type *type, const char *data, size_t i) {
    double v;
    nnv_load(type->code, data + i * type->size, 1, &v);
    nnv_text_addf(t, "%.9g", v);
}

/** Adds where two outputs of the same form differ. */
static void add_places(struct nnv_text *t, const struct header *h, const char *a, const char *b) {
    const struct nnv_type *type = nnv_type(h->type);
    const size_t size = type != NULL ? type->size : 0;
    if (size == 0 || a == NULL || b == NULL) {
        nnv_text_add(t, ": the bytes differ");
        return;
    }
    const size_t n = (size_t)h->bytes / size;
    size_t first = n, differ = 0;
    for (size_t i = n; i-- > 0;) {
        if (memcmp(a + i * size, b + i * size, size) == 0) continue;
        first = i;
        differ++;
    }
    uint32_t at[NNV_MAX_RANK];
    size_t left = first;
    for (uint32_t d = h->rank; d-- > 0;) {
        at[d] = (uint32_t)(left % (h->dims[d] ? h->dims[d] : 1));
        left /= h->dims[d] ? h->dims[d] : 1;
    }
    nnv_text_addf(t, ": %zu of %zu values differ, first at ", differ, n);
    add_dims(t, at, h->rank);
    nnv_text_add(t, ": ");
    if (first == n) return;
    add_element(t, type, a, first);
    nnv_text_add(t, " and ");
    add_element(t, type, b, first);
}

bool nnv_answers_differ(struct nnv_bytes a, struct nnv_bytes b, struct nnv_text *t) {
    struct header x, y;
    const char *p, *q;
    while (next_answer(&a, &x, &p) && next_answer(&b, &y, &q)) {
        const bool form = x.rank == y.rank && memcmp(x.dims, y.dims, x.rank * sizeof *x.dims) == 0 &&
                          x.type == y.type && x.bytes == y.bytes && x.output == y.output;
        if (form && x.hash == y.hash) continue;
        nnv_text_addf(t, "output %u ", x.output);
        add_dims(t, x.dims, x.rank);
        if (form) {
            add_places(t, &x, p, q);
        } else {
            nnv_text_add(t, ": has shape ");
            add_dims(t, y.dims, y.rank);
            nnv_text_add(t, " then");
        }
        return true;
    }
    return false;
}
