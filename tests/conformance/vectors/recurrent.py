# SPDX-License-Identifier: Apache-2.0
"""Recurrent operations of one step: RNN, LSTM, SVDF. The steps serve the sequences too."""
from fractions import Fraction

from . import real
from .common import clamp
from .formats import F16, F32
from .spec import Omitted, number, tag
from .tensor import Array, Random, Tensor, const, rounded

LINEAR, RELU, RELU6, TANH, SIGMOID = 0, 1, 3, 4, 6
FINE = Fraction(1, 97)


def activate(code, x):
    return {LINEAR: lambda: x, RELU: lambda: clamp(x, 0, None), RELU6: lambda: clamp(x, 0, 6), TANH: lambda: real.tanh(x),
            SIGMOID: lambda: real.logistic(x)}[code]()


def apply(matrix, vector):
    """matrix * vector."""
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix.real.rows()]


def add(*vectors):
    return [sum(v) for v in zip(*vectors, strict=True)]


def clip(v, limit):
    return [clamp(x, -limit, limit) for x in v] if limit else v


class Weights:
    """Draws the constant weights of one cell."""

    def __init__(self, name, form):
        self.rnd, self.form = Random(name), form

    def draw(self, *dims):
        return const(self.rnd.reals(self.form, dims, -1, 1, FINE))


class RnnCell:
    def __init__(self, name, form, inputs, units, activation, aux=0):
        w = Weights(name, form)
        self.w, self.r, self.b = w.draw(units, inputs), w.draw(units, units), w.draw(units)
        self.aux, self.activation = w.draw(units, aux) if aux else None, activation

    def step(self, x, h, aux=None):
        z = add(apply(self.w, x), apply(self.r, h), self.b.real.values)
        if aux and self.aux:
            z = add(z, apply(self.aux, aux))
        return [activate(self.activation, v) for v in z]


class LstmCell:
    """Weights by gate (i, f, g, o); those that are not there are None. Features: words of cifg peephole norm projection bias."""

    def __init__(self, name, form, inputs, units, outputs, features=(), clips=(0, 0), activation=TANH, aux=0):
        draw = Weights(name, form).draw
        self.form, self.features, self.activation, self.units, self.outputs = form, features, activation, units, outputs
        self.gates = 'fgo' if 'cifg' in features else 'ifgo'
        self.w = {k: draw(units, inputs) for k in self.gates}
        self.r = {k: draw(units, outputs) for k in self.gates}
        self.p = {k: draw(units) for k in self.gates if k != 'g' and 'peephole' in features}
        self.b = {k: draw(units) for k in self.gates}
        self.norm = {k: draw(units) for k in self.gates if 'norm' in features}
        self.aux = {k: draw(units, aux) for k in self.gates if aux}
        self.projection = draw(outputs, units) if 'projection' in features else None
        self.projection_bias = draw(outputs) if 'bias' in features else None
        self.clips = [number(form, Fraction(c)) for c in clips]

    def listed(self, weights, gates='ifgo'):
        return [weights.get(k, Omitted(self.form)) for k in gates]

    def inputs(self):
        """Inputs 1 to 17 of LSTM."""
        return [*self.listed(self.w), *self.listed(self.r), *self.listed(self.p, 'ifo'), *self.listed(self.b),
                self.projection or Omitted(self.form), self.projection_bias or Omitted(self.form)]

    def gate(self, k, x, h, c, aux):
        z = add(apply(self.w[k], x), apply(self.r[k], h))
        if aux and self.aux:
            z = add(z, apply(self.aux[k], aux))
        if k in self.p:
            z = add(z, [a * b for a, b in zip(self.p[k].real.values, c)])
        if self.norm:
            mean = sum(z) / len(z)
            deviation = real.sqrt(sum((v - mean) ** 2 for v in z) / len(z) + Fraction(1, 10 ** 8))
            z = [real.near((v - mean) / deviation) * n for v, n in zip(z, self.norm[k].real.values)]
        z = add(z, self.b[k].real.values)
        return [activate(self.activation if k == 'g' else SIGMOID, v) for v in z]

    def step(self, x, h, c, aux=None):
        """One row; the new output and cell state."""
        f, g = (self.gate(k, x, h, c, aux) for k in 'fg')
        i = self.gate('i', x, h, c, aux) if 'i' in self.gates else [1 - v for v in f]
        c = clip([real.near(a * b + d * e) for a, b, d, e in zip(f, c, i, g)], self.clips[0].value)
        m = [a * activate(self.activation, b) for a, b in zip(self.gate('o', x, h, c, aux), c)]
        if self.projection:
            m = apply(self.projection, m)
            m = clip(add(m, self.projection_bias.real.values) if self.projection_bias else m, self.clips[1].value)
        return [real.near(v) for v in m], c


