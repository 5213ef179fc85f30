/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench_show.h What bench found, for people: lines on stdout. */
#ifndef NNV_CLI_BENCH_SHOW_H
#define NNV_CLI_BENCH_SHOW_H

#include "harness/bench/row.h"

/** "1.23 ms" into buf (room NNV_BENCH_DURATION), with so many digits; "-" for what is not finite. */
enum { NNV_BENCH_DURATION = 24 };
const char *nnv_bench_duration(double ns, int digits, char *buf);
void nnv_bench_show_latency(const struct nnv_bench_row *row);
/** Nothing where it was not judged. */
void nnv_bench_show_accuracy(const struct nnv_bench_row *row);
/** What is nearest to its budget, or beyond; where operations were timed, the slowest. */
void nnv_bench_show_layers(const struct nnv_layers *layers);
void nnv_bench_show_roof(const struct nnv_roof *roof);
/** What of the roof the network achieves; nothing where it was not timed. */
void nnv_bench_show_roofline(const struct nnv_bench_row *row);

#endif
