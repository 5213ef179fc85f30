# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
from fractions import Fraction

from . import real
from .conv import shown
from .formats import F16, F32, q8, q8s
from .spec import number, tag
from .tensor import Array, Random, Tensor, indices, rounded

FINE = Fraction(1, 97)


def along(x, axis, f):
    """f(list) -> list of the same length, applied to each line along the axis."""
    a = axis % len(x.dims)
    lines = {}
    for i in indices(x.dims):
        lines.setdefault(i[:a] + i[a + 1:], []).append(x.at(i))
    lines = {k: f(v) for k, v in lines.items()}
    return Array.of(x.dims, lambda i: lines[i[:a] + i[a + 1:]][i[a]])


def softmax(v, beta):
    e = [real.exp(beta * (x - max(v))) for x in v]
    return [x / sum(e) for x in e]


def log_softmax(v, beta):
    z = [beta * (x - max(v)) for x in v]
    log = real.ln(sum(real.exp(x) for x in z))
    return [x - log for x in z]


def l2_norm(v):
    length = real.sqrt(sum(x * x for x in v))
    return [x / length if length else Fraction(0) for x in v]


def local_response(v, radius, offset, alpha, beta):
    return [x / real.power(offset + alpha * sum(y * y for y in v[max(0, i - radius):i + radius + 1]),
                           beta) for i, x in enumerate(v)]


def softmaxes(out):
    for n, (form, form_y, dims, beta, axis) in enumerate((
            (F32, F32, [3, 7], 1, None), (F16, F16, [2, 5], Fraction(1, 2), -1), (F32, F32, [2, 3, 2, 5], Fraction(3, 4), 1),
            (q8('0.11', 140), q8(Fraction(1, 256), 0), [3, 5], Fraction(1, 2), None),
            (q8s('0.07', -30), q8s(Fraction(1, 256), -128), [4, 3, 2], 1, 0),
            (q8('0.5', 3), q8(Fraction(1, 256), 0), [2, 1, 3, 3], 2, -2))):
        x = Random('softmax' + str(n)).fill(form, dims, -4, 4, FINE)
        beta = number(form, beta)
        y = along(x.real, -1 if axis is None else axis, lambda v, b=beta.value: softmax(v, b))
        out.add('SOFTMAX', f'{tag(form)}_{n}', [x, beta] + ([] if axis is None else [axis]), [rounded(form_y, y)])
    for n, (form, dims, beta, axis) in enumerate(((F32, [3, 7], 1, -1), (F16, [2, 5, 3], Fraction(1, 2), 1),
                                                  (F32, [3, 2, 2, 5], 2, -4))):
        x = Random('log_softmax' + str(n)).fill(form, dims, -4, 4, FINE)
        beta = number(form, beta)
        out.add('LOG_SOFTMAX', f'{tag(form)}_{n}', [x, beta, axis],
                [rounded(form, along(x.real, axis, lambda v, b=beta.value: log_softmax(v, b)))])


def l2(out):
    for n, (form, form_y, dims, axis) in enumerate((
            (F32, F32, [2, 1, 3, 5], None), (F16, F16, [3, 5], 0), (q8('0.3', 117), q8(Fraction(1, 128), 128), [2, 3, 2, 3], 1),
            (q8s('0.5', -9), q8s(Fraction(1, 128), 0), [7], -1), (F32, F32, [4, 3, 2], -2))):
        x = Random('l2' + str(n)).fill(form, dims, -4, 4, FINE)
        y = along(x.real, -1 if axis is None else axis, l2_norm)
        out.add('L2_NORMALIZATION', f'{tag(form)}_{n}', [x] + ([] if axis is None else [axis]), [rounded(form_y, y)])
    x = Tensor(F32, [2, 3], map(Fraction, (0, 0, 0, 3, 0, -4)))
    out.add('L2_NORMALIZATION', 'zeros', [x, 1], [rounded(F32, along(x.real, 1, l2_norm))], source='a line of zeros stays one')


def local(out):
    for n, (form, dims, radius, offset, alpha, beta, axis) in enumerate((
            (F32, [2, 1, 3, 7], 2, 1, '0.3', '0.75', None), (F16, [2, 5], 1, 2, '0.25', '0.5', -1),
            (F32, [5, 3, 2], 1, '1.5', '0.1', 1, 0),
            (F32, [2, 3], 9, '0.5', 1, '0.6', 1))):
        x = Random('lrn' + str(n)).fill(form, dims, -4, 4, FINE)
        scalars = [number(form, Fraction(s)) for s in (offset, alpha, beta)]
        y = along(x.real, -1 if axis is None else axis, lambda v, r=radius, s=scalars: local_response(v, r, *(k.value for k in s)))
        out.add('LOCAL_RESPONSE_NORMALIZATION', f'{tag(form)}_{n}', [x, radius, *scalars] + ([] if axis is None else [axis]),
                [rounded(form, y)])


def instance(out):
    for n, (form, dims, gamma, beta, epsilon, nchw) in enumerate((
            (F32, [2, 3, 5, 2], '1.5', '-0.25', '0.001', False), (F16, [2, 3, 2, 3], 1, '0.5', '0.01', True),
            (F32, [1, 4, 3, 3], '-0.7', 3, '0.1', True))):
        x = Random('instance' + str(n)).fill(form, dims, -4, 4, FINE)
        scalars = [number(form, Fraction(s)) for s in (gamma, beta, epsilon)]
        g, b, e = (s.value for s in scalars)
        mean, deviation = {}, {}
        for m in range(dims[0]):
            for c in range(dims[3]):
                v = [x.real[m, i, j, c] for i in range(dims[1]) for j in range(dims[2])]
                mean[m, c] = sum(v) / len(v)
                deviation[m, c] = real.sqrt(sum((k - mean[m, c]) ** 2 for k in v) / len(v) + e)
        y = Array.of(dims, lambda i, mu=mean, d=deviation, g=g, b=b, x=x.real: (x.at(i) - mu[i[0], i[3]]) * g / d[i[0], i[3]] + b)
        out.add('INSTANCE_NORMALIZATION', f'{tag(form)}_{n}', [shown(x, nchw), *scalars, nchw], [shown(rounded(form, y), nchw)])


def cases(out):
    softmaxes(out)
    l2(out)
    local(out)
    instance(out)
