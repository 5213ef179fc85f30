/* SPDX-License-Identifier: Apache-2.0 */
/** @file case.c report.html: what there is to see of one failing case. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/html/error_map.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum {
    TEXT_MAX = 6000, /**< bytes of a reason, log or backtrace */
    OUTPUTS_MAX = 4, /**< outputs of a case with picture and tables */
    OUTPUTS_LISTED = 16,
    WINDOW_SIDE = 12, /**< larger windows are not from nnvts */
    PICTURE_WIDTH = 288,
    PICTURE_HEIGHT = 192,
};

/* --------------------------------------------------------------- the picture */

/** Size on the page of a side of n cells: whole pixels a cell. */
static unsigned shown(uint32_t n, unsigned most) {
    unsigned cell = most / n;
    return n * (cell < 1 ? 1 : cell > 14 ? 14 : cell);
}

/** The bytes of an error map, malloc'ed; NULL if it is absent or damaged. */
static uint8_t *error_cells(const json_t *map, uint32_t *rows, uint32_t *cols) {
    uint64_t r = nnv_json_count(map, "rows"), c = nnv_json_count(map, "cols");
    const json_t *data = json_object_get(map, "data");
    if (r == 0 || c == 0 || r > NNV_ERROR_MAP_SIDE_MAX || c > NNV_ERROR_MAP_SIDE_MAX || !json_is_string(data))
        return NULL;
    const size_t bytes = (size_t)(r * c);
    uint8_t *cells = malloc(bytes);
    if (cells != NULL && !nnv_base64_decode(json_string_value(data), json_string_length(data), cells, bytes)) {
        free(cells);
        cells = NULL;
    }
    *rows = (uint32_t)r;
    *cols = (uint32_t)c;
    return cells;
}

/** How the cells are divided into planes of an image; one plane where the output is no image, or the record damaged. */
struct planes {
    uint32_t down, across, count, channels;
};

static struct planes read_planes(const json_t *map, uint32_t rows, uint32_t cols) {
    const json_t *j = json_object_get(map, "planes");
    const uint64_t down = nnv_json_count(j, "down"), across = nnv_json_count(j, "across");
    const uint64_t count = nnv_json_count(j, "count"), channels = nnv_json_count(j, "channels");
    if (down == 0 || across == 0 || down > rows || across > cols || rows % down || cols % across || count == 0 ||
        count > down * across || channels > UINT32_MAX)
        return (struct planes){1, 1, 1, 1};
    return (struct planes){(uint32_t)down, (uint32_t)across, (uint32_t)count, (uint32_t)channels};
}

/** One plane as a picture, cell pixels a cell. False when out of memory. */
static bool add_plane(struct nnv_text *t, const uint8_t *cells, uint32_t stride, uint32_t rows, uint32_t cols,
                      unsigned cell, const char *name) {
    struct nnv_text png = {0};
    uint8_t *plane = malloc((size_t)rows * cols);
    size_t beyond = 0;
    for (uint32_t r = 0; plane != NULL && r < rows; r++)
        memcpy(plane + (size_t)r * cols, cells + (size_t)r * stride, cols);
    for (size_t i = 0; plane != NULL && i < (size_t)rows * cols; i++) beyond += plane[i] > 128;
    const bool ok = plane != NULL && nnv_error_map_png(&png, plane, rows, cols);
    if (ok) {
        nnv_text_addf(t,
                      "<img width=\"%u\" height=\"%u\" alt=\"%s%zu of %zu cells are beyond the bound\" "
                      "src=\"data:image/png;base64,",
                      cols * cell, rows * cell, name, beyond, (size_t)rows * cols);
        nnv_text_add_base64(t, png.data, png.len);
        nnv_text_add(t, "\"/>");
    }
    nnv_text_free(&png);
    free(plane);
    return ok;
}

