/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metadata.c Constants as they are written with a program. TVM's loader visits every field of a node that it
 * knows, and refuses a file in which one is missing.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/compiler/checks.h"
#include "tests/kit/relay_equal.h"

static bool says(struct nnv_text *why, const char *what, const char *more) {
    nnv_text_addf(why, "%s%s\n", what, more);
    return false;
}

/* ------------------------------------------------------------------------------ form */

/** The fields of a node: numbers of nodes, and what is a value. */
static const struct {
    const char *type, *nodes, *values;
} visited[] = {
    {"relay.Constant", "_checked_type_ span virtual_device_", "data"},
    {"relax.expr.Constant", "_checked_type_ span struct_info_", "data"},
    {"relax.TensorStructInfo", "shape span vdevice", "dtype ndim"},
    {"relax.expr.ShapeExpr", "_checked_type_ span struct_info_ values", ""},
    {"relax.ShapeStructInfo", "span values", "ndim"},
    {"relax.ShapeType", "span", "ndim"},
    {"relax.DynTensorType", "span", "dtype ndim"},
    {"IntImm", "span", "dtype value"},
};

/* Whether each name of a list is that of a text, which is a number below `most` unless that is 0. */
static bool has_fields(const json_t *attrs, const char *names, size_t most, struct nnv_text *why) {
    for (const char *at = names; *at;) {
        char name[32];
        const size_t n = strcspn(at, " ");
        memcpy(name, at, n);
        name[n] = '\0';
        const char *value = json_string_value(json_object_get(attrs, name));
        if (!value) return says(why, "there is no field ", name);
        if (most && (strspn(value, "0123456789") != strlen(value) || strtoull(value, NULL, 10) >= most))
            return says(why, "no node is meant by ", name);
        at += n + (at[n] == ' ');
    }
    return true;
}

static bool is_node(const json_t *node, size_t n, struct nnv_text *why) {
    const char *type = json_string_value(json_object_get(node, "type_key"));
    const json_t *data = json_object_get(node, "data");
    if (!type) return says(why, "a node has no ", "type_key");
    for (size_t i = 0; i < json_array_size(data); i++)
        if ((size_t)json_integer_value(json_array_get(data, i)) >= n) return says(why, "no node is meant in ", type);
    if (!*type || !strcmp(type, "Map") || !strcmp(type, "Array")) return true;
    for (size_t i = 0; i < sizeof visited / sizeof *visited; i++)
        if (!strcmp(visited[i].type, type)) {
            const json_t *attrs = json_object_get(node, "attrs");
            return has_fields(attrs, visited[i].nodes, n, why) && has_fields(attrs, visited[i].values, 0, why);
        }
    return says(why, "no node of TVM: ", type);
}

/* The node that a field of a node means. */
static const json_t *meant(const json_t *nodes, const json_t *node, const char *field) {
    const char *value = json_string_value(json_object_get(json_object_get(node, "attrs"), field));
    return value ? json_array_get(nodes, strtoul(value, NULL, 10)) : NULL;
}

/* Whether a shape has as many extents as axes. */
static bool is_shape(const json_t *nodes, const json_t *shape, struct nnv_text *why) {
    const json_t *info = json_object_get(meant(nodes, shape, "struct_info_"), "attrs");
    const char *ndim = json_string_value(json_object_get(info, "ndim"));
    const json_t *extents = json_object_get(meant(nodes, shape, "values"), "data");
    return (ndim && json_array_size(extents) == strtoul(ndim, NULL, 10)) ||
           says(why, "extents are missing of a ", "shape");
}

