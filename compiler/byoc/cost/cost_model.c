/* SPDX-License-Identifier: Apache-2.0 */
/* Cost models as JSON: the defaults, a file over them, recorded times. */
#include "compiler/byoc/cost/cost_model.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Orders of magnitude: a core of a phone, and its accelerator. */
static const char default_json[] =
    "{\n"
    " \"host\": {\"gflops\": {\"default\": 20, \"int8\": 40, \"uint8\": 40}, \"gbytes\": 10, \"op_us\": 2},\n"
    " \"target\": {\"gflops\": {\"default\": 100, \"float16\": 200, \"int8\": 1000, \"uint8\": 1000},\n"
    "            \"gbytes\": 15, \"op_us\": 5, \"launch_us\": 200},\n"
    " \"crossing\": {\"us\": 20, \"gbytes\": 4},\n"
    " \"flops_per_element\": {\"exp\": 10, \"tanh\": 10, \"sigmoid\": 10, \"log\": 10, \"erf\": 10, \"sin\": 10,\n"
    "   \"cos\": 10, \"power\": 20, \"sqrt\": 4, \"rsqrt\": 4, \"divide\": 4, \"nn.softmax\": 15,\n"
    "   \"nn.log_softmax\": 25, \"nn.batch_norm\": 2, \"nn.lrn\": 30, \"image.resize2d\": 8, \"transpose\": 0,\n"
    "   \"concatenate\": 0, \"split\": 0, \"nn.pad\": 0, \"strided_slice\": 0, \"take\": 0, \"tile\": 0,\n"
    "   \"repeat\": 0, \"stack\": 0, \"reverse\": 0, \"zeros_like\": 0, \"ones_like\": 0},\n"
    " \"views\": [\"reshape\", \"squeeze\", \"expand_dims\", \"nn.batch_flatten\", \"copy\", \"nn.dropout\"]\n"
    "}\n";

struct rate {
    const char *op;
    double flops;
};

struct record {
    const char *key;
    struct nnv_cost_record record;
};

struct nnv_cost_table {
    struct rate *rates;
    const char **views;
    struct record *records, *regions; /**< in the order of their keys */
    size_t n_rates, n_views, n_records, n_regions;
};

bool nnv_cost_per_element(const struct nnv_cost_model *m, const char *op, double *flops) {
    for (size_t i = 0; i < m->table->n_rates; i++)
        if (!strcmp(m->table->rates[i].op, op)) {
            *flops = m->table->rates[i].flops;
            return true;
        }
    return false;
}

bool nnv_cost_is_view(const struct nnv_cost_model *m, const char *op) {
    for (size_t i = 0; i < m->table->n_views; i++)
        if (!strcmp(m->table->views[i], op)) return true;
    return false;
}

/* By key, then by target, any target last. */
static int by_key(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order || !x->record.target || !y->record.target) return order ? order : !x->record.target - !y->record.target;
    return strcmp(x->record.target, y->record.target);
}

static const struct nnv_cost_record *find(const struct record *records, size_t n, const char *key, const char *target) {
    const struct record wanted = {.key = key, .record.target = target};
    const struct record *found = n ? bsearch(&wanted, records, n, sizeof wanted, by_key) : NULL;
    return found ? &found->record : NULL;
}

const struct nnv_cost_record *nnv_cost_recorded(const struct nnv_cost_model *m, const char *key, const char *target) {
    const struct nnv_cost_record *r = target ? find(m->table->records, m->table->n_records, key, target) : NULL;
    return r ? r : find(m->table->records, m->table->n_records, key, NULL);
}

const struct nnv_cost_record *nnv_cost_recorded_region(const struct nnv_cost_model *m, const char *key) {
    return find(m->table->regions, m->table->n_regions, key, NULL);
}

const struct nnv_cost_device *nnv_cost_device(const struct nnv_cost_model *m, const char *target) {
    for (size_t i = 0; target && i < m->n_targets; i++)
        if (!strcmp(m->targets[i].name, target)) return &m->targets[i].device;
    return &m->target;
}

bool nnv_cost_has_records(const struct nnv_cost_model *m) { return m->table->n_records > 0; }

