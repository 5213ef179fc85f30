/* SPDX-License-Identifier: Apache-2.0 */
/** @file habits.h More habits of hostile.c: what outlasts the call that does it, and what the kernel does for a driver.
 */
#ifndef KIT_HOSTILE_HABITS_H
#define KIT_HOSTILE_HABITS_H

#include "nnvts/driver.h"

/** What is executed now. */
extern const struct nnvts_request *hostile_request;

/* the process, until it ends */
void habit_alarm_later(void);
void habit_kill_later(void);
void habit_segv_later(void);
void habit_write_later(void);
void habit_processor_limit(void);
void habit_no_memory(void);
void habit_no_processes(void);
void habit_idle(void);
void habit_lock_memory(void);
void habit_personality(void);
void habit_unshare(void);
void habit_no_futex(void);
void habit_no_calls(void);
/* its end */
void habit_crash_at_exit(void);
void habit_crash_at_thread_exit(void);
void habit_become_nothing(void);
void habit_become_sleep(void);
void habit_share_and_leave(void);
/* its parent */
void habit_own_parent(void);
void habit_kill_parent_32(void);
void habit_kill_parent_x32(void);
void habit_slow_parent(void);

#endif
