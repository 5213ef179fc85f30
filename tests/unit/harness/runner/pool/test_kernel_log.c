/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's log: which lines tell of a fault, and files and fifos that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/runner/pool/kernel_log.h"

static void test_words(void **state) {
    (void)state;
    static const struct {
        enum nnv_kernel_fault fault;
        const char *line;
    } lines[] = {
        {NNV_KERNEL_OOPS, "Oops: 0000 [#1] SMP"},
        {NNV_KERNEL_OOPS, "BUG: kernel NULL pointer dereference, address: 0000000000000008"},
        {NNV_KERNEL_OOPS, "Unable to handle kernel paging request at virtual address ffff0008"},
        {NNV_KERNEL_IOMMU, "arm-smmu 5000000.iommu: Unhandled context fault: fsr=0x402"},
        {NNV_KERNEL_IOMMU, "DMAR: [DMA Read] Request device [00:02.0] fault addr 0"},
        {NNV_KERNEL_IOMMU, "amdgpu: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0000]"},
        {NNV_KERNEL_HANG, "INFO: task npu_worker:77 blocked for more than 120 seconds."},
        {NNV_KERNEL_HANG, "i915 0000:00:02.0: [drm] GPU HANG: ecode 9:1:85dffffb"},
        {NNV_KERNEL_HANG, "[drm:amdgpu_job_timedout] *ERROR* ring gfx timeout, signaled seq=2"},
        {NNV_KERNEL_HANG, "panfrost ffe40000.gpu: gpu sched timeout, js=1: job timed out"},
        {NNV_KERNEL_RESET, "i915: Resetting chip for hang on rcs0"},
        {NNV_KERNEL_RESET, "amdgpu 0000:03:00.0: GPU reset begin!"},
        {NNV_KERNEL_KILL, "Out of memory: Killed process 4711 (nnvts) total-vm:1kB"},
        {NNV_KERNEL_NONE, "usb 1-1: reset high-speed USB device number 2"},
        {NNV_KERNEL_NONE, "debug: everything is fine"},
        {NNV_KERNEL_NONE, "iommu: Default domain type: Translated"},
        {NNV_KERNEL_NONE, "traps: nnvts[12] general protection fault ip:7f sp:7f error:0"},
        {NNV_KERNEL_NONE, "nnvts[12]: segfault at 0 ip 00007f sp 00007f error 4 in faulty.so"},
        {NNV_KERNEL_NONE, ""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (nnv_kernel_fault_of(lines[i].line) != lines[i].fault) fail_msg("%s", lines[i].line);
}

static void put(int fd, const char *text) { assert_int_equal(write(fd, text, strlen(text)), strlen(text)); }

static void follow(const char *path, int to) {
    struct nnv_kernel_log k;
    struct nnv_err err;
    assert_int_equal(nnv_kernel_log_open(&k, path, &err), NNV_OK);
    if (to < 0) to = open(path, O_WRONLY);
    nnv_kernel_log_read(&k);
    assert_int_equal(k.faults.len, 0); /* what was there before */
    put(to, "all is well\n[1.5] GPU reset beg");
    nnv_kernel_log_read(&k);
    assert_int_equal(k.faults.len, 0);
    put(to, "in!\nOops: 1\nOut of memory: Killed process 77 (x)\n");
    nnv_kernel_log_read(&k);
    assert_string_equal(k.faults.data, "\nkernel: [1.5] GPU reset begin!\nkernel: Oops: 1");
    assert_non_null(nnv_kernel_log_killed(&k, 77));
    assert_int_equal(strncmp(nnv_kernel_log_killed(&k, 77), "kernel: Out of memory", 21), 0);
    assert_null(nnv_kernel_log_killed(&k, 7));
    nnv_text_clear(&k.faults);
    nnv_kernel_log_read(&k);
    assert_int_equal(k.faults.len, 0);
    nnv_kernel_log_close(&k);
    close(to);
}

static void test_files(void **state) {
    (void)state;
    char folder[] = "/tmp/nnvts-kernel-XXXXXX", path[64], fifo[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    const int to = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    put(to, "Oops: of an earlier run\n");
    follow(path, to);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    follow(fifo, -1);
    unlink(path);
    unlink(fifo);
    rmdir(folder);
}

static void test_none(void **state) {
    (void)state;
    struct nnv_kernel_log k;
    struct nnv_err err;
    assert_int_equal(nnv_kernel_log_open(&k, "none", &err), NNV_OK);
    nnv_kernel_log_read(&k);
    assert_null(nnv_kernel_log_killed(&k, 1));
    nnv_kernel_log_close(&k);
    assert_int_equal(nnv_kernel_log_open(&k, "/nowhere/log", &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "/nowhere/log: No such file"));
    assert_int_equal(nnv_kernel_log_open(&k, NULL, &err), NNV_OK); /* readable or not */
    nnv_kernel_log_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
