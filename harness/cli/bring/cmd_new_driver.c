/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_new_driver.c nnvts new-driver: the folder that a driver begins with. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "harness/cli/cli.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts new-driver NAME [--to FOLDER]",
    .summary = "Writes the folder of a new driver: a complete legal driver for ADD on float32 to go on from, which "
               "leaves NNAPI's rules for models to libnnvts-rules.a, and a Makefile that builds and judges it.",
    .examples = "nnvts new-driver acme && make -C acme test   acme.so, built and judged\n"
                "nnvts new-driver acme --to drivers/acme      in another folder\n",
};

/* What lies in drivers_under_test/template, as bytes of the program. */
#define EMBED(name, path)                                                                                              \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "nnv_skeleton_" #name ": .incbin \"drivers_under_test/template/" path "\"\n"                               \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const char nnv_skeleton_##name[];
EMBED(source, "template.c")
EMBED(makefile, "skeleton.mk")

struct command {
    struct nnv_cli c;
    const char *to;
};

struct place {
    const char *include, *lib, *nnvts;
};

/** text with every `from` replaced; NULL if text is NULL or there is no memory. */
static const char *replaced(struct nnv_arena *arena, const char *text, const char *from, const char *to) {
    struct nnv_text t = {0};
    for (const char *at; text && (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
        nnv_text_add_n(&t, text, (size_t)(at - text));
        nnv_text_add(&t, to);
    }
    nnv_text_add(&t, text ? text : "");
    const char *copy = text && !t.failed ? nnv_arena_strdup(arena, t.data) : NULL;
    nnv_text_free(&t);
    return copy;
}

/** Where this program finds its headers and libraries: installed below a prefix, or in the tree that it was built in.
 */
static enum nnv_status find_place(struct nnv_arena *arena, struct place *out, struct nnv_err *err) {
    static const char *const places[][2] = {{"../include", "../lib"}, {"../include", "lib"}};
    char exe[PATH_MAX];
    if (!nnv_file_of_program(exe, sizeof exe))
        return nnv_fail(err, NNV_IO, "where this program lies cannot be found out (/proc/self/exe)");
    out->nnvts = nnv_arena_strdup(arena, exe);
    *strrchr(exe, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places && out->nnvts; i++) {
        char include[PATH_MAX], lib[PATH_MAX];
        const char *a = nnv_arena_printf(arena, "%s/%s", exe, places[i][0]);
        const char *b = nnv_arena_printf(arena, "%s/%s", exe, places[i][1]);
        if (!a || !b) return nnv_no_memory(err);
        const char *header = nnv_arena_printf(arena, "%s/nnvts/rules.h", a);
        const char *rules = nnv_arena_printf(arena, "%s/libnnvts-rules.a", b);
        if (!header || !rules) return nnv_no_memory(err);
        if (access(header, R_OK) || access(rules, R_OK) || !realpath(a, include) || !realpath(b, lib)) continue;
        out->include = nnv_arena_strdup(arena, include);
        out->lib = nnv_arena_strdup(arena, lib);
        return out->include && out->lib ? NNV_OK : nnv_no_memory(err);
    }
    if (!out->nnvts) return nnv_no_memory(err);
    return nnv_fail(err, NNV_IO, "%s: nnvts/rules.h and libnnvts-rules.a are not beside it (make, or make install)",
                    out->nnvts);
}

/** A name is a file's, a device's and a part of C strings. */
static enum nnv_status check_name(const char *name, struct nnv_err *err) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (*name && *name != '-' && name[strspn(name, word)] == '\0' && strlen(name) <= 60) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "'%s' is no name for a driver: expected lower-case letters, digits, _ and -",
                    name);
}

static enum nnv_status write_file(const char *folder, const char *name, const char *text, struct nnv_arena *arena,
                                  struct nnv_err *err) {
    const char *path = name && text ? nnv_arena_printf(arena, "%s/%s", folder, name) : NULL;
    return path ? nnv_file_write(path, text, strlen(text), err) : nnv_no_memory(err);
}

static enum nnv_status make_folder(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct place place = {0};
    if (c->positional.count == 0) return nnv_fail(err, NNV_INVALID, "what is the driver called?");
    const char *name = c->positional.item[0], *folder = x->to ? x->to : name;
    enum nnv_status st = check_name(name, err);
    if (st == NNV_OK) st = find_place(c->arena, &place, err);
    if (st == NNV_OK && access(folder, F_OK) == 0)
        st = nnv_fail(err, NNV_INVALID, "%s is there already: choose another folder with --to", folder);
    if (st == NNV_OK) st = nnv_folder_make(folder, err);
    if (st != NNV_OK) return st;
    const char *source = replaced(c->arena, nnv_skeleton_source, "template", name);
    const char *make = replaced(c->arena, nnv_skeleton_makefile, "template", name);
    make = replaced(c->arena, make, "@INCLUDE@", place.include);
    make = replaced(c->arena, make, "@LIB@", place.lib);
    make = replaced(c->arena, make, "@NNVTS@", place.nnvts);
    st = write_file(folder, nnv_arena_printf(c->arena, "%s.c", name), source, c->arena, err);
    if (st == NNV_OK) st = write_file(folder, "Makefile", make, c->arena, err);
    if (st == NNV_OK && !c->quiet)
        printf("%s: %s.c and Makefile\nbuild and judge it: make -C %s test\n", folder, name, folder);
    return st;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    const struct nnv_opt table[] = {
        {0, "to", NNV_OPT_STRING, &x.to, "FOLDER", "where it is written, default NAME", NULL},
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, make_folder, &x);
}

const struct nnv_verb nnv_verb_new_driver = {"new-driver", "bring tests along",
                                             "the folder that a driver of your own begins with", run};
