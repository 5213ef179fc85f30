# SPDX-License-Identifier: Apache-2.0
"""Operations that only move values: index maps of the stored codes. Each of these vectors is exact."""

from .formats import F16, F32, I32, q8, q8s
from .spec import Omitted, Scalar, tag
from .tensor import Array, Random, codes, const, ints, rounded, tensor

Q8, Q8S = q8('0.1', 77), q8s('0.3', -20)
COMMON = [F32, Q8, F16, Q8S]
WITH_INTEGERS = [F32, Q8, F16, Q8S, I32]


def moved(out, name, forms, variants, f):
    """A vector for each variant (dims, parameters), with the formats in turn; f(x, parameters) -> (inputs, arrays of codes)."""
    for n in range(max(len(forms), len(variants))):
        form, (dims, *parameters) = forms[n % len(forms)], variants[n % len(variants)]
        x = Random(name + str(n)).fill(form, dims)
        inputs, arrays = f(x, *parameters)
        out.add(name, f'{tag(form)}_{n}', inputs, [codes(form, y) for y in arrays], True)


def reshape(x, asked, dims):
    return [x, ints(*asked)], [Array(dims, x.values)]


def squeeze(x, axes):
    rank = len(x.dims)
    gone = {a for a in range(rank) if x.dims[a] == 1} if axes is None else {a % rank for a in axes}
    dims = [d for a, d in enumerate(x.dims) if a not in gone] or [1]
    return [x, Omitted(I32) if axes is None else ints(*axes)], [Array(dims, x.values)]


def expand_dims(x, axis):
    dims = list(x.dims)
    dims.insert(axis % (len(dims) + 1), 1)
    return [x, axis], [Array(dims, x.values)]


def transpose(x, order):
    return [x, Omitted(I32) if order is None else ints(*order)], [x.permute(order or [1, 0])]


def slice_of(x, begin, size):
    dims = [d - b if s < 0 else s for d, b, s in zip(x.dims, begin, size)]
    return [x, ints(*begin), ints(*size)], [Array.of(dims, lambda i: x.at(tuple(a + b for a, b in zip(i, begin))))]


def strided_slice(x, begin, end, stride, begin_mask=0, end_mask=0, shrink=0):
    """Axis by axis, the positions that range gives after negative and far ends are brought into the tensor."""
    picks = []
    for a, (d, b, e, s) in enumerate(zip(x.dims, begin, end, stride)):
        low, high = (0, d) if s > 0 else (-1, d - 1)
        b, e = (min(max(v + d if v < 0 else v, low), high) for v in (b, e))
        if begin_mask >> a & 1:
            b = 0 if s > 0 else d - 1
        if end_mask >> a & 1:
            e = d if s > 0 else -1
        picks.append(list(range(b, e, s)))
    kept = [a for a in range(len(picks)) if not shrink >> a & 1]
    full = Array.of([len(p) for p in picks], lambda i: x.at(tuple(p[k] for p, k in zip(picks, i))))
    return ([x, ints(*begin), ints(*end), ints(*stride), begin_mask, end_mask, shrink],
            [Array([len(picks[a]) for a in kept] or [1], full.values)])


def split(x, axis, pieces):
    a = axis % len(x.dims)
    width = x.dims[a] // pieces
    dims = [width if i == a else d for i, d in enumerate(x.dims)]
    return [x, axis, pieces], [Array.of(dims, lambda i, t=t: x.at(i[:a] + (i[a] + t * width,) + i[a + 1:])) for t in range(pieces)]


def tile(x, multiples):
    dims = [d * m for d, m in zip(x.dims, multiples)]
    return [x, ints(*multiples)], [Array.of(dims, lambda i: x.at(tuple(k % d for k, d in zip(i, x.dims))))]


def gather(x, axis, at):
    a = axis % len(x.dims)
    index = tensor(I32, at.dims, at.values)
    rank = len(at.dims)
    dims = x.dims[:a] + at.dims + x.dims[a + 1:]
    return [x, axis, index], [Array.of(dims, lambda i: x.at(i[:a] + (at.at(i[a:a + rank]),) + i[a + rank:]))]


