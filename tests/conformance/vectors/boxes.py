# SPDX-License-Identifier: Apache-2.0
"""Detection: boxes transformed, suppressed, proposed; keypoints. Boxes are x1,y1,x2,y2 unless said otherwise."""
from fractions import Fraction

from . import real
from .common import clamp
from .conv import shown
from .formats import F16, F32, I32, q8, q8s, q16a, q16s
from .spec import number, tag
from .tensor import Array, Random, Tensor, rounded, tensor

BOXES = q16a(Fraction(1, 8), 0)
HARD, LINEAR, GAUSSIAN = range(3)


class Undecided(Exception):
    """A decision of this drawing hangs on rounding; another one is drawn."""


def decided(a, b):
    """a - b, unless a and b are so close that correct implementations may differ."""
    if abs(a - b) < Fraction(1, 50):
        raise Undecided
    return a - b


def drawn(name, make):
    """make(rnd) of the first drawing that is decided."""
    for n in range(1000):
        try:
            return make(Random(f'{name} {n}'))
        except Undecided:
            pass
    raise ValueError(f'{name}: no drawing is decided')


def iou(a, b):
    wide, high = (max(Fraction(0), min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1))
    area = sum((p[2] - p[0]) * (p[3] - p[1]) for p in (a, b)) - wide * high
    return wide * high / area


def transform(box, delta, image):
    """The box moved and stretched by dx, dy, dw, dh, clipped to the image (height, width)."""
    corners = []
    for k in (0, 1):
        size = box[k + 2] - box[k]
        centre = (box[k] + box[k + 2]) / 2 + delta[k] * size
        half = size * real.exp(delta[k + 2]) / 2
        corners.append([clamp(v, 0, image[1 - k]) for v in (centre - half, centre + half)])
    return [corners[0][0], corners[1][0], corners[0][1], corners[1][1]]


def random_boxes(rnd, form, n, per_row, extent, least=2):
    """[n, 4 * per_row]: boxes inside extent * extent, corners in eighths."""
    values = []
    for _ in range(n * per_row):
        wide, high = (rnd.between(8 * least, 4 * extent) for _ in 'wh')
        x, y = rnd.between(0, 8 * extent - wide), rnd.between(0, 8 * extent - high)
        values += [Fraction(v, 8) for v in (x, y, x + wide, y + high)]
    return tensor(form, [n, 4 * per_row], values)


def distinct_scores(rnd, form, dims, low=1, high=199):
    """Scores in (0, 1), all different: in steps of the scale, or of 1/256."""
    count = len(Array.of(dims, lambda i: 0).values)
    if form.quantised:
        return Tensor(form, dims, rnd.shuffle(list(range(form.high + 1 - count, form.high + 1))))
    return tensor(form, dims, [Fraction(v, 256) for v in rnd.shuffle(list(range(low, high)))[:count]])


def fours(row):
    return [row[k:k + 4] for k in range(0, len(row), 4)]


def bbox_transform(out):
    for n, (form, deltas, batches, classes) in enumerate(((F32, F32, [0, 0, 1, 1, 1], 2), (F16, F16, [0, 2, 2], 1),
                                                          (BOXES, q8('0.01', 120), [0, 1, 1, 2], 3),
                                                          (BOXES, q8s('0.015', -7), [1, 1, 1], 2))):
        rnd = Random(f'bbox {n}')
        roi = random_boxes(rnd, form, len(batches), 1, 48)
        delta = rnd.fill(deltas, [len(batches), 4 * classes], -1, 1, Fraction(1, 64))
        image = tensor(form, [3, 2], (40, 56, 64, 48, 33, 70))
        y = [v for box, row, b in zip(roi.real.rows(), delta.real.rows(), batches) for d in fours(row)
             for v in transform(box, d, image.real.rows()[b])]
        out.add('AXIS_ALIGNED_BBOX_TRANSFORM', f'{tag(deltas)}_{n}', [roi, delta, tensor(I32, [len(batches)], batches), image],
                [rounded(form, Array(delta.dims, y))])


def suppress(candidates, kernel, most, threshold, sigma, least):
    """Of (score, box, tag): the best, then the best of the others with scores lowered by their overlap with it, and so on."""
    chosen, rest = [], list(candidates)
    while rest and (most < 0 or len(chosen) < most):
        best = max(rest, key=lambda c: c[0])
        rest.remove(best)
        if any(0 < best[0] - c[0] < Fraction(1, 400) for c in rest):
            raise Undecided
        chosen.append(best)
        lowered = []
        for score, box, what in rest:
            overlap = iou(best[1], box)
            if kernel == GAUSSIAN:
                score *= real.exp(-overlap * overlap / sigma)
            elif decided(overlap, threshold) >= 0:
                score *= 0 if kernel == HARD else 1 - overlap
            if score and decided(score, least) >= 0:
                lowered.append((score, box, what))
        rest = lowered
    return chosen


