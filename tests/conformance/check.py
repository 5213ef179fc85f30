#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the arithmetic that the expected values rest on, against values known otherwise. Silent if all is well."""
import math
import pathlib
import random
import struct
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from vectors import formats, lookup, quantized_lstm, real  # noqa: E402
from vectors.tensor import Array  # noqa: E402


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: {got} instead of {wanted}')


def close(what, got, wanted, error=1e-14):
    if not abs(float(got) - wanted) <= error * max(1, abs(wanted)):
        sys.exit(f'{what}: {float(got)} instead of {wanted}')


def rounding():
    same('tie to even', formats.F32.code(Fraction(16777217)), 16777216)
    same('tie to even, upwards', formats.F32.code(Fraction(16777219)), 16777220)
    same('just above a tie', formats.F32.code(Fraction(16777217) + Fraction(1, 10 ** 30)), 16777218)
    same('smallest float16', formats.F16.code(Fraction(3, 1 << 25)), Fraction(1, 1 << 23))
    same('half the smallest float16', formats.F16.code(Fraction(1, 1 << 25)), 0)
    same('largest float16', formats.F16.code(Fraction(65519)), 65504)
    same('overflow', formats.F16.code(Fraction(-65520)), -math.inf)
    generator = random.Random(1)
    for _ in range(2000):
        x = generator.uniform(-1, 1) * 2.0 ** generator.randint(-24, 15)
        same('float32', formats.F32.code(Fraction(x)), struct.unpack('<f', struct.pack('<f', x))[0])
        same('float16', formats.F16.code(Fraction(x)), struct.unpack('<e', struct.pack('<e', x))[0])
        f = formats.F32.code(Fraction(x))
        same('text', formats.F32.code(Fraction(formats.shortest(f))), f)
    same('halves', [real.half_away(Fraction(k, 4)) for k in (-6, -5, -2, -1, 1, 2, 5, 6)], [-2, -1, -1, 0, 0, 1, 1, 2])
    q = formats.q8s(Fraction(1, 2), -3)
    same('quantised', [q.code(Fraction(v)) for v in ('0.25', '-0.25', '-99', '99', '0.74')], [-2, -4, -128, 127, -2])


def functions():
    for k in range(-40, 41):
        x = Fraction(k, 7)
        for name, f, g in (('exp', real.exp, math.exp), ('sin', real.sin, math.sin), ('tanh', real.tanh, math.tanh)):
            close(f'{name}({x})', f(x), g(x))
        close(f'logistic({x})', real.logistic(x), 1 / (1 + math.exp(-x)))
        if x > 0:
            close(f'ln({x})', real.ln(x), math.log(x))
            close(f'{x} ^ -1.3', real.power(x, Fraction(-13, 10)), float(x) ** -1.3)
    same('root of 9/4', real.sqrt(Fraction(9, 4)), Fraction(3, 2))
    digits = '1.41421356237309504880168872420969807856967187537694807317668'
    if abs(real.sqrt(2) - Fraction(digits)) > Fraction(1, 10 ** 58):
        sys.exit('the root of 2 has too few digits')
    if abs(real.PI - Fraction('3.14159265358979323846264338327950288419716939937510582097494')) > Fraction(1, 10 ** 58):
        sys.exit('pi has too few digits')


def integers():
    """The published error bounds of the fixed-point functions, and the hash of the empty text."""
    for a in range(-32768, 32768, 13):
        close('logistic16', quantized_lstm.logistic16(a, 3) / 32768, 1 / (1 + math.exp(-a / 4096)), 7 / 32768)
        close('tanh16', quantized_lstm.tanh16(a, 3) / 32768, math.tanh(a / 4096), 12 / 32768)
    same('fingerprint of nothing', lookup.fingerprint64(b''), 0x9ae16a3b2f90404f)


def arrays():
    a = Array([2, 3], range(6))
    same('transposed', a.permute([1, 0]).values, [0, 3, 1, 4, 2, 5])
    same('element', a[1, 2], 5)
    try:
        sys.exit(f'a[0, 3] is {a[0, 3]}')
    except IndexError:
        pass


rounding()
functions()
integers()
arrays()
