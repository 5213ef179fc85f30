/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/data/pictures.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

/** A point in the figure's own frame: it fills about [-1, 1] x [-1, 1]. */
struct point {
    double x, y;
};

static double magnitude(double x) { return x < 0 ? -x : x; }

/** Even-odd rule. */
static bool in_polygon(const struct point *corner, size_t n, struct point p) {
    bool in = false;
    for (size_t i = 0, j = n - 1; i < n; j = i++) {
        struct point a = corner[i], b = corner[j];
        if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) in = !in;
    }
    return in;
}
#define IN_POLYGON(corners, p) in_polygon((corners), sizeof(corners) / sizeof *(corners), (p))

static bool disc(struct point p) { return p.x * p.x + p.y * p.y < 0.7; }

static bool ring(struct point p) {
    double r = p.x * p.x + p.y * p.y;
    return r > 0.3 && r < 0.9;
}

static bool square(struct point p) { return magnitude(p.x) < 0.72 && magnitude(p.y) < 0.72; }

static bool triangle(struct point p) {
    static const struct point corners[] = {{0, -0.95}, {0.85, 0.6}, {-0.85, 0.6}};
    return IN_POLYGON(corners, p);
}

static bool cross(struct point p) {
    double x = magnitude(p.x), y = magnitude(p.y);
    return (x < 0.25 && y < 0.9) || (y < 0.25 && x < 0.9);
}

static bool star(struct point p) {
    static const struct point corners[] = {{0, -1},  {0.24, -0.32}, {0.95, -0.31}, {0.38, 0.12},   {0.59, 0.81},
                                           {0, 0.4}, {-0.59, 0.81}, {-0.38, 0.12}, {-0.95, -0.31}, {-0.24, -0.32}};
    return IN_POLYGON(corners, p);
}

static bool crescent(struct point p) {
    double x = p.x - 0.45;
    return p.x * p.x + p.y * p.y < 0.85 && x * x + p.y * p.y > 0.5;
}

static bool arrow(struct point p) {
    static const struct point corners[] = {{0, -0.95},   {0.7, -0.15},   {0.25, -0.15}, {0.25, 0.9},
                                           {-0.25, 0.9}, {-0.25, -0.15}, {-0.7, -0.15}};
    return IN_POLYGON(corners, p);
}

static bool bars(struct point p) {
    double y = magnitude(p.y);
    return magnitude(p.x) < 0.85 && y > 0.2 && y < 0.6;
}

static bool corner(struct point p) {
    return magnitude(p.x) < 0.85 && magnitude(p.y) < 0.85 && (p.x < -0.3 || p.y > 0.3);
}

static bool (*const figures[NNV_PICTURE_CLASSES])(struct point) = {disc, ring,     square, triangle, cross,
                                                                   star, crescent, arrow,  bars,     corner};

const char *const nnv_picture_class_names[NNV_PICTURE_CLASSES] = {"disc", "ring",     "square", "triangle", "cross",
                                                                  "star", "crescent", "arrow",  "bars",     "corner"};

struct colour {
    double part[3]; /**< 0 to 255 */
};

static struct colour any_colour(struct nnv_rng *rng) {
    struct colour c;
    for (int i = 0; i < 3; i++) c.part[i] = nnv_rng_uniform(rng, 0, 255);
    return c;
}

static double distance(struct colour a, struct colour b) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += magnitude(a.part[i] - b.part[i]);
    return sum;
}

/** A thin line across the picture: what is not a figure. */
struct stroke {
    struct point at, along; /**< a point, and the direction: |along| = 1 */
    double half_width, half_length;
    struct colour colour;
};

enum { MOST_STROKES = 3, SAMPLES = 3 /* on a side of a pixel */ };

struct scene {
    struct colour from, to; /**< the background, from one edge to the other */
    struct point shade;     /**< direction */
    bool (*figure)(struct point);
    struct point centre, turn; /**< turn: cosine and sine */
    double radius;
    struct colour colour;
    int strokes;
    struct stroke stroke[MOST_STROKES];
    double noise;
};

