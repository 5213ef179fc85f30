# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and functions of single elements."""
import math
from fractions import Fraction

from . import real
from .common import NONE, RELU, RELU1, RELU6, broadcast, clamp, fuse
from .formats import B8, F16, F32, I32, PerChannel, q8, q8s, q8sym, q16a, q16s
from .spec import Scalar, f16, f32, number, tag
from .tensor import Array, Random, Tensor, codes, const, rounded, tensor


def binary(out, name, f, form_a, form_b, form_y, dims_a, dims_b, activation, what, exact=False, step=Fraction(1, 8)):
    rnd = Random(name + what)
    a, b = rnd.fill(form_a, dims_a, step=step), const(rnd.fill(form_b, dims_b, step=step))
    y = fuse(activation, broadcast(a.real, b.real, f))
    out.add(name, what, [a, b, activation], [rounded(form_y, y)], exact)


def add_sub_mul(out):
    for name, f in (('ADD', lambda a, b: a + b), ('SUB', lambda a, b: a - b), ('MUL', lambda a, b: a * b)):
        y8, y8s = (q8('0.37', 91), q8s('0.41', -17)) if name != 'MUL' else (q8('0.11', 140), q8s('0.07', 9))
        binary(out, name, f, F32, F32, F32, [2, 1, 3, 5], [3, 1], NONE, 'float32_broadcast_both', True)
        binary(out, name, f, F32, F32, F32, [3, 7], [7], RELU1, 'float32_relu1_inexact', step=Fraction(1, 999))
        binary(out, name, f, F16, F16, F16, [1, 5], [2, 3, 1], RELU6, 'float16_relu6', True)
        binary(out, name, f, q8('0.25', 117), q8('0.1', 31), y8, [3, 11], [11], NONE, 'quant8_saturates')
        binary(out, name, f, q8('0.125', 128), q8('0.0625', 3), q8('0.05', 20), [2, 3, 5], [1, 5], RELU6, 'quant8_relu6')
        binary(out, name, f, q8s('0.3', -11), q8s('0.13', 50), y8s, [2, 2, 7], [2, 1], RELU, 'signed_relu')
        binary(out, name, f, I32, I32, I32, [2, 3, 1], [4], NONE, 'int32', True)