def pads_tensor(pads):
    return const(tensor(I32, [len(pads), 2], [p for pair in pads for p in pair]))


def padded(x, pads, value):
    dims = [d + b + e for d, (b, e) in zip(x.dims, pads)]

    def at(i):
        source = tuple(k - b for k, (b, _) in zip(i, pads))
        return x.at(source) if x.inside(source) else value
    return Array.of(dims, at)


def pad(x, pads):
    return [x, pads_tensor(pads)], [padded(x, pads, x.form.zero)]


def pad_v2(x, pads, value):
    scalar = Scalar(I32 if x.form.quantised else x.form, value)
    return [x, pads_tensor(pads), scalar], [padded(x, pads, scalar.value)]


def mirror_pad(x, pads, mode):
    """The positions along an axis of 5: REFLECT .. 2 1 0 1 2 3 4 3 2 .., SYMMETRIC .. 1 0 0 1 2 3 4 4 3 .."""
    def source(k, d):
        if mode == 0:
            return -k if k < 0 else 2 * (d - 1) - k if k >= d else k
        return -1 - k if k < 0 else 2 * d - 1 - k if k >= d else k
    dims = [d + b + e for d, (b, e) in zip(x.dims, pads)]
    return ([x, pads_tensor(pads), mode],
            [Array.of(dims, lambda i: x.at(tuple(source(k - b, d) for k, (b, _), d in zip(i, pads, x.dims))))])


def reverse(x, axis):
    last = x.dims[axis] - 1
    return [x, ints(axis)], [Array.of(x.dims, lambda i: x.at(i[:axis] + (last - i[axis],) + i[axis + 1:]))]


