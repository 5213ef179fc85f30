/* SPDX-License-Identifier: Apache-2.0 */
/** What a worker tells the supervisor through memory that a driver may write over: it comes as it was sent, or not. */

#include "harness/runner/worker/channel.h"
#include "tests/kit/test.h"

#define TEXT(name, words) .name = (words), .name##_bytes = sizeof(words) - 1

static const struct nnv_record full = {
    .index = 7,
    .verdict = NNVTS_PASS,
    .why = 3,
    .mode = 2,
    .damaged = 1,
    .compared = 100,
    .not_compared = 5,
    .values = 90,
    .start_ns = 1234567890123,
    .ns = 4567,
    .driver_ns = 89,
    .counts = {[NNVTS_PASS] = 4, [NNVTS_FAIL] = 1},
    TEXT(reason, "it\nfails"),
    TEXT(outputs, "[{\"index\":0,\"dims\":[1,3,107,37],\"compared\":100}]"),
    TEXT(log, "words of the driver\0 with a NUL"),
    TEXT(uses, "rank=4"),
    TEXT(devices, "npu=2"),
    TEXT(drift, "[1,2]"),
    TEXT(answer, "\1\2\3"),
};
static const struct nnv_record bare = {.index = 1};

static struct {
    struct nnv_hub *hub;
    struct nnv_channel *channel;
    char *buffer;
    size_t cap;
} fx;

static int begin(void **state) {
    (void)state;
    fx.hub = nnv_shared_new(sizeof *fx.hub);
    fx.channel = nnv_shared_new(sizeof *fx.channel);
    return fx.hub == NULL || fx.channel == NULL;
}

static int end(void **state) {
    (void)state;
    nnv_shared_free(fx.hub, sizeof *fx.hub);
    nnv_shared_free(fx.channel, sizeof *fx.channel);
    free(fx.buffer);
    memset(&fx, 0, sizeof fx);
    return 0;
}

static void push(const struct nnv_record *r) { nnv_channel_push(fx.channel, fx.hub, r); }

static int pop(struct nnv_record *r) { return nnv_channel_pop(fx.channel, r, &fx.buffer, &fx.cap); }

static unsigned char *at(uint64_t position) { return &fx.channel->ring[position % NNV_CHANNEL_RING]; }

static void assert_text(const char *text, uint32_t n, const char *expected, uint32_t bytes) {
    assert_int_equal(n, bytes);
    if (n > 0) assert_memory_equal(text, expected, n);
}

static void assert_popped(const struct nnv_record *e) {
    struct nnv_record r;
    assert_int_equal(pop(&r), 1);
    assert_true(r.index == e->index && r.verdict == e->verdict && r.why == e->why && r.mode == e->mode);
    assert_true(r.damaged == e->damaged && r.compared == e->compared && r.not_compared == e->not_compared);
    assert_true(r.values == e->values && r.start_ns == e->start_ns && r.ns == e->ns && r.driver_ns == e->driver_ns);
    assert_memory_equal(r.counts, e->counts, sizeof r.counts);
    assert_text(r.reason, r.reason_bytes, e->reason, e->reason_bytes);
    assert_text(r.outputs, r.outputs_bytes, e->outputs, e->outputs_bytes);
    assert_text(r.log, r.log_bytes, e->log, e->log_bytes);
    assert_text(r.uses, r.uses_bytes, e->uses, e->uses_bytes);
    assert_text(r.devices, r.devices_bytes, e->devices, e->devices_bytes);
    assert_text(r.drift, r.drift_bytes, e->drift, e->drift_bytes);
    assert_text(r.answer, r.answer_bytes, e->answer, e->answer_bytes);
}

static void test_in_order(void **state) {
    (void)state;
    struct nnv_record r;
    assert_int_equal(pop(&r), 0);
    push(&full);
    push(&bare);
    push(&full);
    assert_popped(&full);
    assert_popped(&bare);
    assert_popped(&full);
    assert_int_equal(pop(&r), 0);
}

/** Alters each bit of what waits, one after the other. */
static void alter_each(void) {
    struct nnv_record r;
    const uint64_t from = atomic_load(&fx.channel->tail), to = atomic_load(&fx.channel->head);
    assert_true(to > from);
    for (uint64_t i = from; i < to; i++)
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            *at(i) ^= (unsigned char)bit;
            if (pop(&r) != -1) fail_msg("byte %d of %d: altered, but taken", (int)(i - from), (int)(to - from));
            *at(i) ^= (unsigned char)bit;
        }
}

static void test_altered(void **state) {
    (void)state;
    push(&full);
    alter_each();
    assert_popped(&full);
    push(&bare);
    alter_each();
    assert_popped(&bare);
}