def nms_vector(rnd, n, form, boxes_form, batches, classes, kernel, most, scalars):
    scores = distinct_scores(rnd, form, [len(batches), classes])
    boxes = random_boxes(rnd, boxes_form, len(batches), classes, 16, 4)
    numbers = [number(form, Fraction(s)) for s in scalars]
    score_threshold, threshold, sigma, least = (s.value for s in numbers)
    results = []
    for image in sorted(set(batches)):
        found = []
        for c in range(1, classes):
            candidates = [(scores.real[r, c], boxes.real.rows()[r][4 * c:4 * c + 4], (c, r)) for r in range(len(batches))
                          if batches[r] == image and decided(scores.real[r, c], score_threshold) > 0]
            found += suppress(candidates, kernel, most, threshold, sigma, least)
        found.sort(key=lambda f: -f[0])
        if 0 <= most < len(found):
            if found[most - 1][0] - found[most][0] < Fraction(1, 400):
                raise Undecided
            found = found[:most]
        results += [(image, f) for f in sorted(found, key=lambda f: (f[2][0], -f[0]))]
    count = len(results)
    outputs = [tensor(form, [count], [f[0] for _, f in results]),
               Tensor(boxes_form, [count, 4], [v for _, (_, _, (c, r)) in results for v in boxes.rows()[r][4 * c:4 * c + 4]]),
               tensor(I32, [count], [f[2][0] for _, f in results]), tensor(I32, [count], [i for i, _ in results])]
    inputs = [scores, boxes, tensor(I32, [len(batches)], batches), numbers[0], most, kernel, *numbers[1:]]
    kernel_name = ('hard', 'linear', 'gaussian')[kernel]
    return f'{kernel_name}_{tag(form)}_{n}', inputs, outputs


def box_with_nms_limit(out):
    for n, (form, boxes, batches, classes, kernel, most, scalars) in enumerate((
            (F32, F32, [0] * 5 + [1] * 6, 3, HARD, -1, ('0.15', '0.3', 1, '0.05')),
            (F16, F16, [0] * 7, 3, LINEAR, 5, ('0.1', '0.25', '0.5', '0.2')),
            (F32, F32, [1] * 6 + [3] * 4, 4, GAUSSIAN, 6, ('0.2', '0.3', '0.6', '0.25')),
            (q8('0.0035', 10), BOXES, [0] * 8, 3, HARD, 3, ('0.4', '0.3', 1, '0.1')),
            (q8s('0.0038', -120), BOXES, [0] * 4 + [2] * 5, 3, LINEAR, -1, ('0.6', '0.3', '0.5', '0.3')))):
        arguments = (n, form, boxes, batches, classes, kernel, most, scalars)
        what, inputs, outputs = drawn(f'nms {n}', lambda rnd, a=arguments: nms_vector(rnd, *a))
        out.add('BOX_WITH_NMS_LIMIT', what, inputs, outputs)


def proposals_vector(rnd, n, form, deltas_form, batch, size, anchor_count, limits, scalars, nchw):
    h, w = size
    scores = distinct_scores(rnd, form, [batch, h, w, anchor_count])
    dims = [batch, h, w, 4 * anchor_count]
    if deltas_form.quantised:
        deltas = rnd.codes(deltas_form, dims, deltas_form.zero - 12, deltas_form.zero + 12)
    else:
        deltas = rnd.reals(deltas_form, dims, Fraction(-1, 4), Fraction(1, 4), Fraction(1, 64))
    form_a, form_i, form_b = (q16s(Fraction(1, 8)), BOXES, BOXES) if form.quantised else (form,) * 3
    anchors = tensor(form_a, [anchor_count, 4], [v for k in range(anchor_count) for v in (-2 - k, -4, 5, 3 + 2 * k)])
    image = tensor(form_i, [batch, 2], [v for b in range(batch) for v in (14 - b, 17 + b)])
    numbers = [number(form, Fraction(s)) for s in scalars]
    step_y, step_x, threshold, least = (s.value for s in numbers)
    before, after = limits
    results = []
    for b in range(batch):
        found = []
        for i in range(h):
            for j in range(w):
                for k, anchor in enumerate(anchors.real.rows()):
                    at = [v + (j * step_x, i * step_y)[e % 2] for e, v in enumerate(anchor)]
                    delta = [deltas.real[b, i, j, 4 * k + e] for e in range(4)]
                    found.append((scores.real[b, i, j, k], transform(at, delta, image.real.rows()[b]), b))
        found.sort(key=lambda f: -f[0])
        found = found[:before] if before > 0 else found
        found = [f for f in found if decided(f[1][2] - f[1][0], least) > 0 and decided(f[1][3] - f[1][1], least) > 0]
        results += suppress(found, HARD, after, threshold, None, Fraction(-1))
    count = len(results)
    outputs = [tensor(form, [count], [r[0] for r in results]), tensor(form_b, [count, 4], [v for r in results for v in r[1]]),
               tensor(I32, [count], [r[2] for r in results])]
    return (f'{tag(form)}_{n}', [shown(scores, nchw), shown(deltas, nchw), anchors, image, *numbers[:2], before, after,
                                 *numbers[2:], nchw], outputs)


