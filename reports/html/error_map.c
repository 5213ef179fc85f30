/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/html/error_map.h"

#include <png.h>

enum { AT_BOUND = 128 };

static void put(png_structp png, png_bytep data, png_size_t n) {
    nnv_text_add_n(png_get_io_ptr(png), (const char *)data, n);
}

static void flush(png_structp png) { (void)png; }

/** The colour that lies part/whole of the way from one to another. */
static png_byte between(int from, int to, int part, int whole) { return (png_byte)(from + (to - from) * part / whole); }

static void set_palette(png_structp png, png_infop info) {
    static const int orange[3] = {0xf5, 0xa0, 0x3c}, red[3] = {0x8e, 0x04, 0x12};
    png_color colour[256];
    png_byte alpha[AT_BOUND + 1];
    for (int i = 0; i <= AT_BOUND; i++) {
        colour[i] = (png_color){0x80, 0x80, 0x80};
        alpha[i] = between(20, 180, i, AT_BOUND);
    }
    for (int i = AT_BOUND + 1; i < 256; i++) {
        int part = i - AT_BOUND - 1, whole = 254 - AT_BOUND;
        colour[i] = (png_color){between(orange[0], red[0], part, whole), between(orange[1], red[1], part, whole),
                                between(orange[2], red[2], part, whole)};
    }
    png_set_PLTE(png, info, colour, 256);
    png_set_tRNS(png, info, alpha, AT_BOUND + 1, NULL);
}

/** libpng leaves by a jump when it is out of memory; the caller frees png and info. */
static bool encode(png_structp png, png_infop info, const uint8_t *cells, uint32_t rows, uint32_t cols) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_set_IHDR(png, info, cols, rows, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    set_palette(png, info);
    png_write_info(png, info);
    for (uint32_t row = 0; row < rows; row++) png_write_row(png, cells + (size_t)row * cols);
    png_write_end(png, info);
    return true;
}

bool nnv_error_map_png(struct nnv_text *out, const uint8_t *cells, uint32_t rows, uint32_t cols) {
    if (rows == 0 || cols == 0 || rows > NNV_ERROR_MAP_SIDE_MAX || cols > NNV_ERROR_MAP_SIDE_MAX) return false;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    bool ok = false;
    if (info != NULL) {
        png_set_write_fn(png, out, put, flush);
        ok = encode(png, info, cells, rows, cols) && !out->failed;
    }
    png_destroy_write_struct(&png, &info);
    return ok;
}
