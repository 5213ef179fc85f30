# SPDX-License-Identifier: Apache-2.0
"""Lookups, and LSH_PROJECTION with its hash."""
from fractions import Fraction

from .formats import F16, F32, I32, q8, q8s
from .spec import Omitted, tag
from .tensor import Random, Tensor, const, tensor

MASK = (1 << 64) - 1
K0, K1, K2 = 0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f


def fingerprint64(s):
    """FarmHash's Fingerprint64 of at most 32 bytes."""
    n = len(s)
    m = (K2 + 2 * n) & MASK

    def load(at, size=8):
        return int.from_bytes(s[at:at + size], 'little')

    def rotate(v, k):
        return ((v & MASK) >> k | v << 64 - k) & MASK

    def shift_mix(v):
        return (v ^ v >> 47) & MASK

    def mix(u, v):
        a = shift_mix(((u ^ v) & MASK) * m & MASK)
        return shift_mix(((v ^ a) & MASK) * m & MASK) * m & MASK
    if n == 0:
        return K2
    if n < 4:
        y, z = s[0] + 256 * s[n // 2], n + 4 * s[n - 1]
        return shift_mix((y * K2 ^ z * K0) & MASK) * K2 & MASK
    if n < 8:
        return mix(n + 8 * load(0, 4), load(n - 4, 4))
    if n <= 16:
        a, b = (load(0) + K2) & MASK, load(n - 8)
        c = (rotate(b, 37) * m + a) & MASK
        return mix(c, (rotate(a, 25) + b) * m & MASK)
    if n <= 32:
        a, b, c, d = load(0) * K1 & MASK, load(8), load(n - 8) * m & MASK, load(n - 16) * K2 & MASK
        return mix((rotate(a + b, 43) + rotate(c, 30) + d) & MASK, (a + rotate(b + K2, 18) + c) & MASK)
    raise ValueError('too long')


DEPRECATED, DENSE, SPARSE = 1, 2, 3


def projection(hashes, x, weight, kind):
    """The bits: signs of the weighted sums of the hashes of (seed, row)."""
    rows, size = x.dims[0], len(x.values) // x.dims[0]
    raw = [b''.join(x.form.pack(c) for c in x.values[r * size:(r + 1) * size]) for r in range(rows)]
    bits = []
    for seed in hashes.values:
        score = 0
        for r, w in enumerate(weight.values if weight else [1] * rows):
            v = fingerprint64(F32.pack(seed) + raw[r])
            score += w * Fraction(v - (1 << 64) if v >> 63 else v)
        bits.append(int(score > 0))
    if kind == DENSE:
        return bits
    width = hashes.dims[1]
    words = [bits[h * width:(h + 1) * width] for h in range(hashes.dims[0])]
    return [sum(b << (width - 1 - i) for i, b in enumerate(word)) + ((h << width) if kind == SPARSE else 0)
            for h, word in enumerate(words)]


def lsh(out):
    for n, (form_h, form_x, dims, hash_dims, weighted, kind) in enumerate((
            (F32, F32, [3, 2], [4, 2], True, DENSE), (F32, I32, [5], [3, 5], False, SPARSE),
            (F16, F16, [2, 3], [2, 4], True, DENSE),
            (F32, q8('0.5', 9), [4, 3], [5, 3], False, DEPRECATED), (F32, F32, [2, 5], [3, 3], False, SPARSE),
            (F16, I32, [3, 1], [3, 4], True, DENSE), (F32, q8('0.5', 9), [3, 1], [2, 7], True, DENSE))):
        rnd = Random('lsh' + str(n))
        h, x = const(rnd.reals(form_h, hash_dims, -1, 1, Fraction(1, 499))), rnd.fill(form_x, dims, -4, 4, Fraction(1, 97))
        weight = rnd.reals(form_h, [dims[0]], Fraction(1, 4), 2) if weighted else None
        y = projection(h, x, weight, kind)
        out.add('LSH_PROJECTION', f'{["sparse_deprecated", "dense", "sparse"][kind - 1]}_{tag(form_x)}_{n}',
                [h, x, weight if weighted else Omitted(form_h), kind], [Tensor(I32, [len(y)], y)], True)


def cases(out):
    for n, (form, dims, at) in enumerate(((F32, [5, 3], [4, 0, 4, 2]), (F16, [3, 2, 2], [2, 1]), (I32, [4, 1], [3, 3, 0]),
                                          (q8('0.1', 77), [6, 5], [5, 2, 1]),
                                          (q8s('0.3', -7), [2, 1, 3, 2], [1, 0, 1]))):
        x = Random('embedding' + str(n)).fill(form, dims)
        size = len(x.values) // dims[0]
        out.add('EMBEDDING_LOOKUP', f'{tag(form)}_{n}', [tensor(I32, [len(at)], at), x],
                [Tensor(form, [len(at), *dims[1:]], [v for a in at for v in x.values[a * size:(a + 1) * size]])], True)
    for n, (form, dims, keys, at) in enumerate(((F32, [4, 2], [-7, 0, 5, 99], [99, 1, -7, 5, 100]),
                                                (q8('0.1', 77), [3, 5], [1, 2, 30], [2, 3, 30]),
                                                (I32, [5, 1, 2], [-9, -3, 0, 4, 8], [8, -9, -10, 4]))):
        x = Random('hashtable' + str(n)).fill(form, dims)
        size = len(x.values) // dims[0]
        missing = [0] * size
        values = [v for a in at for v in (x.values[keys.index(a) * size:(keys.index(a) + 1) * size] if a in keys else missing)]
        if form.floating:
            values = map(Fraction, values)
        out.add('HASHTABLE_LOOKUP', f'{tag(form)}_{n}', [tensor(I32, [len(at)], at), tensor(I32, [len(keys)], keys), x],
                [Tensor(form, [len(at), *dims[1:]], values), Tensor(q8(1, 0), [len(at)], [int(a in keys) for a in at])], True)
    lsh(out)