def generate_proposals(out):
    for n, a in enumerate((
            (F32, F32, 2, (2, 3), 2, (4, 9), (5, 4, '0.7', '1.5'), False),
            (F16, F16, 1, (3, 2), 1, (-1, -1), (4, 6, '0.3', '2.5'), True),
            (q8('0.0036', 5), q8('0.02', 131), 2, (2, 2), 3, (9, 5), (6, 5, '0.5', 2), False),
            (q8s('0.0035', -100), q8s('0.03', 4), 1, (2, 3), 2, (0, 6), (4, 5, '0.35', 3), True))):
        out.add('GENERATE_PROPOSALS', *drawn(f'proposals {n}', lambda rnd, n=n, a=a: proposals_vector(rnd, n, *a)))


def decoded(anchor, delta, scales):
    """Box (y1, x1, y2, x2) of an anchor (y, x, h, w) and its delta."""
    y, x = (anchor[k] + anchor[k + 2] * delta[k] / scales[k] for k in (0, 1))
    h, w = (anchor[k] * real.exp(delta[k] / scales[k]) / 2 for k in (2, 3))
    return [y - h, x - w, y + h, x + w]


def detect(scores, boxes, regular, most, most_classes, most_per_class, score_threshold, threshold):
    """(score, box, class) of one image, best first; fast: of each anchor chosen by its best class the best classes."""
    classes = range(1, len(scores[0]))

    def hard(candidates, limit):
        return suppress(candidates, HARD, limit, threshold, None, Fraction(-1))

    def passing(score):
        return decided(score, score_threshold) > 0
    if regular:
        found = []
        for c in classes:
            found += [(s, b, c) for s, b, _ in hard([(row[c], box, 0) for row, box in zip(scores, boxes) if passing(row[c])],
                                                    most_per_class)]
        return sorted(found, key=lambda f: -f[0])[:most]
    best = [(max(row[1:]), box, row) for row, box in zip(scores, boxes)]
    return [(row[c], box, c) for _, box, row in hard([b for b in best if passing(b[0])], most)
            for c in sorted(classes, key=lambda c, r=row: -r[c])[:most_classes]]


def detection_vector(rnd, n, form, batch, count, classes, width, regular, most, most_classes, most_per_class, thresholds,
                     background):
    scores = Array([batch, count, classes], [v for _ in range(batch) for v in distinct_scores(rnd, form, [count, classes]).values])
    scores = Tensor(form, scores.dims, scores.values)
    deltas = rnd.reals(form, [batch, count, width], -2, 2, Fraction(1, 8))
    anchors = tensor(form, [count, 4], [Fraction(rnd.between(*r),
                                                 8) for _ in range(count) for r in ((8, 40), (8, 40), (16, 48), (16, 48))])
    scales = [number(form, s) for s in (10, 8, 5, 4)]
    limits = [number(form, Fraction(t)) for t in thresholds]
    slots = most if regular else most * most_classes
    flat, counts = [], []
    for b in range(batch):
        boxes = [decoded(a, d, [s.value for s in scales]) for a, d in zip(anchors.real.rows(),
                                                                          deltas.real.rows()[b * count:(b + 1) * count])]
        found = detect(scores.real.rows()[b * count:(b + 1) * count], boxes, regular, most, most_classes, most_per_class,
                       *(t.value for t in limits))
        counts.append(len(found))
        flat += [(s, box, c if background else c - 1) for s, box, c in found] + [(0, [0] * 4, 0)] * (slots - len(found))
    outputs = [tensor(form, [batch, slots], [f[0] for f in flat]), tensor(form, [batch, slots, 4], [v for f in flat for v in f[1]]),
               tensor(I32, [batch, slots], [f[2] for f in flat]), tensor(I32, [batch], counts)]
    return (f'{"regular" if regular else "fast"}_{tag(form)}_{n}',
            [scores, deltas, anchors, *scales, regular, most, most_classes, most_per_class, *limits, background], outputs)


