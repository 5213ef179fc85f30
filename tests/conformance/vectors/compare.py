# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and choosing between elements."""
import operator
from fractions import Fraction

from .common import broadcast
from .formats import B8, F16, F32, I32, q8, q8s
from .spec import tag
from .tensor import Array, Random, Tensor, codes, rounded

COMPARISONS = {'EQUAL': operator.eq, 'NOT_EQUAL': operator.ne, 'LESS': operator.lt, 'LESS_EQUAL': operator.le,
               'GREATER': operator.gt, 'GREATER_EQUAL': operator.ge}


def comparisons(out):
    # The scales are powers of two, so that equal real numbers are equal in any arithmetic.
    for name, f in COMPARISONS.items():
        for form_a, form_b, low, high in ((F32, F32, -1, 1), (F16, F16, -1, 1), (I32, I32, -3, 3),
                                          (q8('0.5', 100), q8('0.25', 30), 0, 0),
                                          (q8s('0.25', -7), q8s('0.5', 20), 0, 0), (B8, B8, 0, 1)):
            if form_a is B8 and name not in ('EQUAL', 'NOT_EQUAL'):
                continue
            rnd = Random(name + tag(form_a))
            if form_a.quantised:
                a = rnd.codes(form_a, [2, 1, 9], form_a.zero - 6, form_a.zero + 6)
                b = rnd.codes(form_b, [5, 1], form_b.zero - 6, form_b.zero + 6)
            elif form_a.floating:
                a, b = rnd.reals(form_a, [2, 1, 9], low, high, Fraction(1, 4)), rnd.reals(form_b, [5, 1], low, high, Fraction(1, 4))
            else:
                a, b = rnd.codes(form_a, [2, 1, 9], low, high), rnd.codes(form_b, [5, 1], low, high)
            y = broadcast(a.real, b.real, lambda p, q, f=f: int(f(p, q)))
            out.add(name, f'{tag(form_a)}_broadcast', [a, b], [codes(B8, y)], True)


def logic(out):
    for name, f in (('LOGICAL_AND', lambda a, b: a & b), ('LOGICAL_OR', lambda a, b: a | b)):
        for what, dims_a, dims_b in (('same', [3, 5], [3, 5]), ('broadcast', [2, 1, 5], [3, 1]), ('row', [7], [4, 7])):
            rnd = Random(name + what)
            a, b = rnd.codes(B8, dims_a), rnd.codes(B8, dims_b)
            out.add(name, what, [a, b], [codes(B8, broadcast(a, b, f))], True)
    for dims in ([9], [3, 5], [2, 1, 3, 2]):
        x = Random('not').codes(B8, dims)
        out.add('LOGICAL_NOT', f'rank{len(dims)}', [x], [codes(B8, x.map(lambda v: 1 - v))], True)


def extremes(out):
    for name, f in (('MAXIMUM', max), ('MINIMUM', min)):
        for form_a, form_b, form_y in ((F32, F32, F32), (F16, F16, F16), (I32, I32, I32),
                                       (q8('0.1', 100), q8('0.07', 140), q8('0.12', 90)),
                                       (q8s('0.2', 10), q8s('0.11', -60), q8s('0.15', -3))):
            rnd = Random(name + tag(form_a))
            a, b = rnd.fill(form_a, [2, 1, 7]), rnd.fill(form_b, [3, 1])
            y = broadcast(a.real, b.real, f)
            out.add(name, f'{tag(form_a)}_broadcast', [a, b], [rounded(form_y, y)], not form_a.quantised)


def select(out):
    for form_a, form_b, form_y, dims in ((F32, F32, F32, [2, 3, 5]), (F16, F16, F16, [7]), (I32, I32, I32, [3, 2, 1, 4]),
                                         (q8('0.1', 100), q8('0.07', 140), q8('0.12', 90), [3, 7]),
                                         (q8s('0.2', 10), q8s('0.11', -60), q8s('0.15', -3), [2, 9])):
        rnd = Random('select' + tag(form_a))
        condition, a, b = rnd.codes(B8, dims), rnd.fill(form_a, dims), rnd.fill(form_b, dims)
        y = Array(dims, [p if c else q for c, p, q in zip(condition.values, a.real.values, b.real.values)])
        out.add('SELECT', tag(form_a), [condition, a, b], [rounded(form_y, y)], not form_a.quantised)
    condition = Tensor(B8, [4], [2, 0, 255, 1])
    a, b = Tensor(I32, [4], [1, 2, 3, 4]), Tensor(I32, [4], [-1, -2, -3, -4])
    out.add('SELECT', 'any_byte_but_0_is_true', [condition, a, b], [Tensor(I32, [4], [1, -2, 3, 4])], True)


def cases(out):
    comparisons(out)
    logic(out)
    extremes(out)
    select(out)
