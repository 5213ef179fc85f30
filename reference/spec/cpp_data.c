/* SPDX-License-Identifier: Apache-2.0 */
/* Values in C++: literals, enumerators, buffers. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/spec/cpp.h"

enum { CHUNK = 256, MOST_DIGITS = 256, MOST_TYPE = 16 };

/* --------------------------------------------------------------- literals */

/* The name without the namespaces that may stand in front of it. */
static struct nnv_cpp_token bare(struct nnv_cpp_token t) {
    static const char *const spaces[] = {"::", "test_helper::", "std::"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        size_t n = strlen(spaces[i]);
        if (t.len <= n || memcmp(t.text, spaces[i], n) != 0) continue;
        t.text += n;
        t.len -= n;
    }
    return t;
}

/* The literal's characters without its sign; false if it is too long to be one. */
static bool digits_of(const struct nnv_cpp_node *node, bool *negative, char text[MOST_DIGITS]) {
    const char *p = node->token.text, *end = p + node->token.len;
    *negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    while (p < end && isspace((unsigned char)*p)) p++;
    if (end - p >= MOST_DIGITS) return false;
    memcpy(text, p, (size_t)(end - p));
    text[end - p] = 0;
    return true;
}

static bool is_one_of(const char *s, const char *const *list) {
    for (; *list; list++)
        if (strcasecmp(s, *list) == 0) return true;
    return false;
}

/* An integer literal: decimal, octal or hexadecimal. */
static bool integer_of(const struct nnv_cpp_node *node, int64_t *v) {
    static const char *const suffixes[] = {"", "u", "l", "ul", "lu", "ll", "ull", "llu", NULL};
    char text[MOST_DIGITS], *end;
    bool negative;
    if (node->kind != NNV_CPP_NUMBER || !digits_of(node, &negative, text)) return false;
    errno = 0;
    long long magnitude = strtoll(text, &end, 0);
    if (end == text || errno || !is_one_of(end, suffixes)) return false;
    *v = negative ? -magnitude : magnitude;
    return true;
}

/* INFINITY and NAN, in both of their forms. */
static bool special_of(const struct nnv_cpp_node *node, double *v) {
    struct nnv_cpp_token t = node->token;
    bool negative = *t.text == '-';
    if (negative) {
        t.text++;
        t.len--;
    }
    t = bare(t);
    if (node->count) return false;
    if (nnv_cpp_is(&t, "INFINITY") || nnv_cpp_is(&t, "numeric_limits<float>::infinity"))
        *v = (double)INFINITY;
    else if (nnv_cpp_is(&t, "NAN") || nnv_cpp_is(&t, "numeric_limits<float>::quiet_NaN"))
        *v = (double)NAN;
    else
        return false;
    if (negative) *v = -*v;
    return true;
}

/* A number: with the suffix f as the nearest float32, as a compiler would read it, else as a double. */
static bool number_of(const struct nnv_cpp_node *node, double *v) {
    static const char *const floats[] = {"f", "f16", NULL}, *const doubles[] = {"", "l", NULL};
    char text[MOST_DIGITS], *end;
    bool negative;
    int64_t i;
    if (node->kind != NNV_CPP_NUMBER) return node->kind != NNV_CPP_LIST && special_of(node, v);
    if (integer_of(node, &i)) {
        *v = (double)i;
        return true;
    }
    if (!digits_of(node, &negative, text)) return false;
    double d = strtod(text, &end);
    if (end == text) return false;
    if (is_one_of(end, floats))
        d = strcasecmp(end, "f") == 0 ? (double)strtof(text, NULL) : d;
    else if (!is_one_of(end, doubles))
        return false;
    *v = negative ? -d : d;
    return true;
}

enum nnv_status nnv_cpp_int(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, const char *what,
                            int64_t lo, int64_t hi, int64_t *v) {
    int64_t value;
    if (!integer_of(node, &value) || value < lo || value > hi)
        return nnv_cpp_wrong(r, node, "%s, an integer from %lld to %lld", what, (long long)lo, (long long)hi);
    *v = value;
    return NNV_OK;
}

enum nnv_status nnv_cpp_float(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, float *v) {
    double d;
    if (!number_of(node, &d) || (!r->malformed && !isfinite((float)d)))
        return nnv_cpp_wrong(r, node, "a number of float32's range");
    *v = (float)d;
    return NNV_OK;
}

enum nnv_status nnv_cpp_tolerance(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, double *v) {
    double d;
    if (!number_of(node, &d) || !(d >= 0) || isinf(d)) return nnv_cpp_wrong(r, node, "a number of at least 0");
    *v = d;
    return NNV_OK;
}

enum nnv_status nnv_cpp_bool(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, bool *v) {
    bool yes = node->kind == NNV_CPP_NAME && nnv_cpp_is(&node->token, "true");
    if (!yes && !(node->kind == NNV_CPP_NAME && nnv_cpp_is(&node->token, "false")))
        return nnv_cpp_wrong(r, node, "true or false");
    *v = yes;
    return NNV_OK;
}

/* ------------------------------------------------------------------ names */

