/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/arithmetic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/op.h"

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
_Static_assert((int)KEYS < (int)NNV_ARITHMETIC_KEYS, "room for a weaker promise of each key, and of the schemes");

static const struct preset {
    const char *name;
    struct nnv_arithmetic is;
} presets[] = {{"strict", {0}}, {"android", {.half_sums = true, .saturate = true, .rescale = 1, .logistic = 1e-7}}};
enum { ANDROID = 1, PRESETS = sizeof presets / sizeof *presets };

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

static bool are_weak(struct nnv_schemes s) { return nnv_scheme_is_weak(s.one) || nnv_scheme_is_weak(s.other); }

bool nnv_arithmetic_is_weak(const struct nnv_arithmetic *a) {
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].weak > 0 && get(a, &keys[i]) > 0) return true;
    for (uint32_t i = 0; i < a->uses; i++)
        if (are_weak(a->use[i].is)) return true;
    return are_weak(a->schemes);
}

/** Without regard to schemes of single operations, which no preset has. */
static bool same(const struct nnv_arithmetic *a, const struct nnv_arithmetic *b) {
    for (size_t i = 0; i < KEYS; i++)
        if (get(a, &keys[i]) != get(b, &keys[i])) return false;
    return a->schemes.one == b->schemes.one && a->schemes.other == b->schemes.other;
}

/* ------------------------------------------------------------------ schemes */

/** The index of the operation's own scheme; a->uses if it has none. */
static uint32_t find_use(const struct nnv_arithmetic *a, int32_t op, int32_t type) {
    uint32_t i = 0;
    while (i < a->uses && !(a->use[i].op == op && a->use[i].type == type)) i++;
    return i;
}

struct nnv_schemes nnv_arithmetic_schemes(const struct nnv_arithmetic *a, int32_t op, int32_t type) {
    const uint32_t i = find_use(a, op, type);
    return i < a->uses ? a->use[i].is : a->schemes;
}

bool nnv_arithmetic_use(struct nnv_arithmetic *a, int32_t op, int32_t type, struct nnv_schemes is) {
    const uint32_t i = find_use(a, op, type);
    if (i == NNV_SCHEME_USES) return false;
    a->use[i] = (struct nnv_scheme_use){op, type, is};
    if (i == a->uses) a->uses++;
    return true;
}

/* --------------------------------------------------------------------- text */

static enum nnv_status unknown(const char *item, size_t n, struct nnv_err *err) {
    char known[200] = "";
    size_t at = 0;
    for (size_t i = 0; i < KEYS && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, ", %s=", keys[i].name);
    return nnv_fail(err, NNV_INVALID, "'%.*s': expected strict, android%s, OPERATION/TYPE=", (int)n, item, known);
}

static enum nnv_status unknown_scheme(const char *item, size_t n, const char * or, struct nnv_err *err) {
    char known[200] = "";
    size_t at = 0;
    for (int s = 1; s < NNV_SCHEME_COUNT && at < sizeof known; s++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", s > 1 ? ", " : "",
                               nnv_scheme_word((enum nnv_scheme)s));
    return nnv_fail(err, NNV_INVALID, "%.*s: expected %s%s", (int)n, item, or, known);
}

/** "twice", "float-even+float-zero"; NNV_SCHEME_ANY if there are no such. */
static struct nnv_schemes read_schemes(const char *text, size_t n) {
    const char *plus = memchr(text, '+', n);
    const size_t first = plus ? (size_t)(plus - text) : n;
    struct nnv_schemes s = {nnv_scheme_by_word(text, first), NNV_SCHEME_ANY};
    if (!plus) return s;
    s.other = nnv_scheme_by_word(plus + 1, n - first - 1);
    return s.other == NNV_SCHEME_ANY || s.other == s.one ? (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY} : s;
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
    const bool schemed = k->at == offsetof(struct nnv_arithmetic, requantise);
    if (schemed) out->schemes = read_schemes(value, n);
    if (schemed && out->schemes.one != NNV_SCHEME_ANY) {
        set(out, k, 0);
        return NNV_OK;
    }
    const double v = strtod(value, &end);
    if (schemed && end != value + n) return unknown_scheme(value, n, "a number, ", err);
    if (end != value + n || n == 0 || !(v >= k->base && v <= k->most))
        return nnv_fail(err, NNV_INVALID, "%s=%.*s: expected a number from %g to %g", k->name, (int)n, value, k->base,
                        k->most);
    set(out, k, v - k->base);
    return NNV_OK;
}

