/* SPDX-License-Identifier: Apache-2.0 */
/* Values of attributes, and conditions on calls, from JSON. */
#include <stdio.h>
#include <string.h>

#include "compiler/byoc/pattern.h"

enum { MOST_DEPTH = 64, MOST_MEMBERS = 16 };

static enum nnv_status bad(struct nnv_err *err, const char *at, const char *message) {
    return nnv_fail(err, NNV_INVALID, "%s: %s", at, message);
}

enum nnv_status nnv_pattern_members(const json_t *object, const char *at, const char *known, struct nnv_err *err) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        const char *found = *key ? strstr(known, key) : NULL;
        const size_t n = strlen(key);
        while (found && ((found != known && found[-1] != ' ') || (found[n] && found[n] != ' ')))
            found = strstr(found + 1, key);
        if (!found || strchr(key, ' '))
            return nnv_fail(err, NNV_INVALID, "%s: unknown member '%.60s'; known: %s", at, key, known);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------ values */

static bool value_at(const json_t *json, struct nnv_arena *arena, struct nnv_relay_value *v, int depth) {
    *v = (struct nnv_relay_value){0};
    switch (json_typeof(json)) {
    case JSON_NULL:
        v->kind = NNV_RELAY_NONE;
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        v->kind = NNV_RELAY_TRUTH;
        v->i = json_is_true(json);
        return true;
    case JSON_INTEGER:
        v->kind = NNV_RELAY_INT;
        v->i = json_integer_value(json);
        return true;
    case JSON_REAL:
        v->kind = NNV_RELAY_FLOAT;
        v->f = json_real_value(json);
        return true;
    case JSON_STRING:
        v->kind = NNV_RELAY_STRING;
        v->text = nnv_arena_strdup(arena, json_string_value(json));
        return v->text != NULL;
    case JSON_ARRAY: {
        v->kind = NNV_RELAY_LIST;
        v->n = json_array_size(json);
        struct nnv_relay_value *list = NNV_NEW(arena, struct nnv_relay_value, v->n);
        if (!list || depth == MOST_DEPTH) return false;
        for (size_t i = 0; i < v->n; i++)
            if (!value_at(json_array_get(json, i), arena, &list[i], depth + 1)) return false;
        v->list = list;
        return true;
    }
    case JSON_OBJECT:
        break;
    }
    return false;
}

bool nnv_pattern_value(const json_t *json, struct nnv_arena *arena, struct nnv_relay_value *v) {
    return value_at(json, arena, v, 0);
}

/* -------------------------------------------------------------------- conditions */

static const char *const keys[] = {
    [NNV_CONDITION_ATTR] = "in",
    [NNV_CONDITION_DTYPE] = "dtype",
    [NNV_CONDITION_RANK] = "rank",
    [NNV_CONDITION_SHAPE] = "shape",
};

static enum nnv_status read_values(const json_t *list, const char *at, const char *key, struct nnv_arena *arena,
                                   struct nnv_condition *c, struct nnv_err *err) {
    if (!json_is_array(list))
        return nnv_fail(err, NNV_INVALID, "%s: \"%s\" is a list of the values that are allowed", at, key);
    c->n_in = json_array_size(list);
    struct nnv_relay_value *values = NNV_NEW(arena, struct nnv_relay_value, c->n_in);
    if (!values) return nnv_no_memory(err);
    c->in = values;
    for (size_t i = 0; i < c->n_in; i++)
        if (!nnv_pattern_value(json_array_get(list, i), arena, &values[i]))
            return nnv_fail(err, NNV_INVALID,
                            "%s: \"%s\": an attribute is a number, a string, a truth value, null or a list of these",
                            at, key);
    return NNV_OK;
}

/* What a value of a predicate on types must be. */
static enum nnv_status check_values(const struct nnv_condition *c, const char *at, struct nnv_err *err) {
    for (size_t i = 0; i < c->n_in; i++) {
        const struct nnv_relay_value *v = &c->in[i];
        enum nnv_relay_dtype dtype;
        if (c->kind == NNV_CONDITION_DTYPE &&
            (v->kind != NNV_RELAY_STRING || !nnv_relay_dtype_by_name(v->text, strlen(v->text), &dtype)))
            return bad(err, at, "\"dtype\" is a list of element types, such as \"float32\"");
        if (c->kind == NNV_CONDITION_RANK && v->kind != NNV_RELAY_INT)
            return bad(err, at, "\"rank\" is a list of numbers of dimensions");
        if (c->kind == NNV_CONDITION_SHAPE && v->kind != NNV_RELAY_INT && v->kind != NNV_RELAY_NONE)
            return bad(err, at, "\"shape\" is a list of extents, null for any");
    }
    return NNV_OK;
}

