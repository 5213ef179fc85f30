/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices, with OpenBLAS and where it cannot be loaded. */
#include "base/matmul.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/test.h"

static bool hidden;

/* In place of the C library's: there is no OpenBLAS while it is hidden. */
void *dlopen(const char *file, int mode) {
    void *(*next)(const char *, int) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return hidden || !next ? NULL : next(file, mode);
}

enum { M = 5, N = 19, K = 600 };

/** Integers: exact in any order. True if the products are right. */
static bool products_are_right(bool transposed) {
    static double a[M * K], b[K * N], c[M * N];
    bool right = true;
    for (int i = 0; i < M * K; i++) a[i] = i % 17 - 8;
    for (int i = 0; i < K * N; i++) b[i] = i % 13 - 5;
    for (int i = 0; i < M * N; i++) c[i] = 7; /* what stood there before is no part of it */
    nnv_dgemm(transposed, M, N, K, a, b, c);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int p = 0; p < K; p++) sum += a[i * K + p] * (transposed ? b[j * K + p] : b[p * N + j]);
            right = right && c[i * N + j] == sum;
        }
    return right;
}

static bool all_are_right(void) {
    double none[2] = {1, 1};
    nnv_dgemm(true, 1, 2, 0, none, none, none);
    nnv_dgemm(false, 0, 2, 0, none, none, none);
    return products_are_right(false) && products_are_right(true) && none[0] == 0 && none[1] == 0;
}

static void without_openblas(void **state) {
    (void)state;
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
        hidden = true;
        _exit(all_are_right() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void with_openblas(void **state) {
    (void)state;
    assert_true(all_are_right());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_openblas), cmocka_unit_test(with_openblas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
