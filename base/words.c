/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nnvts/ndk_results.h"

struct nnv_count_text nnv_count(uint64_t n) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    struct nnv_count_text out = {{0}};
    char *p = out.s;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) *p++ = ',';
        *p++ = digits[i];
    }
    return out;
}

void nnv_text_add_seconds(struct nnv_text *t, double s) {
    if (!(s > 0)) s = 0;
    if (s > 1e9) s = 1e9;
    if (s < 9.995) {
        nnv_text_addf(t, "%.2f s", s);
    } else if (s < 119.95) {
        nnv_text_addf(t, "%.1f s", s);
    } else if (s < 7199.5) {
        int whole = (int)(s + 0.5);
        nnv_text_addf(t, "%d min %d s", whole / 60, whole % 60);
    } else {
        int minutes = (int)(s / 60 + 0.5);
        nnv_text_addf(t, "%d h %d min", minutes / 60, minutes % 60);
    }
}

const char *nnv_result_name(int code, char buf[static 32]) {
#define X(NAME) [ANEURALNETWORKS_##NAME] = #NAME,
    static const char *const names[] = {NNVTS_NDK_RESULTS(X)};
#undef X
    if (code >= 0 && (size_t)code < sizeof names / sizeof *names) return names[code];
    snprintf(buf, 32, "result %d", code);
    return buf;
}

/** Code points that would do something to a terminal, or to the order of what is read. */
static bool harmful(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void nnv_text_add_shown(struct nnv_text *t, const char *s, size_t n, size_t max) {
    const char *last = s + n;
    size_t end = t->len + max;
    for (const char *next; s < last; s = next) {
        if (t->len >= end) {
            nnv_text_add(t, "...");
            return;
        }
        uint32_t code = (unsigned char)*s;
        next = nnv_utf8_next(s, last, &code);
        if (next == NULL) {
            nnv_text_addf(t, "\\x%02x", (unsigned)code);
            next = s + 1;
        } else if (!harmful(code)) {
            nnv_text_add_n(t, s, (size_t)(next - s));
        } else if (code == '\t') {
            nnv_text_add(t, " ");
        } else {
            nnv_text_addf(t, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
        }
    }
}

struct nnv_shown_text nnv_shown(const char *s) {
    enum { MOST = 200 };
    struct nnv_text t = {0};
    struct nnv_shown_text out;
    nnv_text_add_shown(&t, s, strlen(s), MOST);
    snprintf(out.s, sizeof out.s, "%s", t.failed || t.data == NULL ? "" : t.data);
    nnv_text_free(&t);
    return out;
}

size_t nnv_first_line(const char *s) { return strcspn(s, "\r\n"); }

void nnv_text_add_path(struct nnv_text *t, const char *folder, const char *name) {
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    nnv_text_add_n(t, folder, n);
    if (n == 0 || folder[n - 1] != '/') nnv_text_add(t, n == 0 ? "" : "/");
    nnv_text_add(t, name);
}
