/* SPDX-License-Identifier: Apache-2.0 */
/** Who has a place at nnvts-host --listen: strangers cost each other theirs, and never a client's. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers_under_test/host/server/clients.h"
#include "tests/kit/test.h"

static struct host_clients table;

/** Someone from this address, and his process, which does nothing. */
struct someone {
    struct host_client *place;
    pid_t pid;
};

static struct someone come(const char *address) {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } from = {.any.sa_family = strchr(address, ':') ? AF_INET6 : AF_INET};
    void *to = from.any.sa_family == AF_INET ? (void *)&from.four.sin_addr : (void *)&from.six.sin6_addr;
    assert_int_equal(inet_pton(from.any.sa_family, address, to), 1);
    struct someone s = {.place = host_clients_take(&table, &from.any)};
    assert_non_null(s.place);
    s.pid = fork();
    if (s.pid == 0)
        for (;;) pause();
    assert_true(s.pid > 0);
    host_client_served_by(s.place, s.pid);
    return s;
}
/** One who was turned out has been waited for. */
static bool is_there(struct someone s) { return kill(s.pid, 0) == 0; }
static void leave(struct someone s) {
    kill(s.pid, SIGKILL);
    assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
    host_clients_gone(&table, s.pid);
}
static int begin(void **state) {
    (void)state;
    assert_true(host_clients_begin(&table, 2));
    return 0;
}
static int end(void **state) {
    (void)state;
    host_clients_end(&table);
    return 0;
}

/** Whoever comes when all places of strangers are taken costs the oldest one of a single address his. */
static void test_the_oldest_goes(void **state) {
    (void)state;
    struct someone all[HOST_STRANGERS + 3];
    for (int i = 0; i < HOST_STRANGERS + 3; i++) {
        all[i] = come("10.0.0.1");
        for (int k = 0; k <= i; k++) assert_int_equal(is_there(all[k]), k > i - HOST_STRANGERS);
    }
    for (int i = 3; i < HOST_STRANGERS + 3; i++) leave(all[i]);
}

/** A crowd from one address, or from one network of IPv6, costs nobody else a place. */
static void a_crowd(const char *format, const char *other) {
    struct someone all[3 * HOST_STRANGERS], alone = come(other);
    char address[64];
    int left = 0;
    for (int i = 0; i < 3 * HOST_STRANGERS; i++) {
        snprintf(address, sizeof address, format, i);
        all[i] = come(address);
        assert_true(is_there(alone));
    }
    for (int i = 0; i < 3 * HOST_STRANGERS; i++) {
        if (!is_there(all[i])) continue;
        left++;
        leave(all[i]);
    }
    assert_int_equal(left, HOST_STRANGERS - 1);
    leave(alone);
}
static void test_a_crowd_costs_itself(void **state) {
    (void)state;
    a_crowd("10.0.0.1", "10.0.0.2");
    a_crowd("2001:db8::%x", "2001:db8:0:1::1");
    a_crowd("::ffff:10.0.0.1", "::ffff:10.0.0.2");
}

/** Who has proved his key has a place that no stranger takes; there are as many as there are to be. */
static void test_clients_stay(void **state) {
    (void)state;
    const struct someone one = come("10.0.0.1"), two = come("10.0.0.1");
    struct someone all[2 * HOST_STRANGERS];
    assert_true(host_client_proved(&table, one.place));
    assert_true(host_client_proved(&table, two.place));
    for (int i = 0; i < 2 * HOST_STRANGERS; i++) all[i] = come("10.0.0.1");
    assert_true(is_there(one) && is_there(two));
    for (int i = 0; i < 2 * HOST_STRANGERS; i++) assert_int_equal(is_there(all[i]), i >= HOST_STRANGERS);
    const struct someone last = all[2 * HOST_STRANGERS - 1];
    assert_false(host_client_proved(&table, last.place));
    leave(one);
    assert_true(host_client_proved(&table, last.place));
    for (int i = HOST_STRANGERS; i < 2 * HOST_STRANGERS; i++) leave(all[i]);
    leave(two);
}

/** Places that are left, or never had a process, are free again, thousands of times. */
static void test_places_are_free_again(void **state) {
    (void)state;
    const struct sockaddr nowhere = {.sa_family = AF_UNIX};
    for (int i = 0; i < 5000; i++) {
        struct host_client *place = host_clients_take(&table, &nowhere);
        assert_non_null(place);
        host_client_served_by(place, 0);
    }
    for (int i = 0; i < 3; i++) {
        const struct someone one = come("10.0.0.1"), two = come("10.0.0.2");
        assert_true(host_client_proved(&table, one.place));
        assert_true(host_client_proved(&table, two.place));
        leave(one);
        leave(two);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_oldest_goes, begin, end),
        cmocka_unit_test_setup_teardown(test_a_crowd_costs_itself, begin, end),
        cmocka_unit_test_setup_teardown(test_clients_stay, begin, end),
        cmocka_unit_test_setup_teardown(test_places_are_free_again, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
