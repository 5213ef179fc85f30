/* SPDX-License-Identifier: Apache-2.0 */
/** @file asleep.h Waiting for what others wait for: until a thread sleeps in the kernel, instead of for some time. */
#ifndef KIT_ASLEEP_H
#define KIT_ASLEEP_H

#include <sys/types.h>

/** Until all threads of this process but the caller's sleep. Fails the test after ten seconds. */
void await_others_asleep(void);
/** Until the first thread of the process sleeps: of a child, or, with getpid(), of this program. */
void await_asleep(pid_t process);

#endif