def channel_shuffle(x, groups, axis):
    a = axis % len(x.dims)
    width = x.dims[a] // groups
    return [x, groups, axis], [Array.of(x.dims, lambda i: x.at(i[:a] + (i[a] % groups * width + i[a] // groups,) + i[a + 1:]))]


TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]


def in_layout(f):
    """A function of NHWC data as one of either layout: the flag is the last parameter, the last input."""
    def g(x, *parameters):
        *parameters, nchw = parameters
        if nchw is None:
            return f(x, *parameters)
        inputs, arrays = f(codes(x.form, x.permute(TO_NHWC)) if nchw else x, *parameters)
        return [x, *inputs[1:], nchw], [y.permute(TO_NCHW) if nchw else y for y in arrays]
    return g


def depth_to_space(x, b):
    n, h, w, c = x.dims
    depth = c // (b * b)
    return [x, b], [Array.of([n, h * b, w * b, depth], lambda i: x[i[0], i[1] // b, i[2] // b,
                                                                   (i[1] % b * b + i[2] % b) * depth + i[3]])]


def space_to_depth(x, b):
    n, h, w, c = x.dims
    return [x, b], [Array.of([n, h // b, w // b, c * b * b],
                             lambda i: x[i[0], i[1] * b + i[3] // c // b, i[2] * b + i[3] // c % b, i[3] % c])]


def batch_to_space(x, p, q):
    n, h, w, c = x.dims
    n //= p * q
    return [x, ints(p, q)], [Array.of([n, h * p, w * q, c], lambda i: x[(i[1] % p * q + i[2] % q) * n + i[0],
                                                                        i[1] // p, i[2] // q, i[3]])]


def space_to_batch(x, p, q, pads):
    y = padded(x, [(0, 0), *pads, (0, 0)], x.form.zero)
    n, h, w, c = y.dims
    return ([x, ints(p, q), pads_tensor(pads)],
            [Array.of([n * p * q, h // p, w // q, c],
                      lambda i: y[i[0] % n, i[1] * p + i[0] // n // q, i[2] * q + i[0] // n % q, i[3]])])


def joined(out):
    """CONCATENATION and PACK, of several inputs."""
    for n, (form, widths, dims, axis) in enumerate(((F32, [2, 1, 3], [3, 0, 5], 1), (F16, [1, 4], [0, 3], 0),
                                                    (Q8, [2, 2, 1], [2, 1, 3, 0], 3),
                                                    (Q8S, [3], [2, 0], 1), (F32, [1, 2], [2, 3, 0, 2], 2))):
        rnd = Random('concatenation' + str(n))
        xs = [rnd.fill(form, [w if a == axis else d for a, d in enumerate(dims)]) for w in widths]
        places = [(x, k) for x in xs for k in range(x.dims[axis])]
        y = Array.of([sum(widths) if a == axis else d for a, d in enumerate(dims)],
                     lambda i, p=places, a=axis: p[i[a]][0].at(i[:a] + (p[i[a]][1],) + i[a + 1:]))
        out.add('CONCATENATION', f'{tag(form)}_{n}', [*xs, axis], [codes(form, y)], True)
    for forms, form_y in (((q8('0.1', 77), q8('0.25', 3)), q8('0.17', 60)),
                          ((q8s('0.2', -9), q8s('0.2', -9), q8s('0.07', 99)), q8s('0.2', -9))):
        rnd = Random('requantised' + tag(form_y))
        xs = [rnd.fill(f, [3, 5]) for f in forms]
        y = Array([3 * len(xs), 5], [v for x in xs for v in x.real.values])
        out.add('CONCATENATION', f'{tag(form_y)}_requantised', [*xs, 0], [rounded(form_y, y)])
    for n, (form, count, dims, axis) in enumerate(((F32, 3, [2, 5], 1), (F16, 2, [3], 1), (I32, 4, [2, 1, 3], 0),
                                                   (Q8, 2, [3, 2], 2), (Q8S, 1, [2, 3], 0))):
        rnd = Random('pack' + str(n))
        xs = [rnd.fill(form, dims) for _ in range(count)]
        y = Array.of(dims[:axis] + [count] + dims[axis:], lambda i, p=xs, a=axis: p[i[a]].at(i[:a] + i[a + 1:]))
        out.add('PACK', f'{tag(form)}_{n}', [axis, *xs], [codes(form, y)], True)


def indexed(out):
    moved(out, 'RESHAPE', WITH_INTEGERS, [([2, 3, 5], [5, -1], [5, 6]), ([4, 3], [2, 1, 6], [2, 1, 6]),
                                          ([12], [-1, 2, 3, 1], [2, 2, 3, 1]),
                                          ([1, 2, 3, 2], [-1], [12]), ([6, 2], [3, 4], [3, 4])], reshape)
    moved(out, 'SQUEEZE', COMMON, [([1, 3, 1, 5], None), ([1, 3, 1, 5], [0]), ([1, 2, 1], [-1, 2]), ([1, 1], None)], squeeze)
    moved(out, 'EXPAND_DIMS', WITH_INTEGERS, [([3, 5], 1), ([7], -1), ([2, 3, 2], 0), ([2, 3], -2), ([4], 1)], expand_dims)
    moved(out, 'TRANSPOSE', COMMON, [([2, 3, 1, 5], [3, 0, 2, 1]), ([3, 5], None), ([2, 3, 4], [1, 2, 0]),
                                     ([3, 2, 5], [2, 0, 1])], transpose)
    moved(out, 'SLICE', WITH_INTEGERS, [([3, 5], [1, 2], [2, -1]), ([9], [4], [3]), ([2, 3, 4, 5], [1, 0, 2, 1], [1, 2, -1, 3]),
                                        ([4, 3], [0, 1], [-1, 1]), ([5, 4, 3], [2, 3, 0], [3, 1, 2])], slice_of)
    moved(out, 'STRIDED_SLICE', COMMON, [([5, 7], [1, 6], [5, 0], [2, -3]), ([9], [-2], [-8], [-2]),
                                         ([3, 5, 4], [0, 9, 1], [2, -9, 2], [1, -2, 1], 1, 2, 4),
                                         ([4, 3], [1, 2], [2, 3], [1, 1], 0, 0, 3),
                                         ([2, 3, 4, 5], [0, 1, 3, -4], [9, 3, 0, 5], [1, 1, -1, 3], 8, 5, 0),
                                         ([6, 5], [4, 1], [1, 5], [-2, 3], 1, 2, 0)], strided_slice)
    moved(out, 'SPLIT', WITH_INTEGERS, [([2, 6], 1, 3), ([4, 3], 0, 2), ([3, 2, 5], -1, 5), ([2, 4, 3], -2, 2), ([5], 0, 1)], split)
    moved(out, 'TILE', WITH_INTEGERS, [([2, 3], [2, 3]), ([4], [3]), ([1, 2, 3], [2, 1, 2]), ([2, 1, 3, 1], [1, 3, 2, 2]),
                                       ([3, 2], [1, 1])], tile)
    moved(out, 'GATHER', WITH_INTEGERS, [([3, 5], 1, Array([3], [4, 0, 4])), ([7], 0, Array([2, 2], [6, 1, 0, 5])),
                                         ([2, 3, 4], -2, Array([2, 3], [2, 2, 0, 1, 0, 2])),
                                         ([4, 2, 3], 0, Array([1], [3])), ([3, 4], -1, Array([2, 1], [3, 1]))], gather)
    moved(out, 'REVERSE', WITH_INTEGERS, [([3, 5], 1), ([7], 0), ([2, 3, 4], 1), ([2, 3, 2, 3], 3), ([4, 3], 0)], reverse)
    moved(out, 'CHANNEL_SHUFFLE', COMMON, [([2, 3, 2, 6], 3, -1), ([6, 5], 2, 0), ([2, 8, 3], 4, 1), ([2, 6, 3, 1], 2, -3)],
          channel_shuffle)


def pads(out):
    moved(out, 'PAD', COMMON, [([2, 3], [(1, 2), (0, 3)]), ([2, 1, 3, 2], [(0, 0), (1, 0), (2, 1), (0, 1)]), ([5], [(3, 0)]),
                               ([2, 3, 2], [(0, 1), (2, 0), (1, 1)])], pad)
    moved(out, 'PAD_V2', COMMON, [([2, 3], [(1, 2), (0, 3)], 9), ([2, 1, 3, 2], [(0, 0), (1, 0), (2, 1), (0, 1)], 5),
                                  ([5], [(3, 1)], -2),
                                  ([2, 3, 2], [(0, 1), (2, 0), (1, 1)], -100)], pad_v2)
    moved(out, 'MIRROR_PAD', WITH_INTEGERS, [([3, 5], [(2, 1), (0, 4)], 0), ([3, 5], [(3, 1), (2, 5)], 1), ([4], [(3, 3)], 0),
                                             ([2, 3, 2], [(1, 2), (3, 0), (0, 1)], 1),
                                             ([2, 3, 2, 3], [(1, 0), (2, 2), (0, 1), (1, 1)], 0)], mirror_pad)


def blocks(out):
    moved(out, 'DEPTH_TO_SPACE', COMMON, [([2, 3, 1, 12], 2, None), ([2, 1, 2, 9], 3, False), ([2, 8, 3, 2], 2, True),
                                          ([1, 2, 3, 8], 2, False)], in_layout(depth_to_space))
    moved(out, 'SPACE_TO_DEPTH', COMMON, [([2, 4, 6, 3], 2, None), ([2, 3, 6, 2], 3, False), ([2, 3, 4, 2], 2, True),
                                          ([3, 2, 4, 1], 2, False)], in_layout(space_to_depth))
    moved(out, 'BATCH_TO_SPACE_ND', COMMON, [([12, 2, 3, 1], 2, 3, None), ([6, 1, 2, 3], 3, 1, False), ([8, 3, 1, 2], 2, 2, True),
                                             ([4, 2, 1, 2], 1, 2, False)], in_layout(batch_to_space))
    moved(out, 'SPACE_TO_BATCH_ND', COMMON, [([2, 3, 4, 2], 2, 3, [(1, 0), (2, 3)], None),
                                             ([1, 3, 2, 3], 3, 1, [(0, 0), (1, 0)], False),
                                             ([2, 2, 3, 1], 2, 2, [(0, 1), (1, 2)], True),
                                             ([2, 1, 5, 2], 1, 2, [(0, 1), (1, 0)], False)], in_layout(space_to_batch))


def cases(out):
    joined(out)
    indexed(out)
    pads(out)
    blocks(out)
