# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""
import math
from fractions import Fraction

from .common import NONE, RELU, RELU1, RELU6, fuse
from .conv import FLOAT, HALF, QUANT, SIGNED, operands
from .formats import F16, F32, I32, q8s
from .spec import tag
from .tensor import Array, Random, Tensor, rounded


def fully_connected(out):
    for n, (forms, dims, weights, activation) in enumerate((
            (FLOAT, [3, 7], [5, 7], NONE), (HALF, [2, 5], [3, 5], RELU6), (QUANT, [3, 11], [7, 11], NONE),
            (SIGNED, [4, 6], [5, 6], RELU),
            (FLOAT, [2, 3, 1, 4], [3, 8], RELU1), (QUANT, [2, 2, 3], [2, 4], RELU6))):
        x, w, b, b_real = operands('fully' + str(n), forms, dims, weights, weights[0])
        b_real = b_real.real if isinstance(b_real, Tensor) else b_real
        size = weights[1]
        rows = Array([math.prod(dims) // size, size], x.real.values).rows()
        y = Array([len(rows), weights[0]], [sum(p * q for p, q in zip(row, column)) + bias
                                            for row in rows for column, bias in zip(w.real.rows(), b_real.values)])
        out.add('FULLY_CONNECTED', f'{tag(forms[0])}_{n}', [x, w, b, activation], [rounded(forms[2], fuse(activation, y))],
                forms[0] is F32)


def batch_matmul(out):
    for n, (form_a, form_b, form_y, batch, m, k, p, adjoint_a, adjoint_b) in enumerate((
            (F32, F32, F32, [2, 3], 3, 5, 2, False, False), (F16, F16, F16, [2], 2, 3, 4, True, False),
            (q8s('0.03', -11), q8s('0.05', 20), q8s('0.2', 7), [3], 4, 3, 5, False, True),
            (I32, I32, I32, [1, 2], 3, 2, 5, True, True),
            (F32, F32, F32, [], 2, 7, 3, False, True), (q8s('0.1', 5), q8s('0.02', -70), q8s('0.3', -60), [2, 2],
                                                        2, 5, 3, True, False))):
        rnd = Random('batch_matmul' + str(n))
        a = rnd.fill(form_a, batch + ([k, m] if adjoint_a else [m, k]), -2, 2, Fraction(1, 4))
        b = rnd.fill(form_b, batch + ([p, k] if adjoint_b else [k, p]), -2, 2, Fraction(1, 4))

        def element(i, a=a.real, b=b.real, k=k, ta=adjoint_a, tb=adjoint_b):
            at, row, column = i[:-2], i[-2], i[-1]
            return sum(a.at(at + ((q, row) if ta else (row, q))) * b.at(at + ((column, q) if tb else (q, column)))
                       for q in range(k))
        y = Array.of(batch + [m, p], element)
        out.add('BATCH_MATMUL', f'{tag(form_a)}_{n}', [a, b, adjoint_a, adjoint_b], [rounded(form_y, y)], not form_a.quantised)


def cases(out):
    fully_connected(out)
    batch_matmul(out)