bool nnv_cost_has_regions(const struct nnv_cost_model *m) { return m->table->n_regions > 0; }

/* ---------------------------------------------------------------------- reading */

/** What is read: the document, its name, and where to. */
struct reader {
    const char *where;
    struct nnv_arena *arena;
    struct nnv_err *err;
};

static enum nnv_status no_memory(const struct reader *r) { return nnv_no_memory(r->err); }

enum { NO_ZERO = 1 };
#define MOST 1e12

static enum nnv_status read_number(const struct reader *r, const json_t *v, const char *of, const char *name, int flags,
                                   double *out) {
    double d = json_number_value(v);
    if (!json_is_number(v) || !(d >= 0) || d > MOST || ((flags & NO_ZERO) && d == 0))
        return nnv_fail(r->err, NNV_INVALID, "%s: %s%s%.60s: expected a number %s 0, at most 1e12", r->where, of,
                        *of ? "." : "", name, flags & NO_ZERO ? "above" : "from");
    *out = d;
    return NNV_OK;
}

/* A member that is absent keeps the number. */
static enum nnv_status read_member(const struct reader *r, const json_t *object, const char *of, const char *name,
                                   int flags, double *out) {
    const json_t *v = json_object_get(object, name);
    return v ? read_number(r, v, of, name, flags, out) : NNV_OK;
}

/* An object that has these members alone. known: with spaces around each name. */
static enum nnv_status expect(const struct reader *r, const json_t *object, const char *of, const char *known) {
    if (!json_is_object(object))
        return nnv_fail(r->err, NNV_INVALID, "%s: %s: expected an object of%s", r->where, of, known);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        char *padded = nnv_arena_printf(r->arena, " %s ", key);
        if (!padded) return no_memory(r);
        if (!strstr(known, padded) || strchr(key, ' '))
            return nnv_fail(r->err, NNV_INVALID, "%s: %s: unknown member '%.60s'; known:%s", r->where, of, key, known);
    }
    return NNV_OK;
}

static enum nnv_status read_rates(const struct reader *r, const json_t *v, const char *of, double *gflops) {
    const json_t *all = json_is_object(v) ? json_object_get(v, "default") : v;
    enum nnv_status s = NNV_OK;
    double rate = 0;
    if (all && (s = read_number(r, all, of, "gflops", NO_ZERO, &rate)) != NNV_OK) return s;
    for (int t = 0; all && t < NNV_RELAY_DTYPES; t++) gflops[t] = rate;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)v, key, value) {
        enum nnv_relay_dtype dtype;
        if (!strcmp(key, "default")) continue;
        if (!nnv_relay_dtype_by_name(key, strlen(key), &dtype))
            return nnv_fail(r->err, NNV_INVALID, "%s: %s.gflops: '%.60s' is no element type", r->where, of, key);
        if ((s = read_number(r, value, of, key, NO_ZERO, &gflops[dtype])) != NNV_OK) return s;
    }
    return NNV_OK;
}

static enum nnv_status read_device(const struct reader *r, const json_t *v, const char *name,
                                   struct nnv_cost_device *d) {
    const json_t *rates = json_object_get(v, "gflops");
    if (!v) return NNV_OK;
    enum nnv_status s = expect(r, v, name, " gflops gbytes op_us launch_us ");
    if (s == NNV_OK && rates) s = read_rates(r, rates, name, d->gflops);
    if (s == NNV_OK) s = read_member(r, v, name, "gbytes", NO_ZERO, &d->gbytes);
    if (s == NNV_OK) s = read_member(r, v, name, "op_us", 0, &d->op_us);
    if (s == NNV_OK) s = read_member(r, v, name, "launch_us", 0, &d->launch_us);
    return s;
}

/* Targets that differ from `target`, each by what it says of itself. */
static enum nnv_status read_targets(const struct reader *r, const json_t *document, struct nnv_cost_model *m) {
    const json_t *v = json_object_get(document, "targets");
    if (!v) return NNV_OK;
    if (!json_is_object(v)) return nnv_fail(r->err, NNV_INVALID, "%s: targets: expected {target: device}", r->where);
    if (!(m->targets = NNV_NEW(r->arena, struct nnv_cost_target, json_object_size(v)))) return no_memory(r);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)v, key, value) {
        struct nnv_cost_target *t = &m->targets[m->n_targets++];
        *t = (struct nnv_cost_target){nnv_arena_strdup(r->arena, key), m->target};
        if (!t->name) return no_memory(r);
        enum nnv_status s = read_device(r, value, t->name, &t->device);
        if (s != NNV_OK) return s;
    }
    return NNV_OK;
}

