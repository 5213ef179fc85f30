/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct word {
    const char *name, *word, *done;
    char letter;
    bool bad;
} words[NNVTS_VERDICT_COUNT] = {
    [NNVTS_ERROR] = {"ERROR", "error", "in error", 'E', true},
    [NNVTS_PASS] = {"PASS", "pass", "passed", 'P', false},
    [NNVTS_FAIL] = {"FAIL", "fail", "failed", 'F', true},
    [NNVTS_UNSUPPORTED] = {"UNSUPPORTED", "unsupported", "unsupported", 'U', false},
    [NNVTS_SKIP] = {"SKIP", "skip", "skipped", 'S', false},
    [NNVTS_UNTRUSTED] = {"UNTRUSTED", "untrusted", "untrusted", 'Q', true},
    [NNVTS_CRASH] = {"CRASH", "crash", "crashed", 'C', true},
    [NNVTS_TIMEOUT] = {"TIMEOUT", "timeout", "timed out", 'T', true},
    [NNVTS_NOTRUN] = {"NOTRUN", "not run", "not run", 'N', false},
};

const enum nnvts_verdict nnv_verdict_order[NNVTS_VERDICT_COUNT] = {
    NNVTS_PASS,  NNVTS_FAIL,        NNVTS_CRASH, NNVTS_TIMEOUT, NNVTS_UNTRUSTED,
    NNVTS_ERROR, NNVTS_UNSUPPORTED, NNVTS_SKIP,  NNVTS_NOTRUN,
};

const char *nnv_verdict_name(enum nnvts_verdict v) { return words[v].name; }
const char *nnv_verdict_word(enum nnvts_verdict v) { return words[v].word; }
const char *nnv_verdict_done(enum nnvts_verdict v) { return words[v].done; }
char nnv_verdict_letter(enum nnvts_verdict v) { return words[v].letter; }
bool nnv_verdict_bad(enum nnvts_verdict v) { return words[v].bad; }

bool nnv_verdict_parse(const char *name, enum nnvts_verdict *v) {
    for (int i = 0; i < NNVTS_NOTRUN; i++) {
        if (strcmp(name, words[i].name) != 0) continue;
        *v = (enum nnvts_verdict)i;
        return true;
    }
    return false;
}

void nnv_text_add_tried(struct nnv_text *t, enum nnvts_verdict v, const char *again) {
    enum nnvts_verdict tried;
    if (again == NULL || !nnv_verdict_parse(again, &tried) || tried == v) return;
    nnv_text_addf(t, "tried: %s, so it does not fail %severy time", words[tried].name,
                  words[tried].bad ? "in the same way " : "");
}

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

/** Length of the well-formed UTF-8 sequence at s (n bytes left), 0 if there is none. *code is its code point. */
static size_t utf8(const unsigned char *s, size_t n, uint32_t *code) {
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || len > n) return 0;
    uint32_t c = s[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if ((len == 3 && c < 0x800) || (len == 4 && c < 0x10000) || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return len;
}

/** Code points that would do something to a terminal, or to the order of what is read. */
static bool harmful(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void nnv_text_add_shown(struct nnv_text *t, const char *s, size_t n, size_t max) {
    size_t end = t->len + max;
    for (size_t i = 0; i < n;) {
        if (t->len >= end) {
            nnv_text_add(t, "...");
            return;
        }
        uint32_t code = 0;
        size_t len = utf8((const unsigned char *)s + i, n - i, &code);
        if (len == 0) {
            nnv_text_addf(t, "\\x%02x", (unsigned)(unsigned char)s[i]);
            len = 1;
        } else if (!harmful(code)) {
            nnv_text_add_n(t, s + i, len);
        } else if (code == '\t') {
            nnv_text_add(t, " ");
        } else {
            nnv_text_addf(t, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
        }
        i += len;
    }
}

size_t nnv_first_line(const char *s) { return strcspn(s, "\r\n"); }

void nnv_text_add_path(struct nnv_text *t, const char *folder, const char *name) {
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    nnv_text_add_n(t, folder, n);
    if (n == 0 || folder[n - 1] != '/') nnv_text_add(t, n == 0 ? "" : "/");
    nnv_text_add(t, name);
}
