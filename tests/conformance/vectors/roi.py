# SPDX-License-Identifier: Apache-2.0
"""Regions of interest."""
import math
from fractions import Fraction

from .boxes import BOXES
from .conv import shown
from .formats import F16, F32, I32, q8, q8s
from .real import half_away
from .spec import number, tag
from .tensor import Array, Random, codes, rounded, tensor


def regions(rnd, form, batches, wide, high):
    """One box in eighths for each batch index, inside wide * high; the first is a mere point."""
    values = [Fraction(3)] * 4
    for _ in batches[1:]:
        x, y = (sorted((rnd.between(0, 8 * limit), rnd.between(0, 8 * limit))) for limit in (wide, high))
        values += [Fraction(v, 8) for v in (x[0], y[0], x[1], y[1])]
    return tensor(form, [len(batches), 4], values)


def sample(x, b, c, p):
    """x[b, .., .., c] at the real point p = (y, x): bilinear; at the last row or column and beyond it is that one."""
    pairs = []
    for v, d in zip(p, x.dims[1:3]):
        low = math.floor(v)
        pairs.append([(d - 1, Fraction(1))] if low >= d - 1 else [(low, 1 - (v - low)), (low + 1, v - low)])
    return sum(r * s * x[b, i, j, c] for i, r in pairs[0] for j, s in pairs[1])


def align(x, roi, batches, out, ratios, samples):
    """The mean of samples on a grid in each bin; pairs are (height, width); 0 samples: as many as the bin is long."""
    def at(i):
        box, points = roi.rows()[i[0]], []
        for k in (0, 1):
            start, end = (box[e] / ratios[k] for e in ((1, 3), (0, 2))[k])
            bin_size = max(end - start, Fraction(1)) / out[k]
            n = samples[k] or math.ceil(bin_size)
            points.append([start + bin_size * (i[1 + k] + (s + Fraction(1, 2)) / n) for s in range(n)])
        values = [sample(x, batches[i[0]], i[3], (p, q)) for p in points[0] for q in points[1]]
        return sum(values) / len(values)
    return Array.of([len(batches), *out, x.dims[3]], at)


def pool(x, roi, batches, out, ratios, nothing):
    """The largest of each bin, whose borders go outwards to whole cells. An empty bin: nothing."""
    def at(i):
        box, ranges = roi.rows()[i[0]], []
        for k in (0, 1):
            start, end = (half_away(box[e] / ratios[k]) for e in ((1, 3), (0, 2))[k])
            bin_size = Fraction(max(end - start + 1, 1), out[k])
            borders = math.floor(bin_size * i[1 + k] + start), math.ceil(bin_size * (i[1 + k] + 1) + start)
            ranges.append(range(*(min(max(b, 0), x.dims[1 + k]) for b in borders)))
        values = [x[batches[i[0]], p, q, i[3]] for p in ranges[0] for q in ranges[1]]
        return max(values) if values else nothing
    return Array.of([len(batches), *out, x.dims[3]], at)


def cases(out):
    for n, (form, form_y, dims, batches, size, ratios, samples, nchw) in enumerate((
            (F32, F32, [2, 5, 7, 2], [0, 1, 1, 0], (2, 3), (2, 4), (2, 3), False),
            (F16, F16, [1, 6, 4, 3], [0, 0, 0], (3, 2), (1, 2), (0, 0), True),
            (q8('0.05', 100), q8('0.04', 90), [2, 4, 5, 2], [0, 0, 1], (2, 2), (4, 2), (3, 1), False),
            (q8s('0.06', -20), q8s('0.05', 11), [2, 5, 4, 1], [1, 0, 1, 1], (1, 4), (2, 2), (0, 2), True),
            (F32, F32, [3, 4, 6, 1], [0, 2, 2, 2, 1], (3, 3), (8, 4), (0, 0), False))):
        rnd = Random(f'roi align {n}')
        x = rnd.fill(form, dims, step=Fraction(1, 97))
        roi = regions(rnd, BOXES if form.quantised else form, batches, dims[2] * ratios[1], dims[1] * ratios[0])
        y = align(x.real, roi.real, batches, size, ratios, samples)
        out.add('ROI_ALIGN', f'{tag(form)}_{n}', [shown(x, nchw), roi, tensor(I32, [len(batches)], batches), *size,
                                                  *(number(form, r) for r in ratios), *samples, nchw],
                                                  [shown(rounded(form_y, y), nchw)])
    # Powers of two as numbers of bins: their borders are the same in any arithmetic.
    for n, (form, dims, batches, size, ratios, nchw) in enumerate((
            (F32, [2, 5, 7, 2], [0, 1, 1, 0], (2, 4), (2, 4), False), (F16, [1, 6, 4, 3], [0, 0, 0], (4, 2), (1, 2), True),
            (q8('0.05', 100), [2, 4, 5, 2], [0, 0, 1], (2, 2), (4, 2), False),
            (q8s('0.06', -20), [2, 5, 4, 1], [1, 0, 1, 1], (1, 4), (2, 2), True))):
        rnd = Random(f'roi pooling {n}')
        x = rnd.fill(form, dims)
        roi = regions(rnd, BOXES if form.quantised else form, batches, (dims[2] - 1) * ratios[1], (dims[1] - 1) * ratios[0])
        y = pool(x, roi.real, batches, size, ratios, form.zero)
        out.add('ROI_POOLING', f'{tag(form)}_{n}', [shown(x, nchw), roi, tensor(I32, [len(batches)], batches), *size,
                                                    *(number(form, r) for r in ratios), nchw], [shown(codes(form, y), nchw)], True)
