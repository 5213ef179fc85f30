/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/machine.h"

#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { PATH_BYTES = 512 };

/** The number that a file begins with; NaN where there is none. */
static double read_number(const char *path) {
    char line[64], *end;
    if (!nnv_file_line(path, "", line, sizeof line)) return (double)NAN;
    const double v = strtod(line, &end);
    return end == line ? (double)NAN : v;
}

/** Calls see with the number in each file that matches; files without one are passed over. */
static void each_number(const char *root, const char *pattern, void (*see)(double *sum, double v), double *sum) {
    char path[PATH_BYTES];
    glob_t found = {0};
    snprintf(path, sizeof path, "%s%s", root, pattern);
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const double v = read_number(found.gl_pathv[i]);
            if (isfinite(v)) see(sum, v);
        }
    globfree(&found);
}

static void keep_largest(double *most, double v) { *most = fmax(*most, v); }
static void keep_sum(double *sum, double v) { *sum = isnan(*sum) ? v : *sum + v; }

static double number_at(const char *root, const char *name) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s%s", root, name);
    return read_number(path);
}

static void set(json_t *j, const char *name, double v) {
    if (isfinite(v)) json_object_set_new(j, name, json_real(v));
}

/** A file of the cgroup of this process, of version 2, or of the root of either version. */
static bool cgroup_line(const char *root, const char *name, const char *old, char *line, size_t room) {
    char path[PATH_BYTES], own[PATH_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (nnv_file_line(path, "0::", own, sizeof own) &&
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s/%s", root, own, name) < (int)sizeof path &&
        nnv_file_line(path, "", line, room))
        return true;
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/%s", root, name);
    if (nnv_file_line(path, "", line, room)) return true;
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/%s", root, old);
    return nnv_file_line(path, "", line, room);
}

/** What the cgroup lets this process have: processors, and memory. */
static void add_limits(json_t *j, const char *root) {
    char line[64];
    double quota, period = (double)NAN;
    if (cgroup_line(root, "cpu.max", "cpu/cpu.cfs_quota_us", line, sizeof line)) {
        if (sscanf(line, "%lf %lf", &quota, &period) < 1) quota = -1; /* "max" */
        if (isnan(period)) period = number_at(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
        if (quota > 0 && period > 0) set(j, "cgroup_cpus", quota / period);
    }
    if (cgroup_line(root, "memory.max", "memory/memory.limit_in_bytes", line, sizeof line)) {
        const double bytes = strtod(line, NULL);
        if (bytes > 0 && bytes < 0x1p62) set(j, "cgroup_memory_mb", bytes / 1048576);
    }
}

json_t *nnv_machine_state(const char *root) {
    char path[PATH_BYTES], governor[64];
    double celsius = (double)NAN;
    json_t *j = json_object();
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", root);
    if (nnv_file_line(path, "", governor, sizeof governor)) json_object_set_new(j, "governor", json_string(governor));
    set(j, "mhz", number_at(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") / 1000);
    set(j, "mhz_max", number_at(root, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") / 1000);
    each_number(root, "/sys/class/thermal/thermal_zone*/temp", keep_largest, &celsius);
    set(j, "celsius", celsius / 1000);
    add_limits(j, root);
    return j;
}

/** True if the words of a line have this one. */
static bool has_word(const char *line, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = strstr(line, word); at; at = strstr(at + n, word))
        if ((at == line || strchr(" \t", at[-1])) && strchr(" \t", at[n])) return true; /* or at the end */
    return false;
}

void nnv_machine_instructions(const char *root, char *names, size_t room) {
    static const char *const known[] = {"sse4_1",      "avx",      "f16c",     "avx2",        "fma",
                                        "avx_vnni",    "avx512f",  "avx512bw", "avx512_vnni", "avx512_bf16",
                                        "avx512_fp16", "amx_int8", "amx_bf16", "neon",        "asimd",
                                        "asimdhp",     "asimddp",  "i8mm",     "sve",         "sve2"};
    char path[PATH_BYTES], line[8192];
    size_t used = 0;
    *names = '\0';
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    const bool found =
        nnv_file_line(path, "flags", line, sizeof line) || nnv_file_line(path, "Features", line, sizeof line);
    for (size_t i = 0; found && i < sizeof known / sizeof *known; i++)
        if (has_word(line, known[i]) && used + strlen(known[i]) + 2 < room)
            used += (size_t)snprintf(names + used, room - used, "%s%s", used ? " " : "", known[i]);
}

double nnv_machine_joules(const char *root) {
    double microjoules = (double)NAN;
    /* Domains within a package, "intel-rapl:0:1", are counted by it. */
    each_number(root, "/sys/class/powercap/*-rapl:[0-9]/energy_uj", keep_sum, &microjoules);
    each_number(root, "/sys/class/hwmon/hwmon*/energy*_input", keep_sum, &microjoules);
    return microjoules / 1e6;
}
