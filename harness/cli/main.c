/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/words.h"
#include "harness/cli/cli.h"

const struct nnv_verb *const nnv_verbs[] = {
    &nnv_verb_run,      &nnv_verb_datasheet,    &nnv_verb_fuzz,      &nnv_verb_audit,      &nnv_verb_list,
    &nnv_verb_drivers,  &nnv_verb_doctor,       &nnv_verb_replay,    &nnv_verb_reduce,     &nnv_verb_bisect,
    &nnv_verb_explain,  &nnv_verb_promote,      &nnv_verb_show,      &nnv_verb_new_driver, &nnv_verb_import,
    &nnv_verb_harvest,  &nnv_verb_bench,        &nnv_verb_precision, &nnv_verb_data,       &nnv_verb_partition,
    &nnv_verb_compile,  &nnv_verb_run_compiled, &nnv_verb_profile,   &nnv_verb_op,         &nnv_verb_plan,
    &nnv_verb_report,   &nnv_verb_merge,        &nnv_verb_expect,    &nnv_verb_compare,    &nnv_verb_trend,
    &nnv_verb_contract, &nnv_verb_gate,         &nnv_verb_pack,      &nnv_verb_verify,     &nnv_verb_completion,
    &nnv_verb_man,
};
const size_t nnv_verbs_count = sizeof nnv_verbs / sizeof *nnv_verbs;

const struct nnv_verb *nnv_verb_by_name(const char *name) {
    for (size_t i = 0; i < nnv_verbs_count; i++)
        if (strcmp(nnv_verbs[i]->name, name) == 0) return nnv_verbs[i];
    return NULL;
}

static void overview(FILE *to) {
    fprintf(to, "nnvts %s: judges neural-network drivers\n\nusage: nnvts VERB [options]\n", NNVTS_VERSION);
    const char *task = "";
    for (size_t i = 0; i < nnv_verbs_count; i++) {
        if (strcmp(task, nnv_verbs[i]->task) != 0) fprintf(to, "\n%s\n", task = nnv_verbs[i]->task);
        fprintf(to, "  %-12s %s\n", nnv_verbs[i]->name, nnv_verbs[i]->summary);
    }
    fputs("\nnnvts VERB --help shows the options and examples of a verb.\n", to);
}

/** Number of leading characters that a and b share. */
static size_t common_prefix(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n]) n++;
    return n;
}

static _Atomic(void *) spare; /* memory, until it is needed */

/** Jansson's: its lexer writes past a string whose buffer could not grow, so it never hears of what is lacking. */
static void *json_memory(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory != NULL) return memory;
    free(atomic_exchange(&spare, NULL));
    memory = malloc(bytes);
    if (memory == NULL) {
        fputs("nnvts: " NNV_OUT_OF_MEMORY "\n", stderr);
        _exit(NNVTS_EXIT_ERROR);
    }
    return memory;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        overview(stdout);
        return NNVTS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        overview(stdout);
        return NNVTS_EXIT_PASS;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("nnvts " NNVTS_VERSION);
        return NNVTS_EXIT_PASS;
    }
    const struct nnv_verb *near = NULL;
    for (size_t i = 0; i < nnv_verbs_count; i++) {
        if (strcmp(argv[1], nnv_verbs[i]->name) == 0) {
            atomic_store(&spare, malloc(1 << 16));
            json_set_alloc_funcs(json_memory, free);
            int code = nnv_verbs[i]->run(argc - 1, argv + 1);
            free(atomic_load(&spare));
            if (nnv_text_lacked() && code != NNVTS_EXIT_ERROR) {
                fputs("nnvts: " NNV_OUT_OF_MEMORY "\n", stderr);
                code = NNVTS_EXIT_ERROR;
            }
            if (fflush(stdout) != 0 || ferror(stdout)) {
                perror("nnvts: standard output");
                return code == NNVTS_EXIT_PASS ? NNVTS_EXIT_ERROR : code;
            }
            return code;
        }
        if (near == NULL || common_prefix(argv[1], nnv_verbs[i]->name) > common_prefix(argv[1], near->name))
            near = nnv_verbs[i];
    }
    fprintf(stderr, "nnvts: unknown verb '%s'", nnv_shown(argv[1]).s);
    if (common_prefix(argv[1], near->name) > 0) fprintf(stderr, " (did you mean '%s'?)", near->name);
    fputs("; see nnvts --help\n", stderr);
    return NNVTS_EXIT_USAGE;
}