static void add_error_map(struct nnv_text *t, const json_t *map) {
    uint32_t rows = 0, cols = 0;
    uint8_t *cells = error_cells(map, &rows, &cols);
    if (cells == NULL) return;
    const struct planes p = read_planes(map, rows, cols);
    const uint32_t height = rows / p.down, width = cols / p.across;
    const unsigned wide = shown(cols, PICTURE_WIDTH) / cols, high = shown(rows, PICTURE_HEIGHT) / rows;
    const unsigned cell = wide < high ? wide : high;
    size_t beyond = 0;
    for (size_t i = 0; i < (size_t)rows * cols; i++) beyond += cells[i] > 128;
    nnv_text_addf(t,
                  "<figure class=\"errors\"><figcaption>error over bound</figcaption><div class=\"planes\" "
                  "style=\"grid-template-columns:repeat(%" PRIu32 ",max-content)\">",
                  p.across);
    for (uint32_t k = 0; k < p.count; k++) {
        char name[32] = "";
        if (p.count > 1) snprintf(name, sizeof name, "plane %" PRIu32 ": ", k);
        if (!add_plane(t, cells + (size_t)(k / p.across) * height * cols + (size_t)(k % p.across) * width, cols, height,
                       width, cell, name))
            break;
    }
    nnv_text_addf(t, "</div><p class=\"scale\"><span>0</span><i></i><span>bound</span><i class=\"hot\"></i>"
                     "<span>128\xc3\x97</span></p><p class=\"soft\">");
    if (p.count > 1 && p.channels > 1)
        nnv_text_addf(t, "%" PRIu32 " planes, each of up to %" PRIu32 " channels, ", p.count, p.channels);
    else if (p.count > 1)
        nnv_text_addf(t, "%" PRIu32 " planes, one a batch and channel, ", p.count);
    nnv_text_addf(t, "%" PRIu32 " \xc3\x97 %" PRIu32 " cells, %zu beyond the bound</p></figure>\n", height, width,
                  beyond);
    free(cells);
}

/* ---------------------------------------------------------------- the tables */

/** The part of an output around its worst element. */
struct window {
    uint64_t row, col; /**< where it begins in the output */
    size_t rows, cols;
    uint64_t worst_row, worst_col; /**< in the output; UINT64_MAX: not known */
    const json_t *expected, *actual, *bound;
};

static uint64_t item_count(const json_t *array, size_t i) {
    json_int_t n = json_integer_value(json_array_get(array, i));
    return n < 0 ? 0 : (uint64_t)n;
}

/** Row and column of the worst element in the output seen as a matrix. */
static void find_worst(struct window *w, const json_t *output) {
    const json_t *at = json_object_get(json_object_get(output, "worst"), "at");
    const json_t *dims = json_object_get(output, "dims");
    size_t rank = json_array_size(dims);
    w->worst_row = w->worst_col = UINT64_MAX;
    if (json_array_size(at) != rank) return;
    w->worst_row = 0;
    w->worst_col = rank == 0 ? 0 : item_count(at, rank - 1);
    for (size_t i = 0; i + 1 < rank; i++) w->worst_row = w->worst_row * item_count(dims, i) + item_count(at, i);
}

/** False if there is no window, or one that does not fit together. */
static bool read_window(struct window *w, const json_t *output) {
    const json_t *window = json_object_get(output, "window"), *at = json_object_get(window, "at");
    uint64_t rows = nnv_json_count(window, "rows"), cols = nnv_json_count(window, "cols");
    if (rows == 0 || cols == 0 || rows > WINDOW_SIDE || cols > WINDOW_SIDE) return false;
    w->row = item_count(at, 0);
    w->col = item_count(at, 1);
    w->rows = (size_t)rows;
    w->cols = (size_t)cols;
    w->expected = json_object_get(window, "expected");
    w->actual = json_object_get(window, "actual");
    w->bound = json_object_get(window, "bound");
    size_t n = w->rows * w->cols;
    find_worst(w, output);
    return json_array_size(w->expected) == n && json_array_size(w->actual) == n && json_array_size(w->bound) == n;
}