static bool is_metadata(const json_t *doc, struct nnv_text *why) {
    const json_t *nodes = json_object_get(doc, "nodes");
    const size_t n = json_array_size(nodes);
    if ((size_t)json_integer_value(json_object_get(doc, "root")) >= n) return says(why, "there is no node ", "root");
    for (size_t i = 0; i < n; i++) {
        const json_t *node = json_array_get(nodes, i);
        const char *type = json_string_value(json_object_get(node, "type_key"));
        if (!is_node(node, n, why)) return false;
        if (!strcmp(type, "relax.expr.ShapeExpr") && !is_shape(nodes, node, why)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------- programs */

/** Where the JSON stands in a text. */
struct frame {
    const char *begin, *end;
};
static const struct frame relay = {"#[metadata]\n", NULL}, relax = {"tvm.ir.load_json(\"\"\"", "\"\"\")\n"};

static void add_json(const json_t *doc, bool escaped, struct nnv_text *to) {
    char *json = json_dumps(doc, JSON_PRESERVE_ORDER | JSON_INDENT(1));
    for (const char *at = json ? json : ""; *at; at++) {
        if (escaped && *at == '"') nnv_text_add(to, "\\");
        nnv_text_add_n(to, at, 1);
    }
    free(json);
}

/* The text with its metadata as the fault leaves them; false: TVM could not read them. */
static bool check_metadata(const char *text, const struct frame *f, const struct compiler_fault *fault,
                           struct nnv_text *to, struct nnv_text *why) {
    const char *begin = strstr(text, f->begin);
    if (!begin) return says(why, "no metadata: ", text);
    begin += strlen(f->begin);
    const char *end = f->end ? strstr(begin, f->end) : begin + strlen(begin);
    struct nnv_text plain = {0};
    for (const char *at = begin; end && at < end; at++)
        if (*at != '\\') nnv_text_add_n(&plain, at, 1);
    json_t *doc = json_loads(plain.data ? plain.data : "", 0, NULL);
    if (doc && fault && fault->text) fault->text(COMPILER_METADATA, doc);
    const bool whole = doc ? is_metadata(doc, why) : says(why, "no JSON: ", plain.data);
    nnv_text_add_n(to, text, (size_t)(begin - text));
    if (doc) add_json(doc, f->end != NULL, to);
    nnv_text_add(to, end ? end : "");
    json_decref(doc);
    nnv_text_free(&plain);
    return whole;
}

/* %x times one constant, plus another one. */
static struct nnv_relay_module *two_constants(struct nnv_arena *arena, struct nnv_err *err) {
    static const char text[] = "def @main(%x: Tensor[(2), float32]) {\n"
                               "  add(multiply(%x, meta[relay.Constant][0]), meta[relay.Constant][1])\n}\n";
    static const int64_t two[] = {2};
    static const float numbers[][2] = {{3, 4}, {5, -0.5f}};
    const struct nnv_relay_type *type = nnv_relay_tensor_type(arena, NNV_RELAY_FLOAT32, 1, two);
    struct nnv_relay_tensor *tensors = NNV_NEW(arena, struct nnv_relay_tensor, 2);
    struct nnv_relay_module *m;
    struct nnv_relay_list list;
    if (!type || !tensors || nnv_relay_parse(text, strlen(text), "two", arena, &m, err) != NNV_OK ||
        nnv_relay_post_order(nnv_relay_find(m, "main"), NULL, NULL, arena, &list) != NNV_OK)
        return NULL;
    for (size_t i = 0; i < 2; i++) tensors[i] = (struct nnv_relay_tensor){type, numbers[i], sizeof numbers[i]};
    for (size_t i = 0; i < list.n; i++)
        if (list.exprs[i]->kind == NNV_RELAY_CONSTANT) list.exprs[i]->tensor = &tensors[list.exprs[i]->index];
    return nnv_relay_check(m, err) == NNV_OK ? m : NULL;
}

static bool holds(const struct frame *f, const struct compiler_fault *fault, struct nnv_arena *arena,
                  struct nnv_text *why) {
    struct nnv_text text = {0}, now = {0};
    struct nnv_err err = {0};
    struct nnv_relay_module *m = two_constants(arena, &err), *again = NULL;
    enum nnv_status s = m ? NNV_OK : NNV_INVALID;
    if (m && f == &relax) s = nnv_relax_print(m, &text, &err);
    if (m && f == &relay) nnv_relay_print(m, NNV_RELAY_PRINT_META, &text);
    bool ok = s == NNV_OK && check_metadata(text.data, f, fault, &now, why);
    if (ok) s = nnv_relay_parse(now.data, now.len, "written", arena, &again, &err);
    if (ok && s == NNV_OK) s = nnv_relay_check(again, &err);
    if (ok && s == NNV_OK) {
        nnv_relay_find(again, "main")->declared = NULL; /* Relax says the type of the result */
        ok = nnv_relay_module_equal(m, again) || says(why, "other constants are read:\n", now.data);
    }
    if (s != NNV_OK) ok = says(why, err.text, "");
    nnv_text_free(&text);
    nnv_text_free(&now);
    return ok;
}

bool metadata_holds(const struct compiler_fault *fault, struct nnv_arena *arena, struct nnv_text *why) {
    return holds(&relay, fault, arena, why) && holds(&relax, fault, arena, why);
}
