/* SPDX-License-Identifier: Apache-2.0 */
/** @file write.c All reports of a run. */
#include <pthread.h>

#include "harness/journal/load.h"
#include "reports/report.h"

enum { APART = 50000 }; /* from so many cases on, a thread of its own pays for junit.xml */

/** junit.xml, as it is written beside the other reports. */
struct junit {
    const struct nnv_report *r;
    enum nnv_status status;
    struct nnv_err err;
};

static void *write_junit(void *of) {
    struct junit *j = of;
    j->status = nnv_report_junit(j->r, &j->err);
    return NULL;
}

enum nnv_status nnv_report_write(const struct nnv_report *r, bool interrupted, struct nnv_err *err) {
    struct junit junit = {.r = r};
    pthread_t thread;
    const bool apart = r->count >= APART && pthread_create(&thread, NULL, write_junit, &junit) == 0;
    enum nnv_status s = nnv_report_summary(r, interrupted, err);
    if (s == NNV_OK) s = nnv_report_html(r, err);
    if (apart)
        pthread_join(thread, NULL);
    else
        write_junit(&junit);
    if (s != NNV_OK || junit.status == NNV_OK) return s;
    *err = junit.err;
    return junit.status;
}
