# SPDX-License-Identifier: Apache-2.0
"""Pools, and resizing."""
import math
from fractions import Fraction

from . import real
from .common import NONE, RELU, RELU1, RELU6, fuse
from .conv import BOTH_SAME, BOTH_VALID, extent, head_of, shown, written
from .formats import F16, F32, q8, q8s
from .spec import number, tag
from .tensor import Array, Random, codes, rounded

Q8, Q8S = q8('0.05', 77), q8s('0.03', -20)


def average(v):
    return sum(v) / len(v)


def root_mean_square(v):
    return real.sqrt(sum(e * e for e in v) / len(v))


def pool(x, window, stride, padding, f):
    """f(the values of the window that lie inside); pairs are (height, width)."""
    n, *size, c = x.dims
    out = [extent(*a) for a in zip(size, window, stride, padding)]
    heads = [head_of(*a) for a in zip(size, window, stride, padding)]

    def at(i):
        rows, columns = (range(max(0, k * s - h), min(d, k * s - h + w))
                         for k, s, h, w, d in zip(i[1:3], stride, heads, window, size))
        return f([x[i[0], p, q, i[3]] for p in rows for q in columns])
    return Array.of([n, *out, c], at)


def pools(out):
    for name, f in (('AVERAGE_POOL_2D', average), ('MAX_POOL_2D', max), ('L2_POOL_2D', root_mean_square)):
        forms = (F32, F16, F32, F32, F16) if f is root_mean_square else (F32, F16, Q8, Q8S, Q8)
        for n, (form, (dims, window, stride, padding, activation, nchw)) in enumerate(zip(forms, (
                ([2, 5, 4, 3], (3, 2), (1, 2), ((2, 0), (0, 1)), NONE, None),
                ([1, 4, 5, 2], (2, 3), (2, 1), BOTH_SAME, RELU6, True),
                ([2, 5, 3, 2], (3, 2), (2, 2), BOTH_SAME, RELU6, None),
                ([1, 6, 5, 3], (2, 3), (3, 1), ((0, 1), (2, 1)), RELU1, True),
                ([2, 5, 5, 1], (4, 2), (1, 3), BOTH_VALID, RELU, False)))):
            x = Random(name + str(n)).fill(form, dims, -8, 8)
            y = rounded(form, fuse(activation, pool(x.real, window, stride, padding, f)))
            inputs = [shown(x, nchw), *written(padding), stride[1], stride[0], window[1], window[0], activation]
            out.add(name, f'{tag(form)}_{n}', inputs + ([] if nchw is None else [nchw]), [shown(y, nchw)], f is max)


def position(i, size, out, align, half):
    """Where in the input, as an exact fraction, output index i lies."""
    ratio = Fraction(size - 1, out - 1) if align and out > 1 else Fraction(size, out)
    return (i + Fraction(1, 2)) * ratio if half else i * ratio


def clear(p):
    """That float32 arithmetic finds the same neighbour: p is no integer but for coarse binary fractions."""
    if p.denominator > 1 and abs(p - round(p)) < Fraction(1, 1000):
        raise ValueError(f'{p} is too close to an integer')
    return p


def nearest(x, out, align, half):
    def pick(i, size, o):
        p = position(i, size, o, align, half)
        return min(size - 1, real.half_away(p) if align else math.floor(clear(p)))
    return Array.of([x.dims[0], *out, x.dims[3]], lambda i: x[i[0], pick(i[1], x.dims[1], out[0]), pick(i[2], x.dims[2], out[1]),
                                                              i[3]])


def bilinear(x, out, align, half):
    def corners(i, size, o):
        p = position(i, size, o, align, half) - (Fraction(1, 2) if half else 0)
        low = max(0, math.floor(p))
        high = min(size - 1, math.ceil(p))
        return [(low, 1 - (p - low)), (high, p - low)]
    return Array.of([x.dims[0], *out, x.dims[3]],
                    lambda i: sum(a * b * x[i[0], r, c, i[3]] for r, a in corners(i[1], x.dims[1], out[0])
                                  for c, b in corners(i[2], x.dims[2], out[1])))


def resizes(out):
    # Dims are N,H,W,C; sizes (height, width), or scales of them. Signed codes stay above 0 in bilinear ones, where AOSP's own
    # kernel truncates instead of rounding.
    for name, f in (('RESIZE_BILINEAR', bilinear), ('RESIZE_NEAREST_NEIGHBOR', nearest)):
        for n, (form, dims, size, flags) in enumerate((
                (F32, [2, 3, 5, 2], (5, 3), [False]), (F32, [1, 4, 3, 2], (7, 5), [True, True, False]),
                (F16, [2, 3, 2, 3], (2, 5), [False, False, True]), (Q8, [1, 5, 3, 2], (3, 7), [True, False, False]),
                (Q8S, [2, 3, 4, 1], (5, 6), [False, True, False]), (Q8, [1, 3, 3, 2], (7, 5), [True, False, True]),
                (F32, [1, 5, 4, 1], ('1.5', '0.8'), [False]), (F16, [1, 3, 5, 2], ('0.7', '2.25'), [False]))):
            rnd = Random(name + str(n))
            x = rnd.codes(form, dims, 0) if form is Q8S else rnd.fill(form, dims)
            nchw, align, half = (flags + [False, False])[:3]
            if isinstance(size[0], str):
                scales = [number(form, Fraction(s)) for s in size]
                size = [math.floor(d * s.value) for d, s in zip(dims[1:3], scales)]
                asked = [scales[1], scales[0]]
            else:
                asked = [size[1], size[0]]
            if f is nearest:
                y = codes(form, f(x, size, align, half))
            else:
                y = rounded(form, f(x.real, size, align, half))
            inputs = [shown(x, nchw), *asked, *flags]
            out.add(name, f'{tag(form)}_{n}', inputs, [shown(y, nchw)], f is nearest)


def cases(out):
    pools(out)
    resizes(out)
