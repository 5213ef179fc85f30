/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 48 };

static size_t differences(const char *a, const char *b) {
    size_t row[WORD_MAX + 1], n = strnlen(b, WORD_MAX);
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 0; a[i] != '\0' && i < WORD_MAX; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

struct nnv_nearest nnv_nearest_to(const char *word) {
    return (struct nnv_nearest){.word = word, .distance = strlen(word) / 3 + 2};
}

bool nnv_nearest_see(struct nnv_nearest *n, const char *known) {
    size_t d = differences(n->word, known), k = strlen(n->word);
    if (k > 1 && strncasecmp(n->word, known, k) == 0) d = 0;
    if (d >= n->distance) return false;
    n->distance = d;
    n->best = known;
    return true;
}
