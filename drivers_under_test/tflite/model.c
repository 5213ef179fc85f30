/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

void tf_model_free(struct tf_model *m) {
    for (uint32_t i = 0; i < m->tensor_count; i++) free(m->tensors[i].own);
    free(m->tensors);
    free(m->operators);
    free(m->lists);
    *m = (struct tf_model){0};
}

/** Room for one more element; NULL: out of memory. Arrays grow when their length is a power of two. */
static void *one_more(void *array, uint32_t count, size_t bytes, bool *failed) {
    if (*failed) return NULL;
    if (count & (count - 1)) return array;
    void *more = realloc(array, (count ? 2 * (size_t)count : 1) * bytes);
    *failed = more == NULL;
    return more;
}

int32_t tf_add_tensor(struct tf_model *m, const struct tf_tensor *tensor) {
    struct tf_tensor *more = one_more(m->tensors, m->tensor_count, sizeof *more, &m->failed);
    if (!more) {
        free(tensor->own);
        return 0;
    }
    m->tensors = more;
    more[m->tensor_count] = *tensor;
    return (int32_t)m->tensor_count++;
}

void tf_add_operator(struct tf_model *m, const struct tf_operator *op) {
    struct tf_operator *more = one_more(m->operators, m->operator_count, sizeof *more, &m->failed);
    if (!more) return;
    m->operators = more;
    more[m->operator_count] = *op;
    more[m->operator_count++].first = m->list_count;
}

static bool append(struct tf_model *m, int32_t tensor) {
    int32_t *more = one_more(m->lists, m->list_count, sizeof *more, &m->failed);
    if (!more) return false;
    m->lists = more;
    more[m->list_count++] = tensor;
    return true;
}

void tf_add_input(struct tf_model *m, int32_t tensor) {
    if (append(m, tensor)) m->operators[m->operator_count - 1].in_count++;
}

void tf_add_output(struct tf_model *m, int32_t tensor) {
    if (append(m, tensor)) m->operators[m->operator_count - 1].out_count++;
}

/* ------------------------------------------------------------------- the file
 * Numbers of fields are those of TensorFlow Lite's schema. */

static void write_codes(struct fb *b, size_t from, const struct tf_model *m) {
    enum { LAST_OF_A_BYTE = 127 };
    const size_t first = fb_references(b, from, m->operator_count);
    for (uint32_t i = 0; i < m->operator_count; i++) {
        const struct tf_operator *op = &m->operators[i];
        const uint32_t code = (uint32_t)op->builtin;
        struct fb_field fields[] = {
            {.id = 0, .bytes = 1, .value = code < LAST_OF_A_BYTE ? code : LAST_OF_A_BYTE},
            {.id = 2, .bytes = 4, .value = (uint32_t)op->version},
            {.id = 3, .bytes = 4, .value = code},
        };
        fb_table(b, first + 4 * (size_t)i, fields, 3);
    }
}

static void write_quantisation(struct fb *b, size_t from, const struct tf_tensor *t) {
    struct fb_field fields[] = {{.id = 2}, {.id = 3}, {.id = 6, .bytes = 4, .value = t->channel_dim}};
    const uint32_t count = t->channels ? t->channels : 1;
    int64_t *zero_points = calloc(count, sizeof *zero_points);
    if (!zero_points) {
        b->failed = true;
        return;
    }
    if (!t->channels) *zero_points = t->zero_point;
    fb_table(b, from, fields, 3);
    fb_vector(b, fields[0].at, t->channels ? t->scales : &t->scale, 4, count, 4);
    fb_vector(b, fields[1].at, zero_points, 8, count, 8);
    free(zero_points);
}

