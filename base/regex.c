/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256, REPEATS_MOST = 1000 };

struct nnv_regex {
    regex_t compiled;
};

/** The length of the bracket expression at s, which begins with [; of one without an end 1. */
static size_t bracket_length(const char *s) {
    size_t i = s[1] == '^' ? 2 : 1;
    if (s[i] == ']') i++; /* the first one is an ordinary character */
    while (s[i] != '\0' && s[i] != ']') {
        const char kind = s[i] == '[' ? s[i + 1] : '\0';
        if (kind == '\0' || strchr(":.=", kind) == NULL) {
            i++;
            continue;
        }
        const char end[] = {kind, ']', '\0'}, *last = strstr(s + i + 2, end);
        i = last == NULL ? i + 1 : (size_t)(last - s) + 2;
    }
    return s[i] == ']' ? i + 1 : 1;
}

/** The length of the element at s: an escaped character, a bracket expression, or one character. */
static size_t element_length(const char *s) {
    if (*s == '\\' && s[1] != '\0') return 2;
    return *s == '[' ? bracket_length(s) : 1;
}

size_t nnv_regex_length(const char *text) {
    size_t i = 0, depth = 0;
    while (text[i] != '\0') {
        const char c = text[i];
        if (depth == 0 && (isspace((unsigned char)c) || strchr("&|)", c) != NULL)) break;
        depth += c == '(';
        depth -= c == ')';
        i += element_length(text + i);
    }
    return i;
}

/** NULL, or why a machine might not live to see its end. */
static const char *refusal(const char *text) {
    unsigned long repeats = 1;
    for (const char *s = text; *s != '\0'; s += element_length(s)) {
        if (*s == '\\' && isdigit((unsigned char)s[1])) return "back-references are not taken";
        if (*s != '{') continue;
        for (const char *d = s + 1; *d != '\0' && *d != '}'; d++) {
            const unsigned long n = isdigit((unsigned char)*d) ? strtoul(d, (char **)&d, 10) : 1;
            if (n > REPEATS_MOST || (repeats *= n > 0 ? n : 1) > REPEATS_MOST) return "more than 1000 repetitions";
            if (*d == '}' || *d == '\0') break;
        }
    }
    return NULL;
}

enum nnv_status nnv_regex_new(const char *text, size_t n, bool fold, struct nnv_regex **regex, struct nnv_err *err) {
    char copy[LONGEST + 1], why[160];
    if (n == 0 || n > LONGEST) return nnv_fail(err, NNV_INVALID, "a regular expression has 1 to %d bytes", LONGEST);
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (refusal(copy) != NULL) return nnv_fail(err, NNV_INVALID, "regular expression '%s': %s", copy, refusal(copy));
    struct nnv_regex *r = calloc(1, sizeof *r);
    if (r == NULL) return nnv_no_memory(err);
    const int code = regcomp(&r->compiled, copy, REG_EXTENDED | REG_NOSUB | (fold ? REG_ICASE : 0));
    if (code == 0) {
        *regex = r;
        return NNV_OK;
    }
    regerror(code, &r->compiled, why, sizeof why);
    free(r);
    if (code == REG_ESPACE) return nnv_no_memory(err);
    return nnv_fail(err, NNV_INVALID, "regular expression '%s': %s", copy, why);
}

bool nnv_regex_found(const struct nnv_regex *regex, const char *s) {
    return regexec(&regex->compiled, s, 0, NULL, 0) == 0;
}

void nnv_regex_free(struct nnv_regex *regex) {
    if (regex == NULL) return;
    regfree(&regex->compiled);
    free(regex);
}
