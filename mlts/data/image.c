/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/data/image.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { MOST_BYTES = 256 << 20, SIGNATURE = 8, CHUNK = 12, HEADER = 13 };

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/** No chunk says that it is larger than the file, and no picture than it may be: libpng believes both, and allocates.
 */
static enum nnv_status check_chunks(const char *path, const uint8_t *file, size_t bytes, struct nnv_err *err) {
    if (bytes < SIGNATURE + CHUNK + HEADER)
        return nnv_fail(err, NNV_INVALID, "%s: %zu bytes (is it a PNG file?)", path, bytes);
    const uint32_t width = big_endian(file + 16), height = big_endian(file + 20);
    if ((uint64_t)width * height > NNV_IMAGE_MOST_PIXELS)
        return nnv_fail(err, NNV_INVALID, "%s: %ux%u pixels are too many", path, width, height);
    for (size_t at = SIGNATURE; bytes - at >= CHUNK;) {
        const uint32_t length = big_endian(file + at);
        if (length > bytes - at - CHUNK)
            return nnv_fail(err, NNV_INVALID, "%s: a part of %u bytes ends behind the file", path, length);
        if (memcmp(file + at + 4, "IEND", 4) == 0) return NNV_OK;
        at += CHUNK + length;
    }
    return nnv_fail(err, NNV_INVALID, "%s: it has no end (was it cut off?)", path);
}

static enum nnv_status decode(png_image *png, const char *path, uint32_t channels, struct nnv_arena *arena,
                              struct nnv_image *image, struct nnv_err *err) {
    static const png_color black;
    png->format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    *image = (struct nnv_image){.width = png->width, .height = png->height, .channels = channels};
    image->data = nnv_arena_alloc(arena, (size_t)png->width * png->height, channels);
    if (!image->data) return nnv_no_memory(err);
    if (png_image_finish_read(png, &black, image->data, 0, NULL)) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s: %s", path, png->message);
}

enum nnv_status nnv_image_read(const char *path, uint32_t channels, struct nnv_arena *arena, struct nnv_image *image,
                               struct nnv_err *err) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    char *file;
    size_t bytes;
    enum nnv_status st = nnv_file_read(path, MOST_BYTES, &file, &bytes, err);
    if (st != NNV_OK) return st;
    st = check_chunks(path, (const uint8_t *)file, bytes, err);
    if (st == NNV_OK && !png_image_begin_read_from_memory(&png, file, bytes))
        st = nnv_fail(err, NNV_INVALID, "%s: %s (is it a PNG file?)", path, png.message);
    if (st == NNV_OK) st = decode(&png, path, channels, arena, image, err);
    png_image_free(&png);
    free(file);
    return st;
}

enum nnv_status nnv_image_write(const char *path, const struct nnv_image *image, struct nnv_err *err) {
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = image->width,
                     .height = image->height,
                     .format = image->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(png);
    void *data = malloc(bytes);
    enum nnv_status st = data ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK && !png_image_write_to_memory(&png, data, &bytes, 0, image->data, 0, NULL))
        st = nnv_fail(err, NNV_IO, "%s: %s", path, png.message);
    if (st == NNV_OK) st = nnv_file_create(path, data, bytes, err);
    free(data);
    return st;
}

/** What one extent of the result takes from the source: sum of weight[k] * source[first + k]. */
struct tap {
    uint32_t first, count;
    const double *weight;
};

static double magnitude(double x) { return x < 0 ? -x : x; }

/** The taps for extents from -> to; arena's, NULL when out of memory. */
static struct tap *taps(uint32_t from, uint32_t to, struct nnv_arena *arena) {
    double ratio = (double)from / to, reach = ratio > 1 ? ratio : 1;
    struct tap *t = NNV_NEW(arena, struct tap, to);
    for (uint32_t i = 0; t && i < to; i++) {
        double centre = (i + 0.5) * ratio;
        int64_t low = (int64_t)(centre - reach), high = (int64_t)(centre + reach) + 1;
        if (low < 0) low = 0;
        if (high > from) high = from;
        double *weight = NNV_NEW(arena, double, (size_t)(high - low)), sum = 0;
        if (!weight) return NULL;
        for (int64_t k = low; k < high; k++) {
            double w = 1 - magnitude((double)k + 0.5 - centre) / reach;
            weight[k - low] = w > 0 ? w : 0;
            sum += weight[k - low];
        }
        for (int64_t k = low; k < high; k++) weight[k - low] /= sum;
        t[i] = (struct tap){(uint32_t)low, (uint32_t)(high - low), weight};
    }
    return t;
}

/** Applies a tap to bytes that lie `step` apart. */
static uint8_t filter(const struct tap *t, const uint8_t *source, size_t step) {
    double sum = 0.5;
    for (uint32_t k = 0; k < t->count; k++) sum += t->weight[k] * source[(t->first + k) * step];
    return sum >= 255 ? 255 : (uint8_t)sum;
}

enum nnv_status nnv_image_resize(const struct nnv_image *image, uint32_t width, uint32_t height,
                                 struct nnv_arena *arena, struct nnv_image *out, struct nnv_err *err) {
    size_t c = image->channels;
    if (!width || !height || !image->width || !image->height || (uint64_t)width * height > NNV_IMAGE_MOST_PIXELS ||
        (uint64_t)width * image->height > NNV_IMAGE_MOST_PIXELS)
        return nnv_fail(err, NNV_INVALID, "a picture of %ux%u pixels can't be made one of %ux%u", image->width,
                        image->height, width, height);
    struct tap *across = taps(image->width, width, arena), *down = taps(image->height, height, arena);
    uint8_t *wide = nnv_arena_alloc(arena, (size_t)width * image->height, c);
    uint8_t *data = nnv_arena_alloc(arena, (size_t)width * height, c);
    if (!across || !down || !wide || !data) return nnv_no_memory(err);
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t k = 0; k < c; k++)
                wide[(y * width + x) * c + k] = filter(&across[x], image->data + y * image->width * c + k, c);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width * c; x++) data[y * width * c + x] = filter(&down[y], wide + x, width * c);
    *out = (struct nnv_image){width, height, image->channels, data};
    return NNV_OK;
}
