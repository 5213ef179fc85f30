/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/strip.h"

#include <stdlib.h>

/** A word for each of two rows. */
typedef uint64_t words __attribute__((vector_size(16)));

enum { WORD = 64, TAPE_LEAST = 4096 };

/* The next n signs, at most 64, from the lowest bit on; the bits above say nothing. */
static uint64_t next_signs(struct nnv_signs *s, int n) {
    const uint64_t first = s->bits;
    if (s->left >= n) {
        s->bits = n < WORD ? s->bits >> n : 0;
        s->left -= n;
        return first;
    }
    const int had = s->left, used = n - had;
    const uint64_t more = nnv_rng_u64(&s->rng);
    s->bits = used < WORD ? more >> used : 0;
    s->left = WORD - used;
    return had > 0 ? first | more << had : more;
}

/* The magnitudes of n hooks, with their signs in either row. */
static void sign(struct nnv_noise *noise, bool both, const struct nnv_hook *hook, size_t n, nnv_two *to) {
    for (size_t at = 0; at < n; at += WORD) {
        const size_t end = n - at < WORD ? n : at + WORD;
        const uint64_t up = next_signs(&noise->signs, (int)(end - at));
        words down = {~up, both ? ~next_signs(&noise->others, (int)(end - at)) : ~up};
        for (size_t i = at; i < end; i++, down >>= 1)
            to[i] = (nnv_two)((words)nnv_two_of(hook[i].magnitude) ^ down << (WORD - 1));
    }
}

bool nnv_noise_replay_all(struct nnv_kernel *k, size_t n, double *y) {
    struct nnv_noise *noise = k->noise;
    if (noise && k->row == 0) noise->replays = true;
    if (!noise || !k->same_inputs || noise->hazard || noise->at > 0 || noise->count != n) return false;
    for (size_t at = 0; at < n; at += WORD) {
        const size_t end = n - at < WORD ? n : at + WORD;
        uint64_t down = ~next_signs(&noise->signs, (int)(end - at));
        for (size_t i = at; i < end; i++, down >>= 1) {
            const words magnitude = (words)nnv_two_of(noise->tape[i].magnitude) ^ down << (WORD - 1);
            y[i] = noise->tape[i].value + ((nnv_two)magnitude)[0];
        }
    }
    noise->at = n;
    return true;
}

/* Room for so many hooks more; false if there is no memory. */
static bool make_room(struct nnv_noise *n, size_t more) {
    while (n->room < n->count + more)
        if (!nnv_noise_grow(n)) return false;
    return true;
}

static bool make_strip(struct nnv_noise *n, size_t hooks) {
    if (hooks <= n->strip_room) return true;
    const size_t room = hooks < TAPE_LEAST ? TAPE_LEAST : hooks;
    free(n->strip);
    n->strip = aligned_alloc(64, (room * sizeof(nnv_two) + 63) / 64 * 64);
    n->strip_room = n->strip ? room : 0;
    n->no_memory = n->no_memory || !n->strip;
    return n->strip != NULL;
}

struct nnv_strip nnv_strip_open(struct nnv_kernel *k, size_t n, size_t notes) {
    struct nnv_strip s = {.k = k};
    struct nnv_noise *noise = k->noise;
    noise->strips = true;
    size_t *const at = k->row > 0 ? &noise->at : &noise->count;
    if (k->row == 0 ? !make_room(noise, n + notes) : !make_strip(noise, n)) return s;
    noise->broken = noise->broken || (k->row > 0 && n + notes > noise->count - *at);
    if (noise->broken) return s;
    s.hook = noise->tape + *at;
    s.note = s.hook + n;
    *at += n + notes;
    if (k->row == 0) return s;
    sign(noise, k->next > 0, s.hook, n, noise->strip);
    s.noise = noise->strip;
    return s;
}