enum nnv_status nnv_cpp_enum(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, const char *type,
                             const char *example, char name[64]) {
    struct nnv_cpp_token t = bare(node->token);
    size_t n = strlen(type);
    if (node->kind != NNV_CPP_NAME || t.len < n + 3 || t.len - n - 2 >= 64 || memcmp(t.text, type, n) != 0 ||
        memcmp(t.text + n, "::", 2) != 0)
        return nnv_cpp_wrong(r, node, "an enumerator such as %s", example);
    memcpy(name, t.text + n + 2, t.len - n - 2);
    name[t.len - n - 2] = 0;
    return NNV_OK;
}

enum nnv_status nnv_cpp_indices(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, const char *what,
                                int64_t most, uint32_t **list, uint32_t *count) {
    size_t n = node ? node->count : 0, i = 0;
    if (node && !nnv_cpp_is_array(node)) return nnv_cpp_wrong(r, node, "a list of integers, {0, 1}");
    uint32_t *v = n <= UINT32_MAX ? NNV_NEW(r->arena, uint32_t, n) : NULL;
    if (!v) return nnv_cpp_no_memory(r);
    for (const struct nnv_cpp_node *item = n ? node->first : NULL; item; item = item->next) {
        int64_t value = 0;
        if (most < 0) return nnv_cpp_wrong(r, item, "no index, as there is nothing to refer to");
        TRY(nnv_cpp_int(r, item, what, 0, most, &value));
        v[i++] = (uint32_t)value;
    }
    *list = v;
    *count = (uint32_t)n;
    return NNV_OK;
}

/* ---------------------------------------------------------------- buffers */

/* What elements of a type are in C++: "float", "int8_t". */
static void element_name(const struct nnv_type *t, char name[MOST_TYPE]) {
    if (t->kind == NNV_KIND_FLOAT)
        snprintf(name, MOST_TYPE, "%s", t->size == 2 ? "_Float16" : "float");
    else if (t->kind == NNV_KIND_BOOL)
        snprintf(name, MOST_TYPE, "bool8");
    else if (t->kind == NNV_KIND_MODEL)
        snprintf(name, MOST_TYPE, "uint32_t");
    else
        snprintf(name, MOST_TYPE, "%sint%d_t", t->min < 0 ? "" : "u", t->size * 8);
}

/* True for "TestBuffer::createFromVector<" element ">"; element NULL: of any. */
static bool is_buffer(struct nnv_cpp_token name, const char *element) {
    static const char maker[] = "TestBuffer::createFromVector<";
    size_t n = sizeof maker - 1;
    name = bare(name);
    if (name.len < n + 2 || memcmp(name.text, maker, n) != 0) return false;
    struct nnv_cpp_token got = bare((struct nnv_cpp_token){NNV_CPP_WORD, name.text + n, name.len - n - 1});
    return !element || nnv_cpp_is(&got, element);
}

enum nnv_status nnv_cpp_buffer(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, int32_t type,
                               const struct nnv_cpp_node **list, size_t *count) {
    char element[MOST_TYPE];
    const struct nnv_type *t = nnv_type(type);
    *list = NULL;
    *count = 0;
    if (!node || (node->kind == NNV_CPP_LIST && node->count == 0)) return NNV_OK;
    element_name(t, element);
    bool call = node->kind == NNV_CPP_CALL && is_buffer(node->token, NULL);
    bool empty = call && node->count == 1 && node->first->count == 0;
    if (!call || !(empty || is_buffer(node->token, element)))
        return nnv_cpp_wrong(r, node, "TestBuffer::createFromVector<%s>({...}) for %s", element, t->name);
    if (node->count != 1 || !nnv_cpp_is_array(node->first))
        return nnv_cpp_wrong(r, node->count ? node->first : node, "one list of elements, ({...})");
    *list = node->first;
    *count = node->first->count;
    return NNV_OK;
}

/* One element as a stored number. */
static enum nnv_status read_element(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                    const struct nnv_type *t, double *v) {
    int64_t i;
    bool yes = false;
    if (t->kind == NNV_KIND_FLOAT) {
        if (!number_of(node, v)) return nnv_cpp_wrong(r, node, "a number for %s", t->name);
        if (node->kind == NNV_CPP_NUMBER && !isfinite(nnv_round_to(t->code, *v)))
            return nnv_cpp_wrong(r, node, "a number within %s's range, +-%g", t->name, t->max);
        return NNV_OK;
    }
    if (t->kind == NNV_KIND_BOOL && node->kind == NNV_CPP_NAME) {
        TRY(nnv_cpp_bool(r, node, &yes));
        *v = yes;
        return NNV_OK;
    }
    if (!integer_of(node, &i) || (double)i < t->min || (double)i > t->max)
        return nnv_cpp_wrong(r, node, "an integer from %.0f to %.0f for %s", t->min, t->max, t->name);
    *v = (double)i;
    return NNV_OK;
}

enum nnv_status nnv_cpp_elements(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *list, int32_t type,
                                 void **data, size_t *bytes) {
    const struct nnv_type *t = nnv_type(type);
    const struct nnv_cpp_node *item = list ? list->first : NULL;
    size_t n = list ? list->count : 0;
    double chunk[CHUNK];
    unsigned char *to = nnv_arena_alloc(r->arena, n, t->size);
    if (!to) return nnv_cpp_no_memory(r);
    for (size_t start = 0, k; start < n; start += k) {
        for (k = 0; k < CHUNK && item; k++, item = item->next) TRY(read_element(r, item, t, &chunk[k]));
        nnv_store(type, chunk, k, to + start * t->size);
    }
    *data = to;
    *bytes = n * t->size;
    return NNV_OK;
}