static enum nnv_status read_attr(const json_t *object, const char *at, struct nnv_arena *arena, struct nnv_condition *c,
                                 struct nnv_err *err) {
    const json_t *attr = json_object_get(object, "attr"), *fallback = json_object_get(object, "default");
    struct nnv_relay_value *value = NNV_NEW(arena, struct nnv_relay_value, 1);
    if (!json_is_string(attr)) return bad(err, at, "a condition needs \"attr\", the name of an attribute");
    if (!json_is_array(json_object_get(object, "in")))
        return bad(err, at, "a condition needs \"in\", a list of the values that are allowed");
    c->attr = nnv_arena_strdup(arena, json_string_value(attr));
    if (!c->attr || !value) return nnv_no_memory(err);
    if (fallback && !nnv_pattern_value(fallback, arena, value))
        return bad(err, at, "\"default\": an attribute is a number, a string, a truth value, null or a list of these");
    if (fallback) c->fallback = value;
    return NNV_OK;
}

enum nnv_status nnv_conditions_read(const json_t *object, const char *at, struct nnv_arena *arena,
                                    struct nnv_call_conditions *out, struct nnv_err *err) {
    const json_t *all = json_object_get(object, "all"), *of = json_object_get(object, "operand");
    struct nnv_call_conditions made = {NNV_NEW(arena, struct nnv_condition, 4 + json_array_size(all) * 4), 0};
    if (!made.list) return nnv_no_memory(err);
    if (of && (!json_is_integer(of) || json_integer_value(of) < 0))
        return bad(err, at, "\"operand\" is the number of an operand, from 0; without it the result is meant");
    for (int kind = 0; kind < NNV_CONDITIONS; kind++) {
        const json_t *list = json_object_get(object, keys[kind]);
        const bool is_attr = kind == NNV_CONDITION_ATTR;
        if (!list && !(is_attr && json_object_get(object, "attr"))) continue;
        struct nnv_condition *c = &made.list[made.n++];
        *c = (struct nnv_condition){.kind = (enum nnv_condition_kind)kind, .operand = of ? json_integer_value(of) : -1};
        enum nnv_status s = is_attr ? read_attr(object, at, arena, c, err) : NNV_OK;
        if (s == NNV_OK) s = read_values(list, at, keys[kind], arena, c, err);
        if (s == NNV_OK) s = check_values(c, at, err);
        if (s != NNV_OK) return s;
    }
    if (all && !json_is_array(all)) return bad(err, at, "\"all\" is a list of conditions, each of which must hold");
    for (size_t i = 0; i < json_array_size(all); i++) {
        char place[256];
        struct nnv_call_conditions more;
        const json_t *one = json_array_get(all, i);
        const int cut = snprintf(place, sizeof place, "%.200s.all[%zu]", at, i);
        if (cut < 0) return nnv_fail(err, NNV_INTERNAL, "snprintf failed");
        if (!json_is_object(one)) return bad(err, place, "a condition is an object");
        enum nnv_status s = nnv_pattern_members(one, place, NNV_CONDITION_MEMBERS, err);
        if (s == NNV_OK) s = nnv_conditions_read(one, place, arena, &more, err);
        if (s == NNV_OK && (!more.n || more.n > 4))
            return bad(err, place, "a condition says attr and in, dtype, rank or shape");
        if (s != NNV_OK) return s;
        for (size_t k = 0; k < more.n; k++) made.list[made.n++] = more.list[k];
    }
    *out = made;
    return NNV_OK;
}

/* ----------------------------------------------------------------------- holding */

static bool attr_holds(const struct nnv_condition *c, const struct nnv_relay_expr *call) {
    const struct nnv_relay_value *v = nnv_relay_written(call, c->attr);
    if (!v) v = c->fallback ? c->fallback : nnv_relay_attr(call, c->attr);
    for (size_t i = 0; v && i < c->n_in; i++)
        if (nnv_relay_value_equal(v, &c->in[i])) return true;
    return false;
}

bool nnv_condition_holds(const struct nnv_condition *c, const struct nnv_relay_expr *call) {
    if (c->kind == NNV_CONDITION_ATTR) return attr_holds(c, call);
    const bool result = c->operand < 0;
    if (!result && (uint64_t)c->operand >= call->n_args) return false;
    const struct nnv_relay_expr *e = result ? call : call->args[c->operand];
    const struct nnv_relay_type *t = e->type ? e->type : e->kind == NNV_RELAY_CONSTANT ? e->tensor->type : e->declared;
    if (!t || t->kind != NNV_RELAY_TENSOR) return false;
    bool fits = c->kind == NNV_CONDITION_SHAPE && c->n_in == t->n_dims;
    for (size_t i = 0; i < c->n_in; i++) {
        const struct nnv_relay_value *v = &c->in[i];
        if (c->kind == NNV_CONDITION_DTYPE) fits = fits || !strcmp(v->text, nnv_relay_dtype_name(t->dtype));
        if (c->kind == NNV_CONDITION_RANK) fits = fits || v->i == (int64_t)t->n_dims;
        if (c->kind == NNV_CONDITION_SHAPE && fits) fits = v->kind == NNV_RELAY_NONE || v->i == t->dims[i];
    }
    return fits;
}

bool nnv_conditions_hold(const struct nnv_call_conditions *c, const struct nnv_relay_expr *call) {
    for (size_t i = 0; i < c->n; i++)
        if (!nnv_condition_holds(&c->list[i], call)) return false;
    return true;
}