/** At the end of the ring, where it goes on at its beginning. */
static void test_altered_across_the_end(void **state) {
    (void)state;
    atomic_store(&fx.channel->head, (uint64_t)3 * NNV_CHANNEL_RING - 60);
    atomic_store(&fx.channel->tail, (uint64_t)3 * NNV_CHANNEL_RING - 60);
    push(&full);
    alter_each();
    assert_popped(&full);
}

/** A record that came before, whole, where another one is due. */
static void test_stale(void **state) {
    (void)state;
    struct nnv_record r;
    push(&full);
    const uint64_t n = atomic_load(&fx.channel->head);
    assert_popped(&full);
    memcpy(at(n), at(0), n);
    atomic_store(&fx.channel->head, 2 * n);
    assert_int_equal(pop(&r), -1);
    atomic_store(&fx.channel->tail, 0);
    assert_popped(&full);
}

static void test_positions(void **state) {
    (void)state;
    struct nnv_record r;
    push(&full);
    const uint64_t n = atomic_load(&fx.channel->head);
    for (uint64_t head = 1; head < n; head++) {
        atomic_store(&fx.channel->head, head);
        assert_int_equal(pop(&r), -1);
    }
    atomic_store(&fx.channel->head, (uint64_t)NNV_CHANNEL_RING + 1);
    assert_int_equal(pop(&r), -1);
    atomic_store(&fx.channel->head, n);
    assert_popped(&full);
}

/** What does not fit is cut, and is whole then, too. */
static void test_cut(void **state) {
    (void)state;
    const uint32_t much = NNV_CHANNEL_RING;
    char *long_text = malloc(much);
    assert_non_null(long_text);
    memset(long_text, 'a', much);
    struct nnv_record r = full, got;
    r.answer = long_text;
    r.answer_bytes = much;
    push(&r);
    r.answer_bytes = 0;
    assert_popped(&r);
    r = full;
    r.outputs = r.reason = r.log = long_text;
    r.outputs_bytes = r.reason_bytes = r.log_bytes = much;
    push(&r);
    *at(atomic_load(&fx.channel->head) - full.drift_bytes - 1) ^= 1;
    assert_int_equal(pop(&got), -1);
    *at(atomic_load(&fx.channel->head) - full.drift_bytes - 1) ^= 1;
    assert_int_equal(pop(&got), 1);
    assert_true(got.log_bytes == NNV_CHANNEL_CUT && got.outputs_bytes == 0 && got.answer_bytes == 0);
    assert_memory_equal(got.reason + NNV_CHANNEL_CUT - 1, "a\n(too long", 11);
    assert_memory_equal(got.reason + got.reason_bytes - 9, "left out)", 9);
    free(long_text);
}

static void test_holds_only(void **state) {
    (void)state;
    struct nnv_record r;
    push(&full);
    const uint64_t n = atomic_load(&fx.channel->head);
    assert_int_equal(pop(&r), 1);
    assert_true(nnv_channel_holds_only(fx.channel, &r));
    for (uint64_t i = n; i < NNV_CHANNEL_RING; i += i == n ? NNV_CHANNEL_RING - 1 - n : 1) {
        *at(i) = 1;
        assert_false(nnv_channel_holds_only(fx.channel, &r));
        *at(i) = 0;
    }
    assert_true(nnv_channel_holds_only(fx.channel, &r));
}

static void test_begun(void **state) {
    (void)state;
    struct nnv_begun b;
    struct nnv_channel *c = fx.channel;
    assert_false(nnv_channel_begun(c, &b)); /* no case has */
    nnv_channel_begin(c, &(struct nnv_begun){7, 1234567890123, 42, 4096});
    assert_true(nnv_channel_begun(c, &b));
    assert_true(b.index == 7 && b.start_ns == 1234567890123 && b.log_start == 42 && b.written == 4096);
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t one = UINT64_C(1) << bit;
        if (bit < 32) atomic_fetch_xor(&c->current, (uint32_t)one), assert_false(nnv_channel_begun(c, &b));
        if (bit < 32) atomic_fetch_xor(&c->current, (uint32_t)one);
        _Atomic uint64_t *const word[] = {&c->start_ns, &c->log_start, &c->written, &c->begun_sum};
        for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
            atomic_fetch_xor(word[i], one);
            assert_false(nnv_channel_begun(c, &b));
            atomic_fetch_xor(word[i], one);
        }
    }
    assert_true(nnv_channel_begun(c, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_order, begin, end),
        cmocka_unit_test_setup_teardown(test_altered, begin, end),
        cmocka_unit_test_setup_teardown(test_altered_across_the_end, begin, end),
        cmocka_unit_test_setup_teardown(test_stale, begin, end),
        cmocka_unit_test_setup_teardown(test_positions, begin, end),
        cmocka_unit_test_setup_teardown(test_cut, begin, end),
        cmocka_unit_test_setup_teardown(test_holds_only, begin, end),
        cmocka_unit_test_setup_teardown(test_begun, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
