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
void habit_timer_slack(void);
void habit_no_clock(void);
void habit_hold_loader(void);
void habit_second_runtime(void);
void habit_wipe_on_fork(void);
void habit_hang_in_fork(void);
/* descriptors that it has from its parent, and what they stand for */
void habit_seek_all(void);
void habit_truncate_all(void);
void habit_unlock_all(void);
void habit_nonblocking_all(void);
void habit_read_input(void);
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
