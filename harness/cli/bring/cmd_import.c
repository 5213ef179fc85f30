/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_import.c nnvts import: AOSP's generated test models, TensorFlow Lite's and ONNX's, as spec files; the
 * latter as Relay programs, too. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "harness/cli/cli.h"
#include "harness/compiled/relay_model.h"
#include "harness/cli/model_file.h"
#include "mlts/networks/networks.h"
#include "mlts/onnx/onnx.h"
#include "mlts/tflite/tflite.h"
#include "reference/spec/spec.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts import PATH... [-o DIR|FILE]",
    .summary = "Turns AOSP's generated test models (.example.cpp, files or folders of them) into spec files: a .jsonl "
               "for each in a folder, all in one file, or to stdout. The C++ is parsed, never compiled. A file that "
               "does not fit, or a model with an operation that nnvts does not know, is left out, with one error that "
               "names line and column; the exit code is 2 then. A .tflite or .onnx file becomes a spec with inputs "
               "drawn by --seed and the outputs of the reference, or with --relay a Relay program that holds its "
               "weights. Test data beside an ONNX model (test_data_set_0/input_0.pb ...) are its inputs and outputs.",
    .examples = "nnvts import add.example.cpp                    its models on stdout, one a line\n"
                "nnvts import runtime/test/generated -o specs    a file of specs for each, in the same folders\n"
                "nnvts import a.example.cpp b.example.cpp -o all.jsonl  all in one file\n"
                "nnvts import net.tflite -o net.json             a TensorFlow Lite model as a spec\n"
                "nnvts import net.tflite -o net.relay            and as a Relay program\n"
                "nnvts import onnx/ -o specs                     ONNX models with their test data\n",
};

/** Where the specs go. */
struct sink {
    const char *folder;   /**< NULL: text is gathered */
    struct nnv_text text; /**< for one file or stdout */
    bool relay;           /**< Relay programs instead of specs */
    struct nnv_arena *arena;
    uint64_t seed; /**< of the inputs of models without data */
    json_t *taken; /**< files that are written and names that are in them, with the C++ file that they are of */
    size_t specs, files, bad;
};

static const char *const suffixes[] = {".example.cpp", ".tflite", ".onnx", NULL}, *const *relay_suffixes = suffixes + 1;

/** Prints what is wrong with a file; the import goes on. */
static enum nnv_status forgive(struct sink *sink, struct nnv_err *err) {
    nnv_cli_error(err);
    *err = (struct nnv_err){0};
    sink->bad++;
    return NNV_OK;
}

/** Notes that a name (in a file that is written) or such a file is of path; an error if it is another's already. */
static enum nnv_status claim(struct sink *sink, const char *file, const char *name, const char *path,
                             struct nnv_err *err) {
    const char *key = nnv_arena_printf(sink->arena, "%s\n%s", file, name);
    const json_t *other = key ? json_object_get(sink->taken, key) : NULL;
    if (other)
        return nnv_fail(err, NNV_INVALID, "%s: %s'%s' is of %s already; import them apart", path,
                        *name ? "the name " : "", *name ? name : file, json_string_value(other));
    return key && json_object_set_new_nocheck(sink->taken, key, json_string_nocheck(path)) == 0
               ? NNV_OK
               : nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
}

/** Appends a spec as a line. */
static enum nnv_status add_spec(struct sink *sink, const struct nnv_spec *spec, const char *path, struct nnv_text *text,
                                size_t *count, struct nnv_err *err) {
    enum nnv_status s = claim(sink, sink->folder ? path : "", spec->name, path, err);
    if (s != NNV_OK) return s;
    nnv_spec_write_json(spec, false, text);
    nnv_text_add(text, "\n");
    ++*count;
    return NNV_OK;
}

