# SPDX-License-Identifier: Apache-2.0
"""Arrays of numbers, tensors, and the generator that fills them."""
import itertools
import math
from fractions import Fraction

from .formats import I32, PerChannel


def indices(dims):
    return itertools.product(*map(range, dims))


class Array:
    """A row-major array: a[i, j], a.dims, a.values."""

    def __init__(self, dims, values):
        self.dims, self.values = tuple(dims), list(values)
        if len(self.values) != math.prod(self.dims):
            raise ValueError(f'{len(self.values)} values in {self.dims}')

    @staticmethod
    def of(dims, f):
        """The array whose element at index i (a tuple) is f(i)."""
        return Array(dims, [f(i) for i in indices(dims)])

    def at(self, index):
        offset = 0
        for i, d in zip(index, self.dims, strict=True):
            if not 0 <= i < d:
                raise IndexError(f'{index} in {self.dims}')
            offset = offset * d + i
        return self.values[offset]

    def __getitem__(self, index):
        return self.at(index if isinstance(index, tuple) else (index,))

    def map(self, f):
        return Array(self.dims, [f(v) for v in self.values])

    def inside(self, index):
        return all(0 <= i < d for i, d in zip(index, self.dims))

    def permute(self, order):
        """Axis i of the result is axis order[i] of this."""
        return Array.of([self.dims[o] for o in order], lambda i: self.at(tuple(i[order.index(a)] for a in range(len(order)))))

    def rows(self):
        """A matrix as a list of lists."""
        n = self.dims[-1]
        return [self.values[i:i + n] for i in range(0, len(self.values), n)]


class Tensor(Array):
    """An array of stored values (codes) of a format. constant: part of the model; ignored: an output that is not compared."""

    def __init__(self, form, dims, codes, constant=False, ignored=False, open_dims=None):
        super().__init__(dims, codes)
        self.form, self.constant, self.ignored, self.open_dims = form, constant, ignored, open_dims

    @property
    def real(self):
        """The real numbers that the codes stand for."""
        f = self.form
        if isinstance(f, PerChannel):
            return Array(self.dims, [c * f.scales[i[f.axis]] for i, c in zip(indices(self.dims), self.values)])
        return Array(self.dims, [f.real(c) for c in self.values])


def tensor(form, dims, reals, **options):
    """A tensor of real numbers, each rounded to the format."""
    return Tensor(form, dims, [form.code(x) for x in reals], **options)


def const(t):
    t.constant = True
    return t


def rounded(form, array, **options):
    """The tensor of an array of exact real numbers: each rounded once."""
    return tensor(form, array.dims, array.values, **options)


def codes(form, array, **options):
    """The tensor of an array of codes, which an operation only moves."""
    return Tensor(form, array.dims, array.values, **options)


def ints(*values):
    """A constant vector of TENSOR_INT32."""
    return Tensor(I32, [len(values)], values, constant=True)


class Random:
    """A 64-bit linear congruential generator, seeded by a name: the same values on every machine."""

    def __init__(self, name):
        self.state = 0
        for byte in name.encode():
            self.state = (self.state * 257 + byte + 1) % (1 << 64)

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def shuffle(self, values):
        for i in range(len(values) - 1, 0, -1):
            j = self.below(i + 1)
            values[i], values[j] = values[j], values[i]
        return values

    def codes(self, form, dims, low=None, high=None):
        """Codes over the range of the type, or over low to high."""
        low, high = form.low if low is None else low, form.high if high is None else high
        return Tensor(form, dims, [self.between(low, high) for _ in range(math.prod(dims))])

    def reals(self, form, dims, low=-4, high=4, step=Fraction(1, 8)):
        """Multiples of step from low to high, rounded to the format."""
        low, high = math.ceil(low / Fraction(step)), math.floor(high / Fraction(step))
        return tensor(form, dims, [self.between(low, high) * Fraction(step) for _ in range(math.prod(dims))])

    def fill(self, form, dims, low=-4, high=4, step=Fraction(1, 8)):
        """Codes over the whole range of quantised types, small integers for int32, booleans, multiples of step otherwise."""
        if isinstance(form, PerChannel) or form.quantised or form.size == 1:
            return self.codes(form, dims, -127 if isinstance(form, PerChannel) else None)
        return self.codes(form, dims, -99, 99) if form.name == I32.name else self.reals(form, dims, low, high, step)
