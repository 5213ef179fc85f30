/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file instructions.c A plugin of qemu that counts the instructions of the program which is emulated, for
 * tools/instructions.sh: an emulator's time says little of a processor's.
 *
 * The last line on stderr is "instructions N". What it needs of qemu's interface (version 1) is declared here: Debian
 * has no header of it.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
enum { INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *at, uint64_t add);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id id, void *data), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);

#define SHOWN __attribute__((visibility("default")))
extern SHOWN int qemu_plugin_version;
SHOWN int qemu_plugin_version = 1;
SHOWN int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments);

static uint64_t instructions;

static void translated(plugin_id id, struct qemu_plugin_tb *tb) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &instructions, qemu_plugin_tb_n_insns(tb));
}

static void ended(plugin_id id, void *data) {
    (void)id, (void)data;
    fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments) {
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