/** "CONV_2D/quant8_asymm=twice"; false if it is nothing of the kind. */
static bool read_use(const char *item, size_t n, struct nnv_arithmetic *out, struct nnv_err *err, enum nnv_status *st) {
    char name[64];
    const char *end = item + n, *type = memchr(item, '/', n),
               *word = type ? memchr(type, '=', (size_t)(end - type)) : NULL;
    if (!word) return false;
    snprintf(name, sizeof name, "%.*s", (int)(type - item), item);
    const struct nnv_op *op = nnv_op_by_name(name);
    const struct nnv_type *t = nnv_type_by_tag(type + 1, (size_t)(word - type) - 1);
    const struct nnv_schemes is = read_schemes(word + 1, (size_t)(end - word) - 1);
    if (!op || !t || !nnv_is_quant(t->code))
        *st = nnv_fail(err, NNV_INVALID, "'%.*s': expected an operation and a quantised type, as in %s",
                       (int)(word - item), item, "CONV_2D/quant8_asymm");
    else if (is.one == NNV_SCHEME_ANY)
        *st = unknown_scheme(item, n, "", err);
    else if (!nnv_arithmetic_use(out, op->code, t->code, is))
        *st = nnv_fail(err, NNV_INVALID, "more than %d operations have a scheme of their own", NNV_SCHEME_USES);
    else
        *st = NNV_OK;
    return true;
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
    enum nnv_status st;
    return read_use(item, n, out, err, &st) ? st : unknown(item, n, err);
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

/** Appends an item. */
NNV_PRINTF(2, 3) static void add_item(char text[NNV_ARITHMETIC_TEXT], const char *fmt, ...) {
    va_list ap;
    size_t at = strlen(text);
    if (at > 0 && at + 1 < NNV_ARITHMETIC_TEXT) memcpy(text + at++, ",", 2);
    va_start(ap, fmt);
    vsnprintf(text + at, NNV_ARITHMETIC_TEXT - at, fmt, ap);
    va_end(ap);
}

/** Appends an item that names schemes. */
static void add_schemes(char text[NNV_ARITHMETIC_TEXT], const char *key, struct nnv_schemes s) {
    const bool two = s.other != NNV_SCHEME_ANY;
    add_item(text, "%s=%s%s%s", key, nnv_scheme_word(s.one), two ? "+" : "", two ? nnv_scheme_word(s.other) : "");
}

void nnv_arithmetic_text(const struct nnv_arithmetic *a, char text[NNV_ARITHMETIC_TEXT]) {
    bool preset = false;
    *text = '\0';
    for (size_t i = 0; i < PRESETS; i++) {
        if (!same(a, &presets[i].is) || (a->uses > 0 && i != ANDROID)) continue;
        add_item(text, "%s", presets[i].name);
        preset = true;
    }
    for (size_t i = 0, n = preset ? 0 : KEYS; i < n; i++) {
        const struct key *k = &keys[i];
        const double v = get(a, k);
        if (v != 0 && k->word[0])
            add_item(text, "%s=%s", k->name, k->word[1]);
        else if (v != 0)
            add_item(text, "%s=%.10g", k->name, v + k->base);
    }
    if (a->schemes.one != NNV_SCHEME_ANY) add_schemes(text, "requantise", a->schemes);
    for (uint32_t i = 0; i < a->uses; i++) {
        char key[128];
        snprintf(key, sizeof key, "%s/%s", nnv_op(a->use[i].op)->name, nnv_type(a->use[i].type)->tag);
        add_schemes(text, key, a->use[i].is);
    }
}

/* ------------------------------------------------------------------- weaker */

static bool is_inexact(struct nnv_schemes is) { return nnv_scheme_is_weak(is.one) || nnv_scheme_is_weak(is.other); }

static struct nnv_arithmetic without_schemes(const struct nnv_arithmetic *a) {
    struct nnv_arithmetic any = *a;
    any.schemes = (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY};
    any.uses = 0;
    return any;
}

struct nnv_arithmetic nnv_arithmetic_of_any_scheme(const struct nnv_arithmetic *a) {
    struct nnv_arithmetic any = without_schemes(a);
    bool inexact = is_inexact(a->schemes);
    for (uint32_t i = 0; i < a->uses; i++) inexact = inexact || is_inexact(a->use[i].is);
    if (inexact && any.requantise < 1) any.requantise = 1;
    return any;
}

const char *nnv_arithmetic_weaker(const struct nnv_arithmetic *from, size_t i, struct nnv_arithmetic *out) {
    if ((from->schemes.one != NNV_SCHEME_ANY || from->uses > 0) && i-- == 0) {
        *out = without_schemes(from);
        return "sums of products are requantised by any exact scheme";
    }
    for (size_t k = 0; k < KEYS; k++) {
        if (!(keys[k].weak > get(from, &keys[k])) || i-- > 0) continue;
        *out = *from;
        set(out, &keys[k], keys[k].weak);
        return keys[k].in_words;
    }
    return NULL;
}

bool nnv_arithmetic_add_android(const struct nnv_arithmetic *from, struct nnv_arithmetic *out) {
    const struct nnv_arithmetic *android = &presets[ANDROID].is;
    *out = *from;
    for (size_t k = 0; k < KEYS; k++)
        if (get(android, &keys[k]) > get(from, &keys[k])) set(out, &keys[k], get(android, &keys[k]));
    return !same(from, out);
}
