/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/degenerate.h"

#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "harness/client/request.h"

enum { FEWEST_ELEMS = 8, FEWEST_BYTES = 8 };

void nnv_before_note(struct nnv_before *b, const struct nnv_value *answers, const struct nnv_expectation *golden,
                     uint32_t n) {
    if (!b) return;
    b->count = n < NNV_BEFORE_OUTPUTS ? n : NNV_BEFORE_OUTPUTS;
    for (uint32_t i = 0; i < b->count; i++)
        b->output[i] =
            (struct nnv_before_output){.bytes = answers[i].bytes,
                                       .answer = nnv_hash_words(answers[i].data, answers[i].bytes),
                                       .golden = nnv_hash_words(golden[i].value->data, golden[i].value->bytes)};
}

/** All elements have the same bytes. */
static bool is_constant(const struct nnv_value *v, size_t elems) {
    const size_t size = v->bytes / elems;
    return size > 0 && memcmp(v->data, (const char *)v->data + size, v->bytes - size) == 0;
}

static bool is_same(const void *data, size_t bytes, const struct nnv_value *v) {
    return data && bytes == v->bytes && memcmp(data, v->data, bytes) == 0;
}

/** Is it some value that the driver has read? */
static bool is_read(const struct nnv_suspect *s, struct nnv_text *t) {
    const struct nnv_subgraph *m = &s->model->main;
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnv_value *v = &s->inputs[i];
        if (v->omitted || !is_same(v->data, v->bytes, s->answer)) continue;
        nnv_text_addf(t, "; it has the bytes of input %" PRIu32, i);
        return true;
    }
    for (uint32_t i = 0; i < m->noperands; i++) {
        const struct nnv_operand *o = &m->operands[i];
        if (!nnv_is_constant(o) || !is_same(o->data, o->bytes, s->answer)) continue;
        nnv_text_addf(t, "; it has the bytes of operand %" PRIu32 ", a constant", i);
        return true;
    }
    return false;
}

static bool is_before(const struct nnv_suspect *s, struct nnv_text *t) {
    const uint64_t answer = nnv_hash_words(s->answer->data, s->answer->bytes);
    const uint64_t golden = nnv_hash_words(s->golden->data, s->golden->bytes);
    for (uint32_t i = 0; s->before && i < s->before->count; i++) {
        const struct nnv_before_output *b = &s->before->output[i];
        if (b->bytes != s->answer->bytes || b->answer != answer || b->golden == golden) continue;
        nnv_text_addf(t, "; it is output %" PRIu32 " of the execution before", i);
        return true;
    }
    return false;
}

/** The longest run of bytes that still are what was there before the execution. */
static void add_unwritten(const struct nnv_suspect *s, struct nnv_text *t) {
    enum { CHUNK = 4096 }; /* the pattern repeats after a divisor of this */
    uint8_t poison[CHUNK];
    const uint8_t *data = s->answer->data;
    size_t longest = 0, at = 0, run = 0;
    nnv_request_poison(s->output, sizeof poison, poison);
    for (size_t i = 0; i < s->answer->bytes; i++) {
        run = data[i] == poison[i % CHUNK] ? run + 1 : 0;
        if (run <= longest) continue;
        longest = run;
        at = i + 1 - run;
    }
    if (longest >= FEWEST_BYTES)
        nnv_text_addf(t, "; bytes %zu to %zu of %zu were never written", at, at + longest - 1, s->answer->bytes);
}

void nnv_degenerate_words(const struct nnv_suspect *s, struct nnv_text *t) {
    const bool few = s->elems < FEWEST_ELEMS || !s->answer->data || !s->golden->data;
    if (few || is_same(s->golden->data, s->golden->bytes, s->answer)) return;
    if (is_constant(s->answer, s->elems)) {
        if (!is_constant(s->golden, s->elems)) nnv_text_addf(t, "; every value is %.9g", s->value);
        return;
    }
    if (!is_read(s, t) && !is_before(s, t)) add_unwritten(s, t);
}