static enum nnv_status read_crossing(const struct reader *r, const json_t *document, struct nnv_cost_model *m) {
    const json_t *v = json_object_get(document, "crossing");
    if (!v) return NNV_OK;
    enum nnv_status s = expect(r, v, "crossing", " us gbytes ");
    if (s == NNV_OK) s = read_member(r, v, "crossing", "us", 0, &m->crossing_us);
    if (s == NNV_OK) s = read_member(r, v, "crossing", "gbytes", NO_ZERO, &m->crossing_gbytes);
    return s;
}

/* Work by element: an operator of the file stands before the same one of the defaults. */
static enum nnv_status read_work(const struct reader *r, const json_t *document, struct nnv_cost_table *t) {
    const json_t *v = json_object_get(document, "flops_per_element");
    if (!v) return NNV_OK;
    if (!json_is_object(v))
        return nnv_fail(r->err, NNV_INVALID, "%s: flops_per_element: expected {operator: number}", r->where);
    struct rate *rates = NNV_NEW(r->arena, struct rate, json_object_size(v) + t->n_rates);
    if (!rates) return no_memory(r);
    size_t n = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)v, key, value) {
        if (!(rates[n].op = nnv_arena_strdup(r->arena, key))) return no_memory(r);
        enum nnv_status s = read_number(r, value, "flops_per_element", key, 0, &rates[n++].flops);
        if (s != NNV_OK) return s;
    }
    for (size_t i = 0; i < t->n_rates; i++) rates[n++] = t->rates[i];
    t->rates = rates;
    t->n_rates = n;
    return NNV_OK;
}

static enum nnv_status read_views(const struct reader *r, const json_t *document, struct nnv_cost_table *t) {
    const json_t *v = json_object_get(document, "views");
    if (!v) return NNV_OK;
    t->n_views = json_array_size(v);
    if (!(t->views = NNV_NEW(r->arena, const char *, t->n_views + 1))) return no_memory(r);
    for (size_t i = 0; i < t->n_views; i++) {
        const char *op = json_string_value(json_array_get(v, i));
        if (!op) return nnv_fail(r->err, NNV_INVALID, "%s: views[%zu]: expected an operator's name", r->where, i);
        if (!(t->views[i] = nnv_arena_strdup(r->arena, op))) return no_memory(r);
    }
    return json_is_array(v) ? NNV_OK : nnv_fail(r->err, NNV_INVALID, "%s: views: expected a list", r->where);
}

/* A time on a target: null says that it can not do it. */
static enum nnv_status read_time(const struct reader *r, const json_t *object, const char *of, const char *name,
                                 double *us) {
    *us = json_is_null(json_object_get(object, name)) ? -1 : (double)NAN;
    return *us < 0 ? NNV_OK : read_member(r, object, of, name, 0, us);
}

/* {"host": us, "target": us or null}; of other targets their own in "targets". */
static enum nnv_status read_record(const struct reader *r, const json_t *value, const char *of, const char *key,
                                   struct record *to, size_t *n) {
    const json_t *targets = json_object_get(value, "targets");
    struct record base = {.record = {.host_us = (double)NAN}};
    if (!json_is_object(value))
        return nnv_fail(r->err, NNV_INVALID, "%s: %s: expected {\"host\": us, \"target\": us or null} for '%.80s'",
                        r->where, of, key);
    if (!(base.key = nnv_arena_strdup(r->arena, key))) return no_memory(r);
    enum nnv_status s = read_member(r, value, of, "host", 0, &base.record.host_us);
    if (s == NNV_OK) s = read_member(r, value, of, "host_noise", 0, &base.record.host_noise_us);
    if (s == NNV_OK) s = read_member(r, value, of, "target_noise", 0, &base.record.target_noise_us);
    if (s == NNV_OK) s = read_time(r, value, of, "target", &base.record.target_us);
    if (s == NNV_OK) to[(*n)++] = base;
    const char *name;
    json_t *us;
    json_object_foreach((json_t *)targets, name, us) {
        struct record *own = &to[*n];
        *own = base;
        if (s == NNV_OK) s = read_time(r, targets, of, name, &own->record.target_us);
        if (s == NNV_OK && !(own->record.target = nnv_arena_strdup(r->arena, name))) s = no_memory(r);
        ++*n;
    }
    return s;
}

