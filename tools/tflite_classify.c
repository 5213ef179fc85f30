/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TensorFlow Lite application, twice: on TensorFlow Lite's own kernels, and through its NNAPI delegate on whatever
 * drivers libneuralnetworks.so has. Prints the best classes of both, how far the outputs lie apart, and the times.
 *   tflite_classify MODEL.tflite [--labels FILE] [--runs N] INPUT...
 * INPUT, one for each input of the model: a PNG (scaled to the input's size), or a file of the tensor's bytes.
 * Exit code: 0 both name the same class, 1 they do not, 2 usage or a file that does not fit.
 * docs/use/tflite.md says how to build it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tensorflow/lite/c/c_api.h>
#include <time.h>

/* c_api_experimental.h is not in all packages. */
void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions *options, bool enable);

enum { INPUTS_MAX = 16, LABELS_MAX = 100000, BEST = 5 };

/** What one side answered. */
struct answer {
    float *value; /* of output 0, dequantised; owned */
    size_t count;
    double ms; /* median of the runs */
};

static void fail(const char *format, const char *what, const char *why) {
    fprintf(stderr, "tflite_classify: ");
    fprintf(stderr, format, what, why);
    fputc('\n', stderr);
    exit(2);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void *allocate(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) fail("%s%s", "out of memory", "");
    return p;
}

/** The library that the NNAPI delegate will open; TensorFlow Lite goes on without it in silence. */
static void require_nnapi(void) {
    void *lib = dlopen("libneuralnetworks.so", RTLD_NOW);
    if (!lib) fail("%s%s", dlerror(), ": LD_LIBRARY_PATH must have its folder");
    struct link_map *map = NULL;
    if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0) printf("NNAPI: %s\n", map->l_name);
}

/** A channel of the picture at a place between pixels. */
static double between(const unsigned char *pixel, int width, int height, double x, double y, int channel) {
    x = fmin(fmax(x, 0), width - 1);
    y = fmin(fmax(y, 0), height - 1);
    const int x0 = (int)x, y0 = (int)y, x1 = x0 + (x0 < width - 1), y1 = y0 + (y0 < height - 1);
    const double fx = x - x0, fy = y - y0;
    const double top = pixel[(y0 * width + x0) * 3 + channel] * (1 - fx) + pixel[(y0 * width + x1) * 3 + channel] * fx;
    const double low = pixel[(y1 * width + x0) * 3 + channel] * (1 - fx) + pixel[(y1 * width + x1) * 3 + channel] * fx;
    return top * (1 - fy) + low * fy;
}

/** A picture as the tensor [1, height, width, 3] (or 1 channel): float in [-1, 1], quantised as codes. */
static void load_png(const char *path, TfLiteTensor *tensor, void *data) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) fail("%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixel = allocate(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, pixel, 0, NULL)) fail("%s: %s", path, image.message);
    if (TfLiteTensorNumDims(tensor) != 4) fail("%s: %s", path, "the model's input is no picture (rank 4)");
    const int height = TfLiteTensorDim(tensor, 1), width = TfLiteTensorDim(tensor, 2);
    const int channels = TfLiteTensorDim(tensor, 3);
    const TfLiteType type = TfLiteTensorType(tensor);
    if (channels != 3 && channels != 1) fail("%s: %s", path, "the model's input has neither 3 channels nor 1");
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++) {
                const double sx = (x + 0.5) * (double)image.width / width - 0.5;
                const double sy = (y + 0.5) * (double)image.height / height - 0.5;
                double v = 0;
                for (int k = c; k < 3; k += channels)
                    v += between(pixel, (int)image.width, (int)image.height, sx, sy, k) * channels / 3;
                const int at = (y * width + x) * channels + c;
                if (type == kTfLiteFloat32)
                    ((float *)data)[at] = (float)(v / 127.5 - 1);
                else if (type == kTfLiteUInt8)
                    ((unsigned char *)data)[at] = (unsigned char)lrint(v);
                else if (type == kTfLiteInt8)
                    ((signed char *)data)[at] = (signed char)(lrint(v) - 128);
                else
                    fail("%s: %s", path, "the model's input is neither float32 nor of 8 bits");
            }
    free(pixel);
}

static void load_bytes(const char *path, void *data, size_t bytes) {
    FILE *f = fopen(path, "rb");
    if (!f) fail("%s: %s", path, strerror(errno));
    const bool fits = fread(data, 1, bytes, f) == bytes && fgetc(f) == EOF;
    fclose(f);
    char size[32];
    snprintf(size, sizeof size, "%zu", bytes);
    if (!fits) fail("%s does not have the input's %s bytes", path, size);
}

