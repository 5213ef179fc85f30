# SPDX-License-Identifier: Apache-2.0
"""What several families share: broadcasting and fused activations."""
from fractions import Fraction

from .tensor import Array

NONE, RELU, RELU1, RELU6 = range(4)
LIMITS = {NONE: (None, None), RELU: (0, None), RELU1: (-1, 1), RELU6: (0, 6)}


def clamp(x, low, high):
    x = x if low is None else max(x, Fraction(low))
    return x if high is None else min(x, Fraction(high))


def fuse(activation, array):
    return array.map(lambda x: clamp(x, *LIMITS[activation]))


def broadcast(a, b, f):
    """f(a[i], b[i]) over the common shape of a and b: aligned at the last axis, extents of 1 repeat."""
    rank = max(len(a.dims), len(b.dims))
    da, db = ((1,) * (rank - len(x.dims)) + x.dims for x in (a, b))
    dims = tuple(y if x == 1 else x for x, y in zip(da, db))

    def at(array, index):
        tail = index[rank - len(array.dims):]
        return array.at(tuple(0 if d == 1 else i for i, d in zip(tail, array.dims)))
    return Array.of(dims, lambda i: f(at(a, i), at(b, i)))
