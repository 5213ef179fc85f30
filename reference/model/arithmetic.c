/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/arithmetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A key: either two words, false and true, or a number with a least and a most. */
static const struct key {
    const char *name;
    size_t at;            /**< of its member */
    const char *word[2];  /**< a bool */
    double base;          /**< a number: what the member is beyond */
    double most;          /**< a number, in the text */
    double weak;          /**< what engines that miss "strict" most often have; 0: a stronger promise than strict */
    const char *in_words; /**< of weak */
} keys[] = {
    {.name = "sums",
     .at = offsetof(struct nnv_arithmetic, half_sums),
     .word = {"float32", "float16"},
     .weak = 1,
     .in_words = "sums are float16"},
    {.name = "steps", .at = offsetof(struct nnv_arithmetic, wide_steps), .word = {"float16", "float32"}},
    {.name = "subnormals", .at = offsetof(struct nnv_arithmetic, keep_subnormals), .word = {"flushed", "kept"}},
    {.name = "infinities",
     .at = offsetof(struct nnv_arithmetic, saturate),
     .word = {"kept", "saturated"},
     .weak = 1,
     .in_words = "activations saturate infinities"},
    {.name = "requantise",
     .at = offsetof(struct nnv_arithmetic, requantise),
     .base = 0.5,
     .most = 4,
     .weak = 0.5,
     .in_words = "sums of products are requantised within one unit"},
    {.name = "rescale",
     .at = offsetof(struct nnv_arithmetic, rescale),
     .base = 0.5,
     .most = 4,
     .weak = 1,
     .in_words = "rescaled sums and averages may be off by one"},
    {.name = "logistic",
     .at = offsetof(struct nnv_arithmetic, logistic),
     .most = 1,
     .weak = 1e-7,
     .in_words = "LOGISTIC and TANH are within 1e-7"},
    {.name = "functions",
     .at = offsetof(struct nnv_arithmetic, functions),
     .most = 1 << 20,
     .weak = 256,
     .in_words = "functions are within 256 ulps"},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const struct preset {
    const char *name;
    struct nnv_arithmetic is;
} presets[] = {{"strict", {0}}, {"android", {.half_sums = true, .saturate = true, .rescale = 1, .logistic = 1e-7}}};
enum { PRESETS = sizeof presets / sizeof *presets };

static double get(const struct nnv_arithmetic *a, const struct key *k) {
    const void *at = (const char *)a + k->at;
    return k->word[0] ? *(const bool *)at : *(const double *)at;
}

static void set(struct nnv_arithmetic *a, const struct key *k, double v) {
    void *at = (char *)a + k->at;
    if (k->word[0])
        *(bool *)at = v != 0;
    else
        *(double *)at = v;
}

bool nnv_arithmetic_is_weak(const struct nnv_arithmetic *a) {
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].weak > 0 && get(a, &keys[i]) > 0) return true;
    return false;
}

static bool same(const struct nnv_arithmetic *a, const struct nnv_arithmetic *b) {
    for (size_t i = 0; i < KEYS; i++)
        if (get(a, &keys[i]) != get(b, &keys[i])) return false;
    return true;
}

/* --------------------------------------------------------------------- text */

static enum nnv_status unknown(const char *item, size_t n, struct nnv_err *err) {
    char known[200] = "";
    size_t at = 0;
    for (size_t i = 0; i < KEYS && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, ", %s=", keys[i].name);
    return nnv_fail(err, NNV_INVALID, "'%.*s': expected strict, android%s", (int)n, item, known);
}

static enum nnv_status read_value(const struct key *k, const char *value, size_t n, struct nnv_arithmetic *out,
                                  struct nnv_err *err) {
    char *end;
    if (k->word[0]) {
        for (int w = 0; w < 2; w++)
            if (strlen(k->word[w]) == n && strncmp(value, k->word[w], n) == 0) {
                set(out, k, w);
                return NNV_OK;
            }
        return nnv_fail(err, NNV_INVALID, "%s=%.*s: expected %s or %s", k->name, (int)n, value, k->word[0], k->word[1]);
    }
    const double v = strtod(value, &end);
    if (end != value + n || n == 0 || !(v >= k->base && v <= k->most))
        return nnv_fail(err, NNV_INVALID, "%s=%.*s: expected a number from %g to %g", k->name, (int)n, value, k->base,
                        k->most);
    set(out, k, v - k->base);
    return NNV_OK;
}

static enum nnv_status read_item(const char *item, size_t n, struct nnv_arithmetic *out, struct nnv_err *err) {
    for (size_t i = 0; i < PRESETS; i++)
        if (strlen(presets[i].name) == n && strncmp(item, presets[i].name, n) == 0) {
            *out = presets[i].is;
            return NNV_OK;
        }
    for (size_t i = 0; i < KEYS; i++) {
        const size_t name = strlen(keys[i].name);
        if (name < n && strncmp(item, keys[i].name, name) == 0 && item[name] == '=')
            return read_value(&keys[i], item + name + 1, n - name - 1, out, err);
    }
    return unknown(item, n, err);
}

enum nnv_status nnv_arithmetic_parse(const char *text, struct nnv_arithmetic *out, struct nnv_err *err) {
    struct nnv_arithmetic a = {0};
    for (;; text++) {
        const size_t n = strcspn(text, ",");
        const enum nnv_status st = read_item(text, n, &a, err);
        if (st != NNV_OK) return st;
        text += n;
        if (*text == '\0') break;
    }
    *out = a;
    return NNV_OK;
}

void nnv_arithmetic_text(const struct nnv_arithmetic *a, char text[NNV_ARITHMETIC_TEXT]) {
    size_t at = 0;
    *text = '\0';
    for (size_t i = 0; i < PRESETS; i++)
        if (same(a, &presets[i].is)) snprintf(text, NNV_ARITHMETIC_TEXT, "%s", presets[i].name);
    for (size_t i = 0, n = *text ? 0 : KEYS; i < n && at < NNV_ARITHMETIC_TEXT; i++) {
        const struct key *k = &keys[i];
        const double v = get(a, k);
        if (v == 0) continue;
        at += (size_t)snprintf(text + at, NNV_ARITHMETIC_TEXT - at, "%s%s=", at ? "," : "", k->name);
        if (at >= NNV_ARITHMETIC_TEXT) break;
        at += (size_t)(k->word[0] ? snprintf(text + at, NNV_ARITHMETIC_TEXT - at, "%s", k->word[1])
                                  : snprintf(text + at, NNV_ARITHMETIC_TEXT - at, "%.10g", v + k->base));
    }
}

/* ------------------------------------------------------------------- weaker */

const char *nnv_arithmetic_weaker(const struct nnv_arithmetic *from, size_t i, struct nnv_arithmetic *out) {
    for (size_t k = 0; k < KEYS; k++) {
        if (!(keys[k].weak > get(from, &keys[k])) || i-- > 0) continue;
        *out = *from;
        set(out, &keys[k], keys[k].weak);
        return keys[k].in_words;
    }
    return NULL;
}