static enum nnv_status read_records(const struct reader *r, const json_t *document, const char *of,
                                    struct record **records, size_t *n) {
    const json_t *v = json_object_get(document, of);
    const char *key;
    json_t *value;
    size_t room = 0;
    if (!v) return NNV_OK;
    if (!json_is_object(v))
        return nnv_fail(r->err, NNV_INVALID, "%s: %s: expected {key: {\"host\": us, \"target\": us or null}}", r->where,
                        of);
    json_object_foreach((json_t *)v, key, value) room += 1 + json_object_size(json_object_get(value, "targets"));
    if (!(*records = NNV_NEW(r->arena, struct record, room))) return no_memory(r);
    json_object_foreach((json_t *)v, key, value) {
        enum nnv_status s = read_record(r, value, of, key, *records, n);
        if (s != NNV_OK) return s;
    }
    if (*n) qsort(*records, *n, sizeof **records, by_key);
    return NNV_OK;
}

static enum nnv_status read_document(const struct reader *r, const json_t *document, struct nnv_cost_model *m) {
    enum nnv_status s = expect(r, document, "the cost model",
                               " host target targets crossing flops_per_element views ops regions source basics ");
    if (s == NNV_OK) s = read_device(r, json_object_get(document, "host"), "host", &m->host);
    if (s == NNV_OK) s = read_device(r, json_object_get(document, "target"), "target", &m->target);
    if (s == NNV_OK) s = read_targets(r, document, m);
    if (s == NNV_OK) s = read_crossing(r, document, m);
    if (s == NNV_OK) s = read_work(r, document, m->table);
    if (s == NNV_OK) s = read_views(r, document, m->table);
    if (s == NNV_OK) s = read_records(r, document, "ops", &m->table->records, &m->table->n_records);
    if (s == NNV_OK) s = read_records(r, document, "regions", &m->table->regions, &m->table->n_regions);
    const json_t *basics = json_object_get(document, "basics");
    if (s == NNV_OK) s = read_member(r, basics, "basics", "launch_noise_us", 0, &m->launch_noise_us);
    return s;
}

static enum nnv_status read_text(const struct reader *r, const char *text, size_t len, struct nnv_cost_model *m) {
    json_error_t e;
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!document) return nnv_fail(r->err, NNV_INVALID, "%s:%d:%d: %s", r->where, e.line, e.column, e.text);
    enum nnv_status s = read_document(r, document, m);
    json_decref(document);
    return s;
}

enum nnv_status nnv_cost_read(const char *text, size_t len, const char *where, struct nnv_arena *arena,
                              struct nnv_cost_model *out, struct nnv_err *err) {
    struct reader r = {"the defaults", arena, err};
    struct nnv_cost_model m = {.table = NNV_NEW(arena, struct nnv_cost_table, 1)};
    if (!m.table) return no_memory(&r);
    enum nnv_status s = read_text(&r, default_json, strlen(default_json), &m);
    r.where = where;
    if (s == NNV_OK && text) s = read_text(&r, text, len, &m);
    if (s == NNV_OK) *out = m;
    return s;
}

enum nnv_status nnv_cost_load(const char *name, struct nnv_arena *arena, struct nnv_cost_model *out,
                              struct nnv_err *err) {
    const size_t longest = (size_t)1 << 26;
    char *text = NULL;
    size_t len = 0;
    enum nnv_status s = strcmp(name, "default") != 0 ? nnv_file_read(name, longest, &text, &len, err) : NNV_OK;
    if (s == NNV_OK) s = nnv_cost_read(text, len, name, arena, out, err);
    free(text);
    return s;
}