def detection_postprocessing(out):
    for n, a in enumerate(((F32, 2, 7, 4, 4, True, 6, 1, 2, ('0.3', '0.4'), False),
                           (F16, 1, 6, 3, 5, False, 3, 2, 1, ('0.25', '0.45'), True),
                           (F32, 2, 5, 4, 7, False, 5, 1, 1, ('0.4', '0.3'), False),
                           (F16, 1, 8, 3, 4, True, 9, 1, 8, ('0.35', '0.5'), True))):
        out.add('DETECTION_POSTPROCESSING', *drawn(f'detection {n}', lambda rnd, n=n, a=a: detection_vector(rnd, n, *a)))


def keypoint(m, box):
    """Score and place (x, y) of the largest: at the top of the parabola through its neighbours, mirrored at the border."""
    size = m.dims[0]
    top = max(m.values)
    if m.values.count(top) > 1:
        raise Undecided
    row, column = divmod(m.values.index(top), size)

    def near(i):
        return 1 if i < 0 else size - 2 if i >= size else i

    def at(dy, dx):
        return m[near(row + dy), near(column + dx)]
    gx, gy = (at(0, 1) - at(0, -1)) / 2, (at(1, 0) - at(-1, 0)) / 2
    a, d = at(0, -1) - 2 * top + at(0, 1), at(-1, 0) - 2 * top + at(1, 0)
    c = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / 4
    det = a * d - c * c
    if abs(det) < max(Fraction(1, 4), a * d / 50):
        raise Undecided
    dx, dy = (c * gy - d * gx) / det, (c * gx - a * gy) / det
    far = max(abs(dx), abs(dy))
    if decided(far, Fraction(3, 2)) > 0:
        dx, dy = (v * Fraction(3, 2) / far for v in (dx, dy))
    score = top + gx * dx + gy * dy + (a * dx * dx + 2 * c * dx * dy + d * dy * dy) / 2
    place = [(p + v + Fraction(1, 2)) / size * (box[k + 2] - box[k]) + box[k] for k, (p, v) in enumerate(((column, dx), (row, dy)))]
    return score, place, far > Fraction(3, 2)


RIDGE = {at: Fraction(v, 4) for at, v in {(1, 1): 23, (1, 2): 12, (1, 3): -6, (2, 1): 12, (2, 2): 24, (2, 3): 20, (3, 1): -6,
                                          (3, 2): 20, (3, 3): 23}.items()}


def heatmap_vector(rnd, n, form, score_form, count, size, points, nchw, limited=False):
    """limited: the first map has a ridge; the top of its parabola is so far away that the offset is cut to 3/2."""
    dims = [count, size, size, points]
    heat = rnd.fill(form, dims, -8, 8, Fraction(1, 8))
    if limited:
        for k in range(size * size):
            heat.values[k * points] = form.code(RIDGE.get(divmod(k, size), Fraction(-3, 2)))
    boxes = random_boxes(rnd, BOXES if form.quantised else form, count, 1, 32)
    results = [keypoint(Array.of([size, size], lambda i, b=b, k=k: heat.real[b, i[0], i[1], k]), boxes.real.rows()[b])
               for b in range(count) for k in range(points)]
    if limited and not any(r[2] for r in results):
        raise Undecided
    return (f'{tag(form)}_{n}', [shown(heat, nchw), boxes, nchw],
            [tensor(score_form, [count, points], [r[0] for r in results]),
             tensor(boxes.form, [count, points, 2], [v for r in results for v in r[1]])])


def heatmap_max_keypoint(out):
    for n, a in enumerate(((F32, F32, 3, 5, 2, False), (F16, F16, 2, 4, 3, True), (q8('0.05', 100), q8('0.07', 40), 3, 3, 2, False),
                           (q8s('0.06', -20), q8s('0.08', -33), 2, 5, 2, True), (F32, F32, 6, 2, 1, False),
                           (F32, F32, 2, 5, 2, True, True),
                           (q8('0.06', 130), q8('0.1', 60), 2, 4, 1, False, True))):
        out.add('HEATMAP_MAX_KEYPOINT', *drawn(f'heatmap {n}', lambda rnd, n=n, a=a: heatmap_vector(rnd, n, *a)))


def cases(out):
    bbox_transform(out)
    box_with_nms_limit(out)
    generate_proposals(out)
    detection_postprocessing(out)
    heatmap_max_keypoint(out)
