/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_run.c What a run costs beside the driver: cases a second and core, overhead a case, time to the first
 * result, memory. Usage: bench_run NNVTS DRIVER
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

struct sums {
    size_t cases;
    double driver_us, case_us;
    uint64_t first_ns;
};

/** Starts nnvts on one job with its records on a pipe. */
static FILE *start(const char *nnvts, const char *driver, const char *out, pid_t *child) {
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) != 0) return NULL;
    *child = fork();
    if (*child == 0) {
        dup2(fd[1], STDOUT_FILENO);
        execl(nnvts, nnvts, "run", "--driver", driver, "--jobs", "1", "--json", "--out", out, "--suite", "ops",
              (char *)NULL);
        _exit(127);
    }
    close(fd[1]);
    return *child > 0 ? fdopen(fd[0], "r") : NULL;
}

static void add(struct sums *s, const char *line, uint64_t begun) {
    json_t *r = json_loads(line, 0, NULL);
    if (json_object_get(r, "case") != NULL) {
        if (s->cases++ == 0) s->first_ns = nnv_now_ns() - begun;
        s->driver_us += json_number_value(json_object_get(r, "driver_us"));
        s->case_us += 1000 * json_number_value(json_object_get(r, "ms"));
    }
    json_decref(r);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bench_run NNVTS DRIVER\n");
        return 2;
    }
    char out[] = "/tmp/nnvts-bench-XXXXXX";
    if (mkdtemp(out) == NULL) return 3;
    struct sums s = {0};
    pid_t child;
    uint64_t begun = nnv_now_ns();
    FILE *records = start(argv[1], argv[2], out, &child);
    if (records == NULL) return 3;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, records) > 0) add(&s, line, begun);
    fclose(records);
    free(line);
    int status;
    struct rusage use;
    wait4(child, &status, 0, &use);
    double wall = (double)(nnv_now_ns() - begun) / 1e9;
    double cpu = (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || s.cases == 0) {
        fprintf(stderr, "bench_run: %s run failed\n", argv[1]);
        return 1;
    }
    double n = (double)s.cases;
    printf("driver %s: %zu cases in %.2f s on one job\n", argv[2], s.cases, wall);
    printf("  cases a second                     %9.0f\n", n / wall);
    printf("  cases a second of processor time   %9.0f\n", n / cpu);
    printf("  in the driver, a case              %9.1f us\n", s.driver_us / n);
    printf("  generating, golden result with budgets, checking %.1f us\n", (s.case_us - s.driver_us) / n);
    printf("  isolation, journal, reports, a case%9.1f us\n", (wall * 1e6 - s.case_us) / n);
    printf("  time to the first result           %9.1f ms\n", (double)s.first_ns / 1e6);
    printf("  peak memory of a process           %9.1f MB\n", (double)use.ru_maxrss / 1024);
    char remove[64];
    snprintf(remove, sizeof remove, "rm -rf '%s'", out);
    return system(remove) == 0 ? 0 : 1;
}