static void add_real(struct nnv_text *t, double v) {
    if (isnan(v))
        nnv_text_add(t, "NaN");
    else if (isinf(v))
        nnv_text_add(t, v < 0 ? "\xe2\x88\x92\xe2\x88\x9e" : "\xe2\x88\x9e");
    else
        nnv_text_addf(t, "%.6g", v);
}

static void add_number(struct nnv_text *t, const json_t *value) {
    double v;
    if (nnv_json_number(value, &v))
        add_real(t, v);
    else
        nnv_text_add(t, "?");
}

/** a - b; 0 where they are the same infinity or both NaN. */
static void add_difference(struct nnv_text *t, const json_t *a, const json_t *b) {
    double x, y;
    if (!nnv_json_number(a, &x) || !nnv_json_number(b, &y))
        nnv_text_add(t, "?");
    else
        add_real(t, x == y || (isnan(x) && isnan(y)) ? 0 : x - y);
}

/** True if element i of the window is beyond its bound. */
static bool is_wrong(const struct window *w, size_t i) {
    double expected, actual, bound;
    if (!nnv_json_number(json_array_get(w->expected, i), &expected)) return false;
    if (!nnv_json_number(json_array_get(w->actual, i), &actual)) return false;
    if (!nnv_json_number(json_array_get(w->bound, i), &bound)) return false;
    if (isnan(expected) || isnan(actual)) return isnan(expected) != isnan(actual);
    if (isinf(expected) || isinf(actual)) return expected != actual;
    return !(fabs(actual - expected) <= bound);
}

/** values: NULL: the differences of the actual and the expected ones. */
static void add_table(struct nnv_text *t, const struct window *w, const char *caption, const json_t *values) {
    nnv_text_addf(t, "<figure class=\"win\"><figcaption>%s</figcaption><div><table><thead><tr><td></td>", caption);
    for (size_t c = 0; c < w->cols; c++) nnv_text_addf(t, "<th scope=\"col\">%" PRIu64 "</th>", w->col + c);
    nnv_text_add(t, "</tr></thead><tbody>\n");
    for (size_t r = 0; r < w->rows; r++) {
        nnv_text_addf(t, "<tr><th scope=\"row\">%" PRIu64 "</th>", w->row + r);
        for (size_t c = 0; c < w->cols; c++) {
            size_t i = r * w->cols + c;
            bool worst = w->row + r == w->worst_row && w->col + c == w->worst_col;
            const char *class = worst ? " class=\"w x\"" : is_wrong(w, i) ? " class=\"w\"" : "";
            nnv_text_addf(t, "<td%s>", class);
            if (values != NULL)
                add_number(t, json_array_get(values, i));
            else
                add_difference(t, json_array_get(w->actual, i), json_array_get(w->expected, i));
            nnv_text_add(t, "</td>");
        }
        nnv_text_add(t, "</tr>\n");
    }
    nnv_text_add(t, "</tbody></table></div></figure>\n");
}

/** True if all bounds of the window are the same number. */
static bool one_bound(const struct window *w) {
    for (size_t i = 1; i < w->rows * w->cols; i++)
        if (!json_equal(json_array_get(w->bound, 0), json_array_get(w->bound, i))) return false;
    return true;
}

static void add_window(struct nnv_text *t, const json_t *output) {
    struct window w;
    if (!read_window(&w, output)) return;
    bool one = one_bound(&w);
    nnv_text_add(t, "<div class=\"tables\">");
    add_table(t, &w, "expected", w.expected);
    add_table(t, &w, "actual", w.actual);
    add_table(t, &w, "error", NULL);
    if (!one) add_table(t, &w, "allowed error", w.bound);
    nnv_text_add(t, "</div>\n<p class=\"soft note\">Underlined values are beyond the allowed error");
    if (one) {
        nnv_text_add(t, ", here ");
        add_number(t, json_array_get(w.bound, 0));
        nnv_text_add(t, " everywhere");
    }
    nnv_text_add(t, "; the framed one is the worst. Rows count all dimensions but the last.</p>\n");
}

