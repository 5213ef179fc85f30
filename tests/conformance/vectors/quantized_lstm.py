# SPDX-License-Identifier: Apache-2.0
"""The two operations that are defined on integers: QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM."""
import math
from fractions import Fraction

from .formats import F32, bias, q8, q8s, q8sym, q16s
from .real import half_away
from .spec import Omitted, f32
from .tensor import Random, Tensor, const

ROWS = 'ifgo'


def saturate(v):
    return max(-32768, min(32767, v))


def cut(x):
    """Integer quotient towards 0: of a fraction."""
    return math.trunc(x)


def multiplier(m):
    """A real multiplier as (31-bit mantissa, exponent)."""
    e = 0
    while m >= 1:
        m, e = m / 2, e + 1
    while m < Fraction(1, 2):
        m, e = m * 2, e - 1
    mantissa = half_away(m * (1 << 31))
    return (mantissa // 2, e + 1) if mantissa == 1 << 31 else (mantissa, e)


def shifted(t, k):
    """t / 2^k, halves away from zero."""
    return half_away(Fraction(t, 1 << k)) if k > 0 else t


def scaled(x, m, e):
    """x * m * 2^(e-31), rounded after the product and again after the shift."""
    product = x * (1 << max(e, 0)) * m
    high = cut(Fraction(product + ((1 << 30) if product >= 0 else 1 - (1 << 30)), 1 << 31))
    return shifted(high, max(-e, 0))


def mul16(a, b):
    """The product of two numbers with 15 fractional bits."""
    if a == b == -32768:
        return 32767
    return cut(Fraction(a * b + ((1 << 14) if a * b >= 0 else 1 - (1 << 14)), 1 << 15))


def power_of_two(a, k):
    return saturate(a << k) if k >= 0 else shifted(a, -k)


def exp_of_negative(a, bits):
    """e^a, a <= 0 with that many integer bits: a polynomial between -1/4 and 0, and a factor for each higher bit."""
    if a == 0:
        return 32767
    fraction = 15 - bits
    quarter = 1 << (fraction - 2)
    low = (a & (quarter - 1)) - quarter
    x = power_of_two(low, bits) + 4096
    x2 = mul16(x, x)
    x3, x4 = mul16(x2, x), mul16(x2, x2)
    y = power_of_two(mul16(power_of_two(x4, -2) + x3, 10923) + x2, -1)
    r = saturate(28918 + mul16(28918, x + y))
    for e, factor in zip(range(-2, 5), (25520, 19875, 12055, 4435, 600, 11, 0)):
        if bits > e and (low - a) >> (fraction + e) & 1:
            r = mul16(r, factor)
    return 0 if bits > 5 and a < -(1 << (20 - bits)) else r


def two_over_one_plus(e):
    """2 / (1 + e) by Newton's method."""
    d = cut(Fraction(e + 32768, 2))
    x = 23130 + mul16(d, -15420)
    for _ in range(3):
        x = saturate(x + power_of_two(mul16(x, 8192 - mul16(d, x)), 2))
    return x


def logistic16(a, bits):
    if a == 0:
        return 16384
    p = power_of_two(two_over_one_plus(exp_of_negative(-abs(a), bits)), 1)
    return p if a > 0 else 32767 - p


def tanh16(a, bits):
    if a == 0:
        return 0
    p = power_of_two(two_over_one_plus(exp_of_negative(-abs(a), bits + 1)) - 8192, 2)
    return p if a > 0 else -p


def dot(row, vector):
    return sum(a * b for a, b in zip(row, vector, strict=True))


def cells(form, rows):
    return Tensor(form, [len(rows), len(rows[0])], [v for r in rows for v in r])


def lstm_16bit(out):
    """The weights' columns go with the recurrent ones first, the data with the input first: so the operation is implemented."""
    data = q8(Fraction(1, 128), 128)
    for n, (what, batch, inputs, units, scale, zero, alike) in enumerate((
            ('equal_weights', 2, 3, 3, '0.0075', 120, True), ('more_units', 2, 2, 4, '0.0041', 100, False),
            ('more_inputs', 3, 5, 2, '0.011', 137, False))):
        rnd, form = Random(f'16bit {n}'), q8(Fraction(scale), zero)
        sums = bias(form.scale / 128)
        x, h = rnd.codes(data, [batch, inputs]), rnd.codes(data, [batch, units])
        c = rnd.codes(q16s(Fraction(1, 2048)), [batch, units], -6000, 6000)
        w = [const(rnd.codes(form, [units, inputs])) for _ in ROWS]
        r = [const(Tensor(form, k.dims, k.values)) for k in w] if alike else [const(rnd.codes(form, [units, units])) for _ in ROWS]
        b = [const(rnd.codes(sums, [units], -9999, 9999)) for _ in ROWS]
        m = multiplier(4096 * sums.scale)
        new_cells, outputs = [], []
        for row, state, cell in zip(x.rows(), h.rows(), c.rows()):
            v = [k - 128 for k in row + state]
            z = [[saturate(scaled(dot([k - zero for k in q + p], v) + add,
                                  *m)) for q, p, add in zip(rk.rows(), wk.rows(), bk.values)]
                 for rk, wk, bk in zip(r, w, b)]
            i, f, o = ([logistic16(k, 3) for k in z[g]] for g in (0, 1, 3))
            g = [tanh16(k, 3) for k in z[2]]
            new = [saturate(shifted(mul16(p, q), 4) + mul16(s, t)) for p, q, s, t in zip(i, g, f, cell)]
            t = [tanh16(saturate(2 * k), 3) for k in new]
            new_cells.append(new)
            outputs.append([128 + max(-128, min(127, shifted(mul16(p, q), 8))) for p, q in zip(o, t)])
        out.add('QUANTIZED_16BIT_LSTM', f'{what}_{n}', [x, *w, *r, *b, c, h], [cells(c.form, new_cells), cells(data, outputs)],
                source='integer arithmetic')


def f32_of(x):
    return F32.code(x)


def inverse_root(v):
    """1 / sqrt(v) as (31-bit mantissa, exponent); the mantissa is not brought to full length."""
    if v <= 1:
        return (1 << 31) - 1, 0
    zeros = 32 - v.bit_length()
    e = 11 - ((zeros - 1) // 2 - 1)
    root = math.isqrt((1 << (2 * (31 + e) + 40)) // v)
    return half_away(Fraction(root, 1 << 20)), -e


class QuantizedLstm:
    """One cell of QUANTIZED_LSTM. Always normalised; hidden state without a zero point."""

    def __init__(self, name, batch, inputs, units, outputs, cifg, projected, cell_bits, cell_clip):
        rnd = self.rnd = Random(name)
        self.units, self.cell_bits, self.projected, self.cell_clip = units, cell_bits, projected, cell_clip
        self.gates = 'fgo' if cifg else 'ifgo'
        weight, recurrent, norm = q8sym(Fraction('0.00784314')), q8sym(Fraction('0.0081')), q16s(Fraction('0.0000305182'))
        self.hidden_scale = f32_of(Fraction('0.0078'))
        self.x = rnd.codes(q8s(Fraction('0.0078125'), -7), [batch, inputs])
        state = q8s(Fraction('0.0085'), 5) if projected else q8s(self.hidden_scale, 0)
        self.h = rnd.codes(state, [batch, outputs])
        self.c = rnd.codes(q16s(Fraction(1, 1 << cell_bits)), [batch, units], -9000, 9000)
        self.scales = {k: f32_of(Fraction(s)) for k, s in zip(ROWS, ('0.007059', '0.007812', '0.0081', '0.0075'))}
        self.w = {k: const(rnd.codes(weight, [units, inputs], -127)) for k in self.gates}
        self.r = {k: const(rnd.codes(recurrent, [units, outputs], -127)) for k in self.gates}
        self.b = {k: const(rnd.codes(bias(0), [units], -9 << 20, 9 << 20)) for k in self.gates}
        self.norm = {k: const(rnd.codes(norm, [units], 5000, 30000)) for k in self.gates}
        self.pw = const(rnd.codes(q8sym(Fraction('0.0039')), [outputs, units], -127)) if projected else None
        self.pb = const(rnd.codes(bias(0), [outputs], -3000, 3000)) if projected else None

    def inputs(self):
        def listed(d, missing):
            return [d.get(k, Omitted(missing)) for k in ROWS]
        sym8, sym16, i32 = q8sym(1), q16s(1), bias(0)
        clip = f32(self.cell_clip)
        return [self.x, *listed(self.w, sym8), *listed(self.r, sym8), Omitted(sym16), Omitted(sym16), Omitted(sym16),
                *listed(self.b, i32),
                self.pw or Omitted(sym8), self.pb or Omitted(i32), self.h, self.c, *listed(self.norm, sym16), clip, f32(0),
                *(f32(self.scales[k]) for k in ROWS), 0, f32(self.hidden_scale)]

    def normalised(self, k, v):
        """(v - mean) / deviation * weight + bias, as 16-bit numbers with 3 integer bits."""
        n = self.units
        mean = cut(Fraction(sum(v) * 1024, n))
        variance = cut(Fraction(sum(a * a for a in v) * ((1 << 20) // n) - mean * mean, 1 << 20))
        if variance < 1:
            raise ValueError('choose data that vary')
        root = inverse_root(variance)
        mantissa, e = multiplier(self.norm[k].form.scale)
        result = []
        for a, weight, add in zip(v, self.norm[k].values, self.b[k].values):
            w = scaled(1024 * a - mean, *root) * weight + add
            w = cut(Fraction(w + (512 if w >= 0 else -512), 1024))
            result.append(saturate(scaled(w, mantissa, e + 12)))
        return result

    def gate(self, k, x, h):
        def factor(weights, data):
            return multiplier(f32_of(f32_of(weights[k].form.scale * data.form.scale) / self.scales[k]))
        v = [saturate(scaled(dot(row, x), *factor(self.w, self.x))) for row in self.w[k].rows()]
        v = [saturate(a + saturate(scaled(dot(row, h), *factor(self.r, self.h)))) for a, row in zip(v, self.r[k].rows())]
        return self.normalised(k, v)

    def step(self, x, h, c):
        x, h = [a - self.x.form.zero for a in x], [a - self.h.form.zero for a in h]
        f, o = ([logistic16(a, 3) for a in self.gate(k, x, h)] for k in 'fo')
        g = [tanh16(a, 3) for a in self.gate('g', x, h)]
        i = [logistic16(a, 3) for a in self.gate('i', x, h)] if 'i' in self.gates else [32767 - a for a in f]
        c = [saturate(shifted(p * q, 15) + shifted(s * t, 30 - self.cell_bits)) for p, q, s, t in zip(f, c, i, g)]
        if self.cell_clip:
            limit = cut(f32_of(Fraction(self.cell_clip)) / self.c.form.scale)
            c = [max(-limit, min(limit, a)) for a in c]
        m = multiplier(f32_of(Fraction(1, 1 << 30) / self.hidden_scale))
        hidden = [max(-128, min(127, scaled(a * tanh16(b, 15 - self.cell_bits), *m))) for a, b in zip(o, c)]
        if not self.projected:
            return hidden, c
        m = multiplier(f32_of(f32_of(self.pw.form.scale * self.hidden_scale) / self.h.form.scale))
        return [max(-128, min(127, scaled(dot(row, hidden) + b,
                                          *m) + self.h.form.zero)) for row, b in zip(self.pw.rows(), self.pb.values)], c


def cases(out):
    lstm_16bit(out)
    for n, (what, batch, inputs, units, outputs, cifg, projected, cell_bits, clip) in enumerate((
            ('plain', 2, 5, 4, 4, False, False, 15, 0), ('cifg', 3, 3, 5, 5, True, False, 11, 0),
            ('projection', 2, 4, 4, 3, False, True, 12, 0),
            ('cifg_projection_clip', 2, 3, 4, 5, True, True, 13, '0.4'))):
        cell = QuantizedLstm(f'qlstm {n}', batch, inputs, units, outputs, cifg, projected, cell_bits, clip)
        steps = [cell.step(*rows) for rows in zip(cell.x.rows(), cell.h.rows(), cell.c.rows())]
        y = cells(cell.h.form, [s[0] for s in steps])
        out.add('QUANTIZED_LSTM', f'{what}_{n}', cell.inputs(),
                [y, cells(cell.c.form, [s[1] for s in steps]), Tensor(y.form, y.dims, y.values)],
                source='integer arithmetic')
