/* SPDX-License-Identifier: Apache-2.0 */
/* Run folders: whatever cases.tsv and journal.jsonl hold is one clear error, or gives all reports. */
#include <unistd.h>

#include "base/file.h"
#include "reports/report.h"
#include "tests/fuzz/target.h"
#include "harness/journal/load.h"

static char folder[64];

static void remove_folder(void) {
    static const char *const files[] = {"journal.jsonl", "cases.tsv", "summary.json", "junit.xml", "report.html"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void put(const char *name, const uint8_t *data, size_t size) {
    char path[128];
    struct nnv_err err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    MUST(nnv_file_create(path, data, size, &err) == NNV_OK);
}

/** The input is the journal and, behind a byte 1, cases.tsv. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (folder[0] == '\0') {
        strcpy(folder, "/tmp/nnvts-fuzz-XXXXXX");
        MUST(mkdtemp(folder) != NULL);
        atexit(remove_folder);
    }
    const uint8_t *split = size ? memchr(data, 1, size) : NULL;
    size_t journal = split != NULL ? (size_t)(split - data) : size;
    put("journal.jsonl", data, journal);
    if (split != NULL)
        put("cases.tsv", split + 1, size - journal - 1);
    else
        put("cases.tsv", (const uint8_t *)"ops/ADD/float32/plain/0\tops\tADD\tfloat32\t\n", 42);
    struct nnv_report *report = NULL;
    struct nnv_err err = {0};
    if (nnv_report_load(folder, &report, &err) == NNV_OK) {
        (void)nnv_report_exit(report);
        (void)!nnv_report_summary(report, false, &err);
        (void)!nnv_report_junit(report, &err);
        (void)!nnv_report_html(report, &err);
        nnv_report_free(report);
    } else {
        MUST(err.text[0] != '\0');
    }
    return 0;
}
