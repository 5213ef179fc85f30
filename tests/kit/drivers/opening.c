/* SPDX-License-Identifier: Apache-2.0 */
/** @file opening.c A driver that does nothing; its option says how it opens. make builds it as tests/opening.so. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "nnvts/driver.h"

static bool crashes_on_close;

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status get_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    (void)self;
    (void)model;
    (void)supported;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static enum nnvts_status prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                 const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    (void)model;
    (void)config;
    (void)out;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static void release(struct nnvts_device *self) {
    (void)self;
    if (crashes_on_close) raise(SIGSEGV);
}

static const struct nnvts_operand_performance performance[] = {{3, {0.5f, 0.25f}}};
static struct nnvts_device device = {
    .struct_size = sizeof device,
    .feature_level = 7,
    .type = 2,
    .name = "fake",
    .version = "1.2",
    .get_status = get_status,
    .get_supported_operations = get_supported,
    .prepare_model = prepare,
    .release = release,
    .capabilities = {.operand_performance_count = 1, .operand_performance = performance},
};

/* Counts the opens in a file; how many there were before. */
static int count_opens(const char *path) {
    char text[16] = {0};
    int n = 0, fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (read(fd, text, sizeof text - 1) > 0) n = atoi(text);
    snprintf(text, sizeof text, "%d", n + 1);
    if (pwrite(fd, text, strlen(text), 0) < 0) abort();
    close(fd);
    return n;
}

static bool lock(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static enum nnvts_status open_device(const char *option, struct nnvts_device **out, const char **error) {
    const char *o = option ? option : "";
    const bool slow = strncmp(o, "slow", 4) == 0;
    if (slow) o += 4;
    if (strcmp(o, "segv") == 0) raise(SIGSEGV);
    if (strcmp(o, "exit") == 0) exit(3);
    if (strcmp(o, "refuse") == 0) {
        *error = "the device is on fire";
        return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    }
    if (strncmp(o, "thrice", 6) == 0 && count_opens(o + 6) >= 3) raise(SIGSEGV);
    if (strncmp(o, "alone", 5) == 0 && !lock(o + 5)) {
        *error = "in use";
        return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    }
    if (slow) usleep(700000);
    crashes_on_close = strcmp(o, "badclose") == 0;
    *out = &device;
    return NNVTS_STATUS_NONE;
}

static const char *const options[] = {"segv", "exit", "", "refuse", NULL};
static const struct nnvts_driver driver = {
    .struct_size = sizeof driver,
    .abi_version = NNVTS_DRIVER_ABI_VERSION,
    .name = "fake",
    .open = open_device,
    .options = options,
};

const struct nnvts_driver *nnvts_driver_get(void);
const struct nnvts_driver *nnvts_driver_get(void) { return &driver; }