/** Appends the specs that a .tflite or .onnx file becomes. */
static enum nnv_status read_model(struct sink *sink, const char *path, struct nnv_text *text, size_t *count,
                                  struct nnv_err *err) {
    const uint32_t n = nnv_cli_model_specs(path);
    enum nnv_status s = NNV_OK;
    *count = 0;
    for (uint32_t i = 0; i < n && s == NNV_OK; i++) {
        struct nnv_spec *spec;
        nnv_arena_reset(sink->arena);
        s = nnv_cli_model_spec(path, i, sink->seed, sink->arena, &spec, err);
        if (s == NNV_OK) s = add_spec(sink, spec, path, text, count, err);
        if (s == NNV_UNSUPPORTED) s = forgive(sink, err);
    }
    if (s == NNV_OK && text->failed) s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    return s;
}

/** Appends the Relay program that such a file becomes. */
static enum nnv_status read_relay(struct sink *sink, const char *path, struct nnv_text *text, size_t *count,
                                  struct nnv_err *err) {
    struct nnv_relay_program p;
    nnv_arena_reset(sink->arena);
    *count = 0;
    enum nnv_status s = nnv_relay_program_read(path, NULL, sink->arena, &p, err);
    if (s == NNV_UNSUPPORTED) return forgive(sink, err);
    if (s != NNV_OK) return s;
    nnv_text_add_n(text, p.text, p.len);
    *count = 1;
    return text->failed ? nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path) : NNV_OK;
}

/** Appends all specs of a file as lines. A model with an operation that nnvts does not know is left out. */
static enum nnv_status read_file(struct sink *sink, const char *path, struct nnv_text *text, size_t *count,
                                 struct nnv_err *err) {
    struct nnv_spec_file *file = NULL;
    enum nnv_status s = nnv_spec_open(path, &file, err);
    size_t n = s == NNV_OK ? nnv_spec_count(file) : 0;
    *count = 0;
    for (size_t i = 0; s == NNV_OK && i < n; i++) {
        struct nnv_spec *spec;
        nnv_arena_reset(sink->arena);
        s = nnv_spec_read(file, i, sink->arena, &spec, err);
        if (s == NNV_OK) s = add_spec(sink, spec, path, text, count, err);
        if (s == NNV_UNSUPPORTED) s = forgive(sink, err);
    }
    if (s == NNV_OK && text->failed) s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    nnv_spec_close(file);
    return s;
}

/** Writes the specs of a file to the folder, below which it gets the place that it has below root. */
static enum nnv_status write_file(struct sink *sink, const char *root, const char *path, const struct nnv_text *text,
                                  struct nnv_err *err) {
    const char *suffix = suffixes[nnv_is_tflite(path) ? 1 : nnv_is_onnx(path) ? 2 : 0];
    size_t n = strlen(root), len = strlen(path) - strlen(suffix);
    const char *below = strncmp(path, root, n) == 0 && path[n] ? path + n : strrchr(path, '/');
    if (!below) below = path;
    while (*below == '/') below++;
    char *to = NULL;
    if (asprintf(&to, "%s/%.*s.%s", sink->folder, (int)(path + len - below), below, sink->relay ? "relay" : "jsonl") <
        0)
        return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    enum nnv_status s = claim(sink, to, "", path, err);
    if (s == NNV_OK) s = nnv_folder_make(sink->folder, err);
    char *slash = strrchr(to, '/');
    *slash = '\0';
    if (s == NNV_OK) s = nnv_folder_make(to, err);
    *slash = '/';
    if (s == NNV_OK) s = nnv_file_create(to, text->data, text->len, err);
    free(to);
    return s;
}

/** Imports a file. What is wrong with it is printed; only other failures are returned. */
static enum nnv_status import_file(struct sink *sink, const char *root, const char *path, struct nnv_err *err) {
    struct nnv_text text = {0};
    size_t count;
    enum nnv_status s = sink->relay                 ? read_relay(sink, path, &text, &count, err)
                        : nnv_network_is_file(path) ? read_model(sink, path, &text, &count, err)
                                                    : read_file(sink, path, &text, &count, err);
    if (s == NNV_OK && count && sink->folder) s = write_file(sink, root, path, &text, err);
    if (s == NNV_OK && count && !sink->folder) nnv_text_add_n(&sink->text, text.data, text.len);
    if (s == NNV_OK && sink->text.failed) s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    sink->specs += s == NNV_OK ? count : 0;
    sink->files += s == NNV_OK && count;
    if (s == NNV_INVALID) s = forgive(sink, err);
    nnv_text_free(&text);
    return s;
}