static void write_tensors(struct fb *b, size_t from, const struct tf_model *m) {
    const size_t first = fb_references(b, from, m->tensor_count);
    uint32_t buffer = 1; /* 0 is the empty one */
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        const struct tf_tensor *t = &m->tensors[i];
        struct fb_field fields[] = {
            {.id = 0},
            {.id = 1, .bytes = 1, .value = (uint32_t)t->type},
            {.id = 2, .bytes = 4, .value = t->value ? buffer++ : 0},
            {.id = 3},
            {.id = 4},
        };
        const bool quantised = t->scale != 0 || t->channels;
        char name[] = {'t',
                       (char)('0' + i / 1000 % 10),
                       (char)('0' + i / 100 % 10),
                       (char)('0' + i / 10 % 10),
                       (char)('0' + i % 10),
                       0};
        fb_table(b, first + 4 * (size_t)i, fields, quantised ? 5 : 4);
        fb_vector(b, fields[0].at, t->dims, 4, t->rank, 4);
        fb_string(b, fields[3].at, name);
        if (quantised) write_quantisation(b, fields[4].at, t);
    }
}

static void write_operators(struct fb *b, size_t from, const struct tf_model *m) {
    const size_t first = fb_references(b, from, m->operator_count);
    for (uint32_t i = 0; i < m->operator_count; i++) {
        const struct tf_operator *op = &m->operators[i];
        const int32_t *in = m->lists + op->first;
        struct fb_field fields[] = {
            {.id = 0, .bytes = 4, .value = i},
            {.id = 1},
            {.id = 2},
            {.id = 3, .bytes = 1, .value = op->options_tag},
            {.id = 4},
        };
        fb_table(b, first + 4 * (size_t)i, fields, op->options_tag ? 5 : 3);
        fb_vector(b, fields[1].at, in, 4, op->in_count, 4);
        fb_vector(b, fields[2].at, in + op->in_count, 4, op->out_count, 4);
        if (!op->options_tag) continue;
        struct fb_field options[TF_MOST_OPTIONS];
        memcpy(options, op->options, sizeof options);
        fb_table(b, fields[4].at, options, op->option_count);
        for (uint32_t k = 0; k < op->option_count; k++)
            if (options[k].bytes == 0) fb_vector(b, options[k].at, op->option_list, 4, op->option_list_count, 4);
    }
}

static void write_buffers(struct fb *b, size_t from, const struct tf_model *m) {
    enum { ALIGN = 16, BEYOND = 16 };
    uint32_t count = 1, buffer = 0;
    for (uint32_t i = 0; i < m->tensor_count; i++) count += m->tensors[i].value != NULL;
    const size_t first = fb_references(b, from, count);
    fb_table(b, first, NULL, 0);
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        if (!m->tensors[i].value) continue;
        struct fb_field data = {.id = 0};
        fb_table(b, first + 4 * (size_t)++buffer, &data, 1);
        fb_vector(b, data.at, m->tensors[i].value, 1, m->tensors[i].bytes, ALIGN);
        /* XNNPACK's delegate reads beyond the paddings of a PAD, and refuses what is negative there */
        fb_zeros(b, BEYOND);
    }
}

uint8_t *tf_write(const struct tf_model *m, const int32_t *in, uint32_t in_count, const int32_t *out,
                  uint32_t out_count, size_t *size) {
    enum { VERSION = 3 };
    struct fb b = {.failed = m->failed};
    struct fb_field model[] = {{.id = 0, .bytes = 4, .value = VERSION}, {.id = 1}, {.id = 2}, {.id = 4}};
    struct fb_field subgraph[] = {{.id = 0}, {.id = 1}, {.id = 2}, {.id = 3}};
    fb_table(&b, fb_start(&b, "TFL3"), model, 4);
    write_codes(&b, model[1].at, m);
    fb_table(&b, fb_references(&b, model[2].at, 1), subgraph, 4);
    write_tensors(&b, subgraph[0].at, m);
    fb_vector(&b, subgraph[1].at, in, 4, in_count, 4);
    fb_vector(&b, subgraph[2].at, out, 4, out_count, 4);
    write_operators(&b, subgraph[3].at, m);
    write_buffers(&b, model[3].at, m);
    *size = b.size;
    if (!b.failed) return b.data;
    free(b.data);
    return NULL;
}