def matrix(form, rows, **options):
    return rounded(form, Array([len(rows), len(rows[0])], [v for r in rows for v in r]), **options)


def rnn(out):
    for n, (form, batch, inputs, units, activation) in enumerate(((F32, 3, 5, 4, TANH), (F16, 2, 3, 5, RELU),
                                                                  (F32, 2, 2, 3, RELU6), (F32, 1, 3, 2, SIGMOID))):
        cell, rnd = RnnCell('rnn' + str(n), form, inputs, units, activation), Random('rnn data' + str(n))
        x, h = rnd.reals(form, [batch, inputs], -2, 2, FINE), rnd.reals(form, [batch, units], -1, 1, FINE)
        y = matrix(form, [cell.step(a, b) for a, b in zip(x.real.rows(), h.real.rows())])
        out.add('RNN', f'{tag(form)}_{n}', [x, cell.w, cell.r, cell.b, h, activation], [y, Tensor(form, y.dims, y.values)])


# Features, clips (cell, projection) and activation of LSTM vectors: each feature bites in one of them.
LSTM_FORMS = ((F32, (), (0, 0), TANH), (F16, ('cifg', 'peephole'), (0, 0), TANH),
              (F32, ('peephole', 'norm', 'projection', 'bias'), ('0.4', '0.3'), TANH),
              (F32, ('cifg', 'norm', 'projection'), (0, '0.2'), TANH), (F32, ('cifg',), ('0.3', 0), RELU),
              (F16, ('peephole', 'projection'), ('0.5', 0), TANH))


def lstm(out):
    for n, (form, features, clips, activation) in enumerate(LSTM_FORMS):
        batch, inputs, units, outputs = 2, 3, 4, 5 if 'projection' in features else 4
        cell, rnd = LstmCell('lstm' + str(n),
                             form, inputs, units, outputs, features, clips, activation), Random('lstm data' + str(n))
        x, h, c = (rnd.reals(form, [batch, d], -2, 2, FINE) for d in (inputs, outputs, units))
        steps = [cell.step(*rows) for rows in zip(x.real.rows(), h.real.rows(), c.real.rows())]
        y = matrix(form, [s[0] for s in steps])
        scratch = Tensor(form, [batch, units * len(cell.gates)], [Fraction(0)] * (batch * units * len(cell.gates)), ignored=True)
        out.add('LSTM', '_'.join([tag(form), *features, str(n)]),
                [x, *cell.inputs(), h, c, activation, *cell.clips, *(cell.listed(cell.norm) if cell.norm else [])],
                [scratch, Tensor(form, y.dims, y.values), matrix(form, [s[1] for s in steps]), y])


def svdf(out):
    for n, (form, batch, inputs, units, rank, memory, activation, biased) in enumerate((
            (F32, 2, 3, 4, 2, 5, LINEAR, True), (F16, 3, 2, 3, 1, 4, RELU, False), (F32, 2, 5, 2, 3, 3, RELU, True))):
        rnd = Random('svdf' + str(n))
        filters = units * rank
        x, state = rnd.reals(form, [batch, inputs], -2, 2, FINE), rnd.reals(form, [batch, filters * memory], -1, 1, FINE)
        feature, time, bias = (const(rnd.reals(form, d, -1, 1, FINE)) for d in ([filters, inputs], [filters, memory], [units]))
        y, states = [], []
        for row, s in zip(x.real.rows(), state.real.rows()):
            s = [s[f * memory:(f + 1) * memory] for f in range(filters)]
            for f, v in enumerate(apply(feature, row)):
                s[f][-1] = v
            sums = [sum(a * b for a, b in zip(s[f], time.real.rows()[f])) for f in range(filters)]
            y.append([activate(activation, sum(sums[u * rank:(u + 1) * rank]) + (bias.real.values[u] if biased else 0))
                      for u in range(units)])
            states.append([v for f in s for v in f[1:] + [Fraction(0)]])
        out.add('SVDF', f'{tag(form)}_rank{rank}_{n}', [x, feature, time, bias if biased else Omitted(form),
                                                        state, rank, activation],
                [matrix(form, states), matrix(form, y)])


def cases(out):
    rnn(out)
    lstm(out)
    svdf(out)
