/* SPDX-License-Identifier: Apache-2.0 */
/** @file program.h The two things that nnvts-host is. */
#ifndef NNVTS_HOST_PROGRAM_H
#define NNVTS_HOST_PROGRAM_H

/** Serves clients that come over a control socket, until it closes: the driver's process. */
_Noreturn void host_run_driver(const char *path, const char *options, int control);
/** With options: serves other machines. argc 0: says how it is used. The exit code. */
int host_listen(int argc, char **argv);

#endif