/** Imports a file, or all below a folder. */
static enum nnv_status import_path(struct sink *sink, const char *root, struct nnv_err *err) {
    char **paths;
    size_t n;
    enum nnv_status s = nnv_file_list(root, sink->relay ? relay_suffixes : suffixes, &paths, &n, err);
    if (s != NNV_OK) return s;
    if (n == 0)
        s = nnv_fail(err, NNV_INVALID, "%s: no %s.tflite or .onnx files", root, sink->relay ? "" : ".example.cpp, ");
    if (sink->relay && !sink->folder && n + sink->files > 1)
        s = nnv_fail(err, NNV_INVALID, "%s: the Relay programs of several models need a folder: -o DIR", root);
    for (size_t i = 0; i < n && s == NNV_OK; i++) s = import_file(sink, root, paths[i], err);
    nnv_file_list_free(paths, n);
    return s;
}

/** Where it all goes, by the name of --out. */
static enum nnv_status choose_sink(struct sink *sink, const struct nnv_cli *c, struct nnv_err *err) {
    const bool one_model = c->positional.count == 1 && nnv_network_is_file(c->positional.item[0]);
    const bool one_spec = c->out && nnv_ends_with(c->out, ".json");
    if (c->out && nnv_ends_with(c->out, ".relay")) sink->relay = true;
    if (sink->relay) {
        if (c->out && !nnv_ends_with(c->out, ".relay")) sink->folder = c->out;
        return NNV_OK;
    }
    if (c->out && !nnv_ends_with(c->out, ".jsonl") && !(one_spec && one_model)) sink->folder = c->out;
    if (one_spec && !one_model)
        return nnv_fail(err, NNV_INVALID, "--out %s: a file of several specs is called .jsonl", c->out);
    return NNV_OK;
}

static enum nnv_status import(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    struct sink sink = {.arena = c->arena, .taken = json_object(), .seed = c->seed, .relay = c->relay};
    if (c->out != NULL && nnv_file_is_stdout(c->out)) c->out = NULL;
    enum nnv_status s = sink.taken == NULL ? nnv_no_memory(err) : choose_sink(&sink, c, err);
    if (s == NNV_OK && c->positional.count == 0)
        s = nnv_fail(err, NNV_INVALID, "import what? give .example.cpp, .tflite or .onnx files, or a folder of them");
    if (s == NNV_OK && c->out != NULL) s = nnv_file_try(c->out, sink.folder != NULL, err);
    for (int i = 0; s == NNV_OK && i < c->positional.count; i++) s = import_path(&sink, c->positional.item[i], err);
    if (s == NNV_OK && c->out != NULL && !sink.folder && sink.text.len)
        s = nnv_file_write_text(NULL, c->out, &sink.text, err);
    if (s == NNV_OK && c->out != NULL && !c->quiet)
        printf("%zu %s of %zu files in %s\n", sink.specs, sink.relay ? "Relay programs" : "specs", sink.files, c->out);
    if (s == NNV_OK && c->out == NULL) s = nnv_cli_print(&sink.text, err);
    nnv_text_free(&sink.text);
    json_decref(sink.taken);
    if (sink.bad) c->code = NNVTS_EXIT_USAGE;
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    c.out = NULL;
    const struct nnv_opt table[] = {
        {'o', "out", NNV_OPT_STRING, &c.out, "DIR|FILE", "a folder, or a .jsonl file for all; default: stdout", NULL},
        {0, "relay", NNV_OPT_FLAG, &c.relay, NULL,
         "Relay programs of .tflite and .onnx files; -o NAME.relay says that, too", NULL},
        NNV_OPTION_SEED(c),
        NNV_OPTION_QUIET(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, NNV_OPT_LIST_MAX, argc, argv, import, &c);
}

const struct nnv_verb nnv_verb_import = {"import", "bring tests along",
                                         "AOSP's, TensorFlow Lite's and ONNX's models as spec files", run};