def div(out):
    def f(a, b):
        return a / b
    for form, activation, what in ((F32, NONE, 'float32_broadcast'), (F16, RELU6, 'float16_relu6'), (F32, RELU1, 'float32_relu1')):
        rnd = Random('div' + what)
        a, b = rnd.reals(form, [2, 1, 5]), rnd.reals(form, [3, 1], Fraction(1, 4), 4)
        b = tensor(form, b.dims, [-x if i % 2 else x for i, x in enumerate(b.values)])
        out.add('DIV', what, [a, b, activation], [rounded(form, fuse(activation, broadcast(a.real, b.real, f)))])
    a, b = Tensor(I32, [2, 6], [7, -7, 7, -7, 6, -6, 1, -1, 0, 100, -100, 99]), Tensor(I32, [2, 1], [2, -3])
    out.add('DIV', 'int32_floors', [a, b, NONE], [codes(I32, broadcast(a, b, lambda x, y: x // y))], True)


def unary(out, name, f, inputs, out_forms, exact=False, step=Fraction(1, 8), dims=([2, 3, 1, 5], [7], [3, 4])):
    """A vector for each input (format, low, high); the output has the format given, or that of the input."""
    for n, ((form, low, high), form_y) in enumerate(zip(inputs, out_forms)):
        what = tag(form) + (f'_{n}' if any(tag(form) == tag(i[0]) for i in inputs[:n]) else '')
        rnd = Random(name + what)
        if form.quantised or form.name == I32.name:
            x = rnd.codes(form, dims[n % len(dims)], low, high)
        else:
            x = rnd.reals(form, dims[n % len(dims)], low, high, step)
        out.add(name, what, [x], [rounded(form_y or form, x.real.map(f))], exact)


def functions(out):
    rough = Fraction(1, 997)
    same = [None] * 9
    unary(out, 'ABS', abs, [(F32, -9, 9), (F16, -4, 4), (I32, -99999, 99999)], same, True)
    unary(out, 'NEG', lambda x: -x, [(F32, -9, 9), (F16, -4, 4), (I32, -99999, 99999)], same, True)
    unary(out, 'FLOOR', lambda x: Fraction(math.floor(x)), [(F32, -5, 5), (F16, -3, 3), (F32, -70000, 70000)], same, True,
          dims=([2, 3, 1, 5], [7], [3, 4]), step=Fraction(3, 8))
    unary(out, 'EXP', real.exp, [(F32, -9, 4), (F16, -3, 3), (F32, -1, 1)], same, step=rough)
    unary(out, 'LOG', real.ln, [(F32, rough, 4), (F16, Fraction(1, 9), 9), (F32, 1, 999)], same, step=rough)
    unary(out, 'SIN', real.sin, [(F32, -4, 4), (F16, -3, 3), (F32, 4, 30)], same, step=rough)
    unary(out, 'SQRT', real.sqrt, [(F32, 0, 4), (F16, 0, 9), (F32, 1, 9999)], same, step=rough)
    unary(out, 'RSQRT', lambda x: 1 / real.sqrt(x),
          [(F32, rough, 4), (F16, Fraction(1, 9), 9), (q8('0.1', 20), 21, 255), (q8s('0.07', -90), -89, 127)],
          [None, None, q8('0.0125', 3), q8s('0.02', -120)], step=rough)
    tanh_forms = [None, None, q8(Fraction(1, 128), 128), q8s(Fraction(1, 128), 0)]
    unary(out, 'TANH', real.tanh, [(F32, -3, 3), (F16, -2, 2), (q8('0.03', 117), None, None), (q8s('0.05', 40), None, None)],
          tanh_forms, step=rough)
    unary(out, 'LOGISTIC', real.logistic,
          [(F32, -6, 6), (F16, -4, 4), (q8('0.05', 100), None, None), (q8s('0.09', 20), None, None)],
          [None, None, q8(Fraction(1, 256), 0), q8s(Fraction(1, 256), -128)], step=rough)
    for name, low, high in (('RELU', 0, None), ('RELU1', -1, 1), ('RELU6', 0, 6)):
        unary(out, name, lambda x, low=low, high=high: clamp(x, low, high),
              [(F32, -9, 9), (F16, -8, 8), (q8('0.04', 113), None, None), (q8s('0.07', -29), None, None)], same, True)
    unary(out, 'HARD_SWISH', lambda x: x * clamp(x + 3, 0, 6) / 6,
          [(F32, -5, 5), (F16, -4, 4), (q8('0.05', 121), None, None), (q8s('0.04', -9), None, None)],
          [None, None, q8('0.03', 13), q8s('0.035', -97)])


def two_inputs(out):
    for form, alpha, dims in ((F32, '0.7', [2, 3, 5]), (F16, '1.5', [4, 3]), (F32, 0, [7])):
        x = Random('elu' + tag(form) + str(alpha)).reals(form, dims, -4, 4, Fraction(1, 97))
        a = number(form, Fraction(alpha))
        y = x.real.map(lambda v, a=a: max(0, v) + min(0, a.value * (real.exp(v) - 1)))
        out.add('ELU', f'{tag(form)}_alpha_{str(alpha).replace(".", "_")}', [x, a], [rounded(form, y)])
    for form, alpha, form_y, dims in ((F32, F32, F32, [2, 3, 3, 5]), (F16, F16, F16, [3, 5]),
                                      (q8('0.1', 120), q8('0.05', 70), q8('0.08', 100), [2, 3, 5]),
                                      (q8s('0.1', -20), q8s('0.03', 30), q8s('0.09', 11), [3, 5])):
        rnd = Random('prelu' + tag(form))
        x, a = rnd.fill(form, dims), const(rnd.fill(alpha, [5]))
        y = broadcast(x.real, a.real, lambda v, s: v if v >= 0 else s * v)
        out.add('PRELU', f'{tag(form)}_by_channel', [x, a], [rounded(form_y, y)], form.floating)
    for form, what, low, high, exponents in ((F32, 'roots_and_powers', Fraction(1, 8), 4, ['0.5', '-1.25', '3']),
                                             (F32, 'negative_base', -4, 4, ['2', '3', '0']),
                                             (F16, 'float16', Fraction(1, 2), 3, ['1.5', '-2', '0.25'])):
        rnd = Random('pow' + what)
        x, e = rnd.reals(form, [2, 5, 1], low, high), tensor(form, [3], map(Fraction, exponents))
        out.add('POW', what, [x, e], [rounded(form, broadcast(x.real, e.real, real.power))])
    for form, what, dims in ((F32, 'both_ways', ([2, 3], [2, 3])),):
        x, e = Random('pow').reals(form, dims[0], Fraction(1, 4),
                                   3, Fraction(1, 97)), Random('pow2').reals(form, dims[1], -2, 2, Fraction(1, 97))
        out.add('POW', what, [x, e], [rounded(form, broadcast(x.real, e.real, real.power))])


def truncated(x):
    return Fraction(math.trunc(x))


def conversions(out):
    def cast(what, x, form_y, f, exact=True):
        numbers = Array(x.dims, map(Fraction, x.values))
        out.add('CAST', what, [x], [codes(form_y, numbers.map(f))], exact)
    awkward = [Fraction(n, 4) for n in (-5, -4, -3, -1, 0, 1, 3, 5, 7, 1019, 1020, 1021, 1023, 1024, 5000, -5000)]

    def to_q8(x):
        return int(clamp(truncated(clamp(x, 0, 255)), 0, 255))
    cast('float32_to_int32_truncates', tensor(F32, [2, 8], awkward), I32, lambda x: int(truncated(x)))
    cast('float32_to_quant8_saturates', tensor(F32, [16], awkward), q8('0.5', 7), to_q8)
    cast('float16_to_quant8', tensor(F16, [4, 4], awkward), q8('2', 200), to_q8)
    cast('float16_to_int32', tensor(F16, [16], awkward), I32, lambda x: int(truncated(x)))
    cast('int32_to_quant8', Tensor(I32, [2, 4], [-300, -1, 0, 7, 255, 256, 1000, 99]), q8('0.1', 3), to_q8)
    cast('int32_to_float32_to_even', Tensor(I32, [6], [16777217, 16777219, -16777217, 2147483647, 33554434, 5]), F32, F32.code)
    cast('int32_to_float16_to_even', Tensor(I32, [6], [2049, 2051, -2049, 65504, 4098, -3]), F16, F16.code)
    cast('quant8_to_float32_ignores_scale', Tensor(q8('0.25', 100), [5], [0, 1, 100, 128, 255]), F32, F32.code)
    cast('quant8_to_int32', Tensor(q8('0.25', 100), [5], [0, 1, 100, 128, 255]), I32, int)
    cast('float32_to_float16', Random('cast').reals(F32, [3, 5], -9, 9, Fraction(1, 997)), F16, F16.code)
    for form in (q8s('0.3', -5), q8sym('0.3'), q16a('0.1', 77), q16s('0.7'), B8):
        x = Random('cast' + tag(form)).codes(form, [7])
        out.add('CAST', f'{tag(form)}_identity', [x], [codes(form, x)], True)

    for form, form_y, what in ((F32, q8('0.1', 117), 'float32_to_quant8'), (F32, q8s('0.25', -30), 'float32_to_signed'),
                               (F16, q8('0.5', 3), 'float16_to_quant8_ties'), (F16, q8s('0.07', 60), 'float16_to_signed')):
        x = Random('quantize' + what).reals(form, [3, 2, 7], -24, 24, Fraction(1, 4))
        out.add('QUANTIZE', what, [x], [rounded(form_y, x.real)])
    for form, form_y, dims in ((q8('0.3', 77), F32, [2, 3, 5]), (q8s('0.1', -40), F16, [3, 5]), (q8sym('0.7'), F32, [9]),
                               (q8('0.0625', 130), F16, [2, 2, 3]), (PerChannel(1, ['0.1', '0.25', '3']), F32, [2, 3, 4]),
                               (PerChannel(2, ['0.5', '0.7']), F16, [2, 3, 2])):
        x = Random('dequantize' + tag(form) + tag(form_y)).codes(form, dims)
        out.add('DEQUANTIZE', f'{tag(form)}_to_{tag(form_y)}', [x], [rounded(form_y, x.real)])


def fill_and_rank(out):
    for what, dims, value in (('float32', [2, 1, 3], f32('-2.75')), ('float16', [5], f16('0.1')),
                              ('int32', [3, 2], Scalar(I32, -77))):
        form = value.form
        shape = Tensor(I32, [len(dims)], dims, constant=True)
        out.add('FILL', what, [shape, value], [Tensor(form, dims, [value.value] * math.prod(dims))], True)
    for form, dims in ((F32, [2, 3, 1]), (F16, [4]), (I32, [1, 1, 1, 2]), (q8('0.5', 9), [3, 2]), (B8, [2, 1, 2, 1, 3]),
                       (q8s('0.5', 9), [3]), (q8sym('0.5'), [2, 2]), (q16a('0.1', 77), [1, 3, 1]), (q16s('0.7'), [5]),
                       (PerChannel(1, ['0.5', '0.7']), [3, 2, 1, 1])):
        out.add('RANK', f'{tag(form)}_{len(dims)}', [Random('rank').fill(form, dims)], [Rank(len(dims))], True)


class Rank(Tensor):
    """An INT32 scalar as an output."""

    def __init__(self, value):
        super().__init__(INT32, [], [value])


INT32 = type(I32)('INT32', 4, -(1 << 31), (1 << 31) - 1)


def cases(out):
    add_sub_mul(out)
    div(out)
    functions(out)
    two_inputs(out)
    conversions(out)
    fill_and_rank(out)


