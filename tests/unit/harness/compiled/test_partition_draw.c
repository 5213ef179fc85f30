/* SPDX-License-Identifier: Apache-2.0 */
/** The graph of a program as SVG: where its nodes stand. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness/compiled/partition_graph.h"
#include "tests/kit/test.h"

/** Where the node of this label begins, in pixels from the left. */
static long left_of(const char *svg, const char *label) {
    char title[40];
    snprintf(title, sizeof title, "<title>%s</title><rect x=\"", label);
    const char *at = strstr(svg, title);
    assert_non_null(at);
    return strtol(at + strlen(title), NULL, 10);
}

/** Two layers, each node of the upper one joined to the one across: the lower one is turned round, so that no edges
 * cross. */
static void test_edges_do_not_cross(void **state) {
    static const char *const upper[] = {"a0", "a1", "a2", "a3"}, *const lower[] = {"b0", "b1", "b2", "b3"};
    struct nnv_graph_node nodes[8];
    struct nnv_graph_edge edges[4];
    const struct nnv_partition_graph graph = {nodes, edges, 8, 4};
    struct nnv_text svg = {0};
    struct nnv_err err;
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        nodes[i] = (struct nnv_graph_node){.kind = NNV_GRAPH_HOST, .label = upper[i], .stands_for = 1};
        nodes[4 + i] = (struct nnv_graph_node){.kind = NNV_GRAPH_HOST, .label = lower[i], .stands_for = 1, .layer = 1};
        edges[i] = (struct nnv_graph_edge){i, 4 + (3 - i), 16};
    }
    assert_int_equal(nnv_graph_draw(&graph, "across", &svg, &err), NNV_OK);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(left_of(svg.data, upper[i]), left_of(svg.data, lower[3 - i]));
        assert_true(i == 0 || left_of(svg.data, upper[i - 1]) < left_of(svg.data, upper[i]));
    }
    nnv_text_free(&svg);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges_do_not_cross)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