/** A point of the unit circle, by its rational parametrisation: no sines, which differ among machines. */
static struct point any_direction(struct nnv_rng *rng) {
    double t = nnv_rng_uniform(rng, -1, 1), d = 1 + t * t;
    struct point p = {(1 - t * t) / d, 2 * t / d};
    switch (nnv_rng_int(rng, 0, 3)) {
    case 0:
        return p;
    case 1:
        return (struct point){-p.y, p.x};
    case 2:
        return (struct point){-p.x, -p.y};
    default:
        return (struct point){p.y, -p.x};
    }
}

static struct stroke any_stroke(struct nnv_rng *rng) {
    struct stroke s = {.along = any_direction(rng), .colour = any_colour(rng)};
    s.at.x = nnv_rng_uniform(rng, 0, NNV_PICTURE_SIZE);
    s.at.y = nnv_rng_uniform(rng, 0, NNV_PICTURE_SIZE);
    s.half_width = nnv_rng_uniform(rng, 0.4, 0.9);
    s.half_length = nnv_rng_uniform(rng, 4, 14);
    return s;
}

static struct scene any_scene(struct nnv_rng *rng, int class) {
    struct scene s = {.figure = figures[class]};
    s.from = any_colour(rng);
    s.to = s.from;
    for (int i = 0; i < 3; i++) s.to.part[i] += nnv_rng_uniform(rng, -50, 50);
    s.shade = any_direction(rng);
    do s.colour = any_colour(rng);
    while (distance(s.colour, s.from) < 170 || distance(s.colour, s.to) < 170);
    s.radius = nnv_rng_uniform(rng, 9, 18);
    s.centre.x = nnv_rng_uniform(rng, s.radius, NNV_PICTURE_SIZE - s.radius);
    s.centre.y = nnv_rng_uniform(rng, s.radius, NNV_PICTURE_SIZE - s.radius);
    s.turn = any_direction(rng);
    s.strokes = (int)nnv_rng_int(rng, 0, MOST_STROKES);
    for (int i = 0; i < s.strokes; i++) s.stroke[i] = any_stroke(rng);
    s.noise = nnv_rng_uniform(rng, 2, 14);
    return s;
}

static bool on_stroke(const struct stroke *s, double x, double y) {
    double dx = x - s->at.x, dy = y - s->at.y;
    return magnitude(dx * s->along.x + dy * s->along.y) < s->half_length &&
           magnitude(dy * s->along.x - dx * s->along.y) < s->half_width;
}

/** What is seen at a point of the picture. */
static struct colour colour_at(const struct scene *s, double x, double y) {
    double dx = (x - s->centre.x) / s->radius, dy = (y - s->centre.y) / s->radius;
    struct point own = {dx * s->turn.x + dy * s->turn.y, dy * s->turn.x - dx * s->turn.y};
    if (s->figure(own)) return s->colour;
    for (int i = 0; i < s->strokes; i++)
        if (on_stroke(&s->stroke[i], x, y)) return s->stroke[i].colour;
    double half = NNV_PICTURE_SIZE / 2.0;
    double t = ((x - half) * s->shade.x + (y - half) * s->shade.y) / (2 * half) + 0.5;
    struct colour c;
    for (int i = 0; i < 3; i++) c.part[i] = s->from.part[i] + t * (s->to.part[i] - s->from.part[i]);
    return c;
}

static uint8_t to_byte(double v) { return v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)lround(v); }

int nnv_picture_draw(uint64_t seed, uint64_t index, uint8_t *rgb) {
    struct nnv_rng rng = nnv_rng_make(seed, 0x9c70, index);
    int class = (int)nnv_rng_int(&rng, 0, NNV_PICTURE_CLASSES - 1);
    struct scene scene = any_scene(&rng, class);
    for (int y = 0; y < NNV_PICTURE_SIZE; y++)
        for (int x = 0; x < NNV_PICTURE_SIZE; x++, rgb += 3) {
            struct colour sum = {{0}};
            for (int down = 0; down < SAMPLES; down++)
                for (int across = 0; across < SAMPLES; across++) {
                    struct colour c = colour_at(&scene, x + (across + 0.5) / SAMPLES, y + (down + 0.5) / SAMPLES);
                    for (int i = 0; i < 3; i++) sum.part[i] += c.part[i];
                }
            for (int i = 0; i < 3; i++)
                rgb[i] = to_byte(sum.part[i] / (SAMPLES * SAMPLES) + scene.noise * nnv_rng_normal(&rng));
        }
    return class;
}
