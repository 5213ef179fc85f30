/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's conditions and energy, as a tree of files has them that is made here; and where there is no such file.
 */
#include "harness/bench/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/kit/test.h"

static char root[] = "/tmp/nnvts-machine-XXXXXX";

static int begin(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void put(const char *folder, const char *name, const char *text) {
    char command[512];
    snprintf(command, sizeof command, "mkdir -p %s%s && printf '%s\\n' >%s%s/%s", root, folder, text, root, folder,
             name);
    assert_int_equal(system(command), 0);
}

static double number(const json_t *j, const char *name) { return json_number_value(json_object_get(j, name)); }

static void nothing_is_told(void **state) {
    (void)state;
    json_t *j = nnv_machine_state(root);
    assert_int_equal(json_object_size(j), 0);
    json_decref(j);
    assert_true(isnan(nnv_machine_joules(root)));
}

static void all_is_told(void **state) {
    (void)state;
    put("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_governor", "schedutil");
    put("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_cur_freq", "1800000");
    put("/sys/devices/system/cpu/cpu0/cpufreq", "cpuinfo_max_freq", "2400000");
    put("/sys/class/thermal/thermal_zone0", "temp", "41000");
    put("/sys/class/thermal/thermal_zone1", "temp", "67500");
    put("/sys/class/thermal/thermal_zone2", "temp", "none");
    put("/proc/self", "cgroup", "0::/board/job");
    put("/sys/fs/cgroup/board/job", "cpu.max", "150000 100000");
    put("/sys/fs/cgroup/board/job", "memory.max", "536870912");
    json_t *j = nnv_machine_state(root);
    assert_string_equal(json_string_value(json_object_get(j, "governor")), "schedutil");
    assert_float_equal(number(j, "mhz"), 1800, 1e-9);
    assert_float_equal(number(j, "mhz_max"), 2400, 1e-9);
    assert_float_equal(number(j, "celsius"), 67.5, 1e-9);
    assert_float_equal(number(j, "cgroup_cpus"), 1.5, 1e-9);
    assert_float_equal(number(j, "cgroup_memory_mb"), 512, 1e-9);
    json_decref(j);
    /* no limit is none; of version 1 the limits stand elsewhere */
    put("/sys/fs/cgroup/board/job", "cpu.max", "max 100000");
    put("/sys/fs/cgroup/board/job", "memory.max", "max");
    j = nnv_machine_state(root);
    assert_null(json_object_get(j, "cgroup_cpus"));
    assert_null(json_object_get(j, "cgroup_memory_mb"));
    json_decref(j);
    put("/proc/self", "cgroup", "4:memory:/x");
    put("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000");
    put("/sys/fs/cgroup/cpu", "cpu.cfs_period_us", "100000");
    put("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "9223372036854771712");
    j = nnv_machine_state(root);
    assert_float_equal(number(j, "cgroup_cpus"), 0.5, 1e-9);
    assert_null(json_object_get(j, "cgroup_memory_mb"));
    json_decref(j);
}

/* Packages are added up, what lies within one is not; boards count, too. */
static void energy_is_added_up(void **state) {
    (void)state;
    put("/sys/class/powercap/intel-rapl:0", "energy_uj", "3000000");
    put("/sys/class/powercap/intel-rapl:0:0", "energy_uj", "1000000");
    put("/sys/class/powercap/intel-rapl:1", "energy_uj", "2500000");
    assert_float_equal(nnv_machine_joules(root), 5.5, 1e-9);
    put("/sys/class/hwmon/hwmon3", "energy1_input", "500000");
    assert_float_equal(nnv_machine_joules(root), 6, 1e-9);
}

static void instruction_sets_are_whole_words(void **state) {
    char names[64];
    (void)state;
    nnv_machine_instructions(root, names, sizeof names);
    assert_string_equal(names, "");
    put("/proc", "cpuinfo", "processor\t: 0\nflags\t\t: fpu avx2x avx2 xfma fma avx512_vnni\n");
    nnv_machine_instructions(root, names, sizeof names);
    assert_string_equal(names, "avx2 fma avx512_vnni");
    nnv_machine_instructions(root, names, 10);
    assert_string_equal(names, "avx2 fma");
    put("/proc", "cpuinfo", "Features\t: asimd fp asimddp\n");
    nnv_machine_instructions(root, names, sizeof names);
    assert_string_equal(names, "asimd asimddp");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_told), cmocka_unit_test(all_is_told),
                                       cmocka_unit_test(energy_is_added_up),
                                       cmocka_unit_test(instruction_sets_are_whole_words)};
    return cmocka_run_group_tests(tests, begin, end);
}