/* --------------------------------------------------------------- the outputs */

/** Adds "[1,7,5,12]". */
static void add_indices(struct nnv_text *t, const json_t *array) {
    size_t n = json_array_size(array), most = 16;
    nnv_text_add(t, "[");
    for (size_t i = 0; i < n && i < most; i++) nnv_text_addf(t, "%s%" PRIu64, i == 0 ? "" : ",", item_count(array, i));
    nnv_text_add(t, n > most ? ",\xe2\x80\xa6]" : "]");
}

static void add_stat(struct nnv_text *t, const char *name, const json_t *value) {
    if (value == NULL) return;
    nnv_text_addf(t, "<div><dt>%s</dt><dd>", name);
    add_number(t, value);
    nnv_text_add(t, "</dd></div>");
}

static void add_stats(struct nnv_text *t, const json_t *output) {
    const json_t *worst = json_object_get(output, "worst");
    nnv_text_addf(t, "<dl class=\"stats\"><div><dt>wrong</dt><dd>%s of %s</dd></div>",
                  nnv_count(nnv_json_count(output, "wrong")).s, nnv_count(nnv_json_count(output, "compared")).s);
    if (nnv_json_count(output, "not_compared") > 0)
        nnv_text_addf(t, "<div><dt>not compared</dt><dd>%s</dd></div>",
                      nnv_count(nnv_json_count(output, "not_compared")).s);
    if (json_is_object(worst)) {
        nnv_text_add(t, "<div><dt>worst at</dt><dd>");
        add_indices(t, json_object_get(worst, "at"));
        nnv_text_add(t, "</dd></div>");
        add_stat(t, "expected", json_object_get(worst, "expected"));
        add_stat(t, "actual", json_object_get(worst, "actual"));
        add_stat(t, "error", json_object_get(worst, "error"));
        add_stat(t, "allowed", json_object_get(worst, "bound"));
    }
    add_stat(t, "largest ULP", json_object_get(output, "max_ulp"));
    add_stat(t, "bias", json_object_get(output, "bias"));
    add_stat(t, "mean square", json_object_get(output, "mse"));
    add_stat(t, "L1", json_object_get(output, "l1"));
    add_stat(t, "L2", json_object_get(output, "l2"));
    add_stat(t, "max", json_object_get(output, "max"));
    nnv_text_add(t, "</dl>\n");
}

static void add_output(struct nnv_text *t, const json_t *output, bool pictures) {
    nnv_text_addf(t, "<div class=\"out\"><h4>output %" PRIu64 " <code>", nnv_json_count(output, "index"));
    add_indices(t, json_object_get(output, "dims"));
    nnv_page_put(t, "</code> ", nnv_json_text(output, "type", ""), 64, " <span class=\"soft\">");
    const char *profile = nnv_json_text(output, "profile", "");
    nnv_html_cut(t, profile, 40);
    nnv_text_add(t, *profile ? ": " : "");
    nnv_html_cut(t, nnv_json_text(output, "rule", ""), 200);
    nnv_text_add(t, "</span></h4>\n");
    add_stats(t, output);
    if (pictures && nnv_json_count(output, "wrong") > 0) {
        nnv_text_add(t, "<div class=\"views\">");
        add_error_map(t, json_object_get(output, "heat"));
        add_window(t, output);
        nnv_text_add(t, "</div>");
    }
    nnv_text_add(t, "</div>\n");
}

static void add_outputs(struct nnv_text *t, const json_t *outputs) {
    size_t i, n = json_array_size(outputs), pictures = 0;
    const json_t *output;
    json_array_foreach(outputs, i, output) {
        if (!json_is_object(output)) continue;
        if (i == OUTPUTS_LISTED) {
            nnv_text_addf(t, "<p class=\"soft\">and %zu more outputs</p>\n", n - i);
            break;
        }
        bool wrong = nnv_json_count(output, "wrong") > 0;
        add_output(t, output, wrong && pictures < OUTPUTS_MAX);
        pictures += wrong;
    }
}

