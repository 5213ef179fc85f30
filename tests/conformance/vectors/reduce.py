# SPDX-License-Identifier: Apache-2.0
"""Reductions over axes, positions of extremes, the k largest."""
import math
from fractions import Fraction

from .formats import B8, F16, F32, I32, q8, q8s
from .spec import tag
from .tensor import Array, Random, Tensor, codes, indices, ints, rounded

Q8, Q8S = q8('0.1', 77), q8s('0.3', -20)


def reduced(x, axes, keep, f):
    """f(list of values) over the axes (negative ones count from behind), which vanish or stay as 1."""
    rank = len(x.dims)
    axes = {a % rank for a in axes}
    groups = {}
    for i, v in zip(indices(x.dims), x.values):
        groups.setdefault(tuple(0 if a in axes else n for a, n in enumerate(i)), []).append(v)
    dims = [1 if a in axes else d for a, d in enumerate(x.dims) if keep or a not in axes] or [1]
    return Array(dims, [f(groups[i]) for i in sorted(groups)])


def mean(v):
    return sum(v, Fraction(0)) / len(v)


def any_of(v):
    return int(any(v))


def all_of(v):
    return int(all(v))


# Over which axes of which shapes: some negative, some twice, all of them, none kept or all kept.
FORMS = [([2, 3, 1, 5], [1, -1], False), ([3, 5], [0], True), ([2, 3, 2, 3], [-4, 2, -2], True), ([7], [0], False),
         ([2, 3, 5], [0, 1, 2], False)]


def reductions(out):
    for name, f, forms in (('MEAN', mean, (F32, F16, Q8, Q8S, F32)), ('REDUCE_SUM', sum, (F32, F16, F32, F16, F32)),
                           ('REDUCE_PROD', math.prod, (F32, F16, F32, F16, F32)), ('REDUCE_MAX', max, (F32, F16, Q8, Q8S, F32)),
                           ('REDUCE_MIN', min, (F32, Q8S, F16, F16, Q8)), ('REDUCE_ANY', any_of, (B8,) * 5),
                           ('REDUCE_ALL', all_of, (B8,) * 5)):
        for n, (form, (dims, axes, keep)) in enumerate(zip(forms, FORMS)):
            rnd = Random(name + str(n))
            if name == 'REDUCE_PROD':
                x = Tensor(form, dims, [Fraction((-1) ** rnd.below(2) * (3 + rnd.below(3)), 4) for _ in range(math.prod(dims))])
            elif form is B8:
                rare = int(f is any_of)
                x = Tensor(form, dims, [rare ^ int(rnd.below(6) > 0) for _ in range(math.prod(dims))])
            else:
                x = rnd.fill(form, dims, -4, 4)
            y = reduced(x.real, axes, keep, f)
            keep_dims = int(keep) * 5 if name == 'MEAN' else keep
            exact = f in (max, min, any_of, all_of) or (f is sum and form is F32)
            out.add(name, f'{tag(form)}_{n}', [x, ints(*axes), keep_dims], [rounded(form, y)], exact)


def distinct(rnd, form, dims):
    """Different values in a random order."""
    values = rnd.shuffle(list(range(-(math.prod(dims) // 2), math.prod(dims) - math.prod(dims) // 2)))
    if form.quantised:
        middle = (form.low + form.high) // 2
        return Tensor(form, dims, [middle + v for v in values])
    return Tensor(form, dims, [Fraction(v, 4) if form.floating else v * 1000 for v in values])


def positions(out):
    for name, best in (('ARGMAX', max), ('ARGMIN', min)):
        for n, (form, dims, axis) in enumerate(((F32, [2, 3, 5], 1), (F16, [4, 3], -2), (I32, [2, 1, 3, 7], -1), (Q8, [9], 0),
                                                (Q8S, [3, 5, 2], -3))):
            x = distinct(Random(name + str(n)), form, dims)
            y = reduced(x, [axis], False, lambda v, best=best: v.index(best(v)))
            out.add(name, f'{tag(form)}_{n}', [x, axis], [codes(I32, y)], True)


def top_k(out):
    for n, (form, dims, k) in enumerate(((F32, [3, 7], 3), (F16, [2, 2, 5], 5), (I32, [9], 1), (Q8, [2, 11], 4),
                                         (Q8S, [2, 1, 2, 6], 2))):
        x = distinct(Random('topk' + str(n)), form, dims)
        order = [sorted(range(dims[-1]), key=lambda i, r=row: -r[i])[:k] for row in x.rows()]
        values = [row[i] for row, o in zip(x.rows(), order) for i in o]
        y_dims = dims[:-1] + [k]
        out.add('TOPK_V2', f'{tag(form)}_{n}', [x, k], [Tensor(form, y_dims, values), Tensor(I32, y_dims, sum(order, []))], True)


def cases(out):
    reductions(out)
    positions(out)
    top_k(out)