static int by_time(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static float value_of(const TfLiteTensor *t, size_t i) {
    const TfLiteQuantizationParams q = TfLiteTensorQuantizationParams(t);
    const void *data = TfLiteTensorData(t);
    switch (TfLiteTensorType(t)) {
    case kTfLiteFloat32:
        return ((const float *)data)[i];
    case kTfLiteUInt8:
        return q.scale * (float)(((const unsigned char *)data)[i] - q.zero_point);
    case kTfLiteInt8:
        return q.scale * (float)(((const signed char *)data)[i] - q.zero_point);
    case kTfLiteInt32:
        return (float)((const int *)data)[i];
    default:
        fail("%s%s", "output 0", " is neither float32, int32 nor of 8 bits");
        return 0;
    }
}

static struct answer classify(const TfLiteModel *model, const char *name, char **inputs, int count, int runs,
                              bool nnapi) {
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, 1);
    TfLiteInterpreterOptionsSetUseNNAPI(options, nnapi);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    const char *side = nnapi ? "cannot be prepared through NNAPI" : "cannot be prepared by TensorFlow Lite";
    if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) fail("%s %s", name, side);
    if (TfLiteInterpreterGetInputTensorCount(interpreter) != count) fail("%s: %s", name, "an INPUT for each input");
    for (int i = 0; i < count; i++) {
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, i);
        const size_t bytes = TfLiteTensorByteSize(tensor), n = strlen(inputs[i]);
        void *data = allocate(bytes);
        if (n > 4 && strcmp(inputs[i] + n - 4, ".png") == 0)
            load_png(inputs[i], tensor, data);
        else
            load_bytes(inputs[i], data, bytes);
        if (TfLiteTensorCopyFromBuffer(tensor, data, bytes) != kTfLiteOk) fail("%s: %s", name, "an input is refused");
        free(data);
    }
    double *ms = allocate((size_t)runs * sizeof *ms);
    for (int i = 0; i < runs; i++) {
        const double start = now_ms();
        if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) fail("%s %s", name, "fails when it runs");
        ms[i] = now_ms() - start;
    }
    qsort(ms, (size_t)runs, sizeof *ms, by_time);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    struct answer a = {.count = 1, .ms = ms[runs / 2]};
    for (int i = 0; i < TfLiteTensorNumDims(output); i++) a.count *= (size_t)TfLiteTensorDim(output, i);
    a.value = allocate(a.count * sizeof *a.value);
    for (size_t i = 0; i < a.count; i++) a.value[i] = value_of(output, i);
    TfLiteInterpreterDelete(interpreter);
    free(ms);
    return a;
}

/** The k-th best class, the first of equals. */
static size_t best(const struct answer *a, size_t k) {
    size_t rank_of[BEST], n = 0;
    for (; n <= k; n++) {
        size_t at = SIZE_MAX;
        for (size_t i = 0; i < a->count; i++) {
            bool taken = false;
            for (size_t j = 0; j < n; j++) taken = taken || rank_of[j] == i;
            if (!taken && (at == SIZE_MAX || a->value[i] > a->value[at])) at = i;
        }
        rank_of[n] = at;
    }
    return rank_of[k];
}

static char **load_labels(const char *path) {
    char **label = allocate(LABELS_MAX * sizeof *label);
    FILE *f = path ? fopen(path, "r") : NULL;
    if (path && !f) fail("%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0, n = 0;
    for (ssize_t got; f && n < LABELS_MAX && (got = getline(&line, &room, f)) > 0; line = NULL, room = 0) {
        line[strcspn(line, "\r\n")] = '\0';
        label[n++] = line;
    }
    free(line);
    if (f) fclose(f);
    return label;
}

static void print_class(const struct answer *a, char **label, size_t k) {
    const size_t i = best(a, k);
    char number[32];
    snprintf(number, sizeof number, "class %zu", i);
    printf("  %-24.24s %8.4f", i < LABELS_MAX && label[i] ? label[i] : number, (double)a->value[i]);
}

int main(int argc, char **argv) {
    const char *model_path = NULL, *labels = NULL;
    char *inputs[INPUTS_MAX];
    int count = 0, runs = 10;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--labels") == 0 && i + 1 < argc)
            labels = argv[++i];
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            runs = atoi(argv[++i]);
        else if (argv[i][0] == '-')
            fail("%s: %s", argv[i], "unknown, or without its value");
        else if (!model_path)
            model_path = argv[i];
        else if (count < INPUTS_MAX)
            inputs[count++] = argv[i];
    }
    if (!model_path || !count || runs < 1)
        fail("%s%s", "usage: tflite_classify MODEL.tflite [--labels FILE] [--runs N] INPUT...", "");
    require_nnapi();
    TfLiteModel *model = TfLiteModelCreateFromFile(model_path);
    if (!model) fail("%s: %s", model_path, "no TensorFlow Lite model");
    char **label = load_labels(labels);
    struct answer cpu = classify(model, model_path, inputs, count, runs, false);
    struct answer nnapi = classify(model, model_path, inputs, count, runs, true);

    printf("    %-35s%s\n", "TensorFlow Lite", "through NNAPI");
    for (size_t k = 0; k < BEST && k < cpu.count; k++) {
        printf("%zu", k + 1);
        print_class(&cpu, label, k);
        print_class(&nnapi, label, k);
        putchar('\n');
    }
    double apart = 0, largest = 0;
    for (size_t i = 0; i < cpu.count; i++) {
        apart = fmax(apart, fabs((double)cpu.value[i] - (double)nnapi.value[i]));
        largest = fmax(largest, fabs((double)cpu.value[i]));
    }
    printf("%.2f ms and %.2f ms (median of %d runs); largest difference %.3g of %.3g\n", cpu.ms, nnapi.ms, runs, apart,
           largest);
    const bool same = best(&cpu, 0) == best(&nnapi, 0);
    if (!same) printf("they name different classes\n");
    for (size_t i = 0; i < LABELS_MAX; i++) free(label[i]);
    free(label);
    free(cpu.value);
    free(nnapi.value);
    TfLiteModelDelete(model);
    return same ? 0 : 1;
}