/* ------------------------------------------------------------------ the case */

/** True for a path that leads into the folder of the run and nowhere else. */
static bool is_inside(const char *path) { return strncmp(path, "dumps/", 6) == 0 && strstr(path, "..") == NULL; }

static void add_meta(struct nnv_text *t, const struct nnv_report_case *c, const json_t *record) {
    const char *dump = nnv_json_text(record, "dump", NULL), *phase = nnv_json_text(record, "phase", NULL);
    const json_t *signal = json_object_get(record, "signal");
    nnv_text_add(t, "<p class=\"meta soft\">");
    nnv_text_addf(t, "%.3g ms, %.3g ms of them in the driver", nnv_case_ms(c), nnv_case_driver_us(c) / 1000);
    if (phase != NULL) {
        nnv_text_add(t, " \xc2\xb7 in ");
        nnv_html_cut(t, phase, 64);
    }
    if (json_is_string(signal)) {
        nnv_text_add(t, " \xc2\xb7 ");
        nnv_html_cut(t, json_string_value(signal), 64);
    } else if (json_is_integer(signal)) {
        nnv_text_addf(t, " \xc2\xb7 signal %" JSON_INTEGER_FORMAT, json_integer_value(signal));
    }
    if (dump != NULL) {
        bool inside = is_inside(dump);
        nnv_text_add(t, " \xc2\xb7 dump ");
        if (inside) nnv_page_text(t, "<a href=\"", dump, "\">");
        nnv_html_cut(t, dump, 1000);
        nnv_text_add(t, inside ? "</a>" : "");
    }
    nnv_text_add(t, "</p>\n");
}

static void add_more(struct nnv_text *t, const char *title, const char *text) {
    if (*text == '\0') return;
    nnv_text_addf(t, "<details class=\"more\"><summary>%s</summary><pre>", title);
    nnv_html_cut(t, text, TEXT_MAX);
    nnv_text_add(t, "</pre></details>\n");
}

/** What the case is for: what its suite verifies, and of which operation. */
static void add_purpose(struct nnv_html *h, const struct nnv_report_case *c) {
    const struct nnv_report *r = h->r;
    const json_t *suite = json_object_get(json_object_get(r->header, "suites"), r->suites.key[c->suite]);
    const char *verifies = nnv_json_text(suite, "summary", ""), *op = r->ops.key[c->op], *type = r->types.key[c->type];
    if (*verifies == '\0') return;
    nnv_page_put(&h->t, "<p class=\"soft\">What it is for: ", verifies, 400, "");
    if (*op != '\0') nnv_page_put(&h->t, "; of ", op, 100, "");
    if (*type != '\0') nnv_page_put(&h->t, " in ", type, 100, "");
    nnv_text_add(&h->t, "</p>\n");
}

void nnv_html_case_body(struct nnv_html *h, const struct nnv_report_case *c, const json_t *record) {
    struct nnv_text *t = &h->t;
    const char *reason = nnv_json_text(record, "reason", ""), *replay = nnv_json_text(record, "replay", NULL);
    nnv_page_put(t, "<pre class=\"reason\">", *reason == '\0' ? "no reason was recorded" : reason, TEXT_MAX,
                 "</pre>\n");
    if (replay != NULL && *replay != '\0') {
        struct nnv_text tried = {0};
        nnv_text_add_tried(&tried, c->verdict, nnv_json_text(record, "again", NULL));
        nnv_page_put(t, "<p class=\"again\"><code class=\"cmd\">", replay, TEXT_MAX, "</code></p>\n");
        if (tried.len > 0) nnv_text_addf(t, "<p class=\"soft\">%s</p>\n", tried.data);
        nnv_text_free(&tried);
    }
    add_purpose(h, c);
    add_meta(t, c, record);
    add_outputs(t, json_object_get(record, "outputs"));
    add_more(t, "What the driver printed", nnv_json_text(record, "log", ""));
    add_more(t, "Backtrace", nnv_json_text(record, "backtrace", ""));
}
