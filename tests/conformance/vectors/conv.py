# SPDX-License-Identifier: Apache-2.0
"""Convolutions: plain, by depth, grouped, transposed."""
from fractions import Fraction

from .common import NONE, RELU, RELU1, RELU6, fuse
from .formats import F16, F32, PerChannel, bias, q8, q8s
from .move import TO_NCHW
from .spec import tag
from .tensor import Array, Random, Tensor, codes, const, ints, rounded

SAME, VALID = 1, 2


def extent(n, window, stride, padding):
    """The output extent of an axis: padding is (head, tail), SAME or VALID."""
    if padding == SAME:
        return -(-n // stride)
    head, tail = (0, 0) if padding == VALID else padding
    return (n - window + head + tail) // stride + 1


def head_of(n, window, stride, padding):
    if padding == SAME:
        return max(0, (-(-n // stride) - 1) * stride + window - n) // 2
    return 0 if padding == VALID else padding[0]


def convolve(x, w, b, stride, padding, dilation, source):
    """x [N,H,W,C], w [K,h,w,D]; source(k, d): the input channel that channel d of filter k reads. Pairs are (height, width)."""
    n, *size, _ = x.dims
    k_count, *window, depth = w.dims
    spread = [(f - 1) * d + 1 for f, d in zip(window, dilation)]
    out = [extent(*a) for a in zip(size, spread, stride, padding)]
    heads = [head_of(*a) for a in zip(size, spread, stride, padding)]

    def at(i):
        total = b[i[3]]
        for p in range(window[0]):
            for q in range(window[1]):
                row, column = i[1] * stride[0] - heads[0] + p * dilation[0], i[2] * stride[1] - heads[1] + q * dilation[1]
                if 0 <= row < size[0] and 0 <= column < size[1]:
                    total += sum(x[i[0], row, column, source(i[3], d)] * w[i[3], p, q, d] for d in range(depth))
        return total
    return Array.of([n, *out, k_count], at)


def transposed(x, w, b, stride, padding, out):
    """Each input cell adds its filter to the output; padding: (head, tail) of each axis; out: the extents."""
    n, h, width, depth = x.dims
    k_count, fh, fw, _ = w.dims
    sums = {}
    for m in range(n):
        for i in range(h):
            for j in range(width):
                for k in range(k_count):
                    for p in range(fh):
                        for q in range(fw):
                            to = (m, i * stride[0] - padding[0][0] + p, j * stride[1] - padding[1][0] + q, k)
                            sums[to] = sums.get(to, 0) + sum(x[m, i, j, c] * w[k, p, q, c] for c in range(depth))
    return Array.of([n, *out, k_count], lambda i: sums.get(i, 0) + b[i[3]])


def operands(what, forms, x_dims, w_dims, channels, channel_axis=0):
    """Input, filter and bias, and the bias as real numbers: exact products of the scales."""
    rnd = Random(what)
    form_x, form_w, _ = forms
    if form_w == 'per channel':
        form_w = PerChannel(channel_axis, [Fraction(1 + 3 * k, 131) for k in range(channels)])
    x, w = rnd.fill(form_x, x_dims, -2, 2), const(rnd.fill(form_w, w_dims, -2, 2, Fraction(1, 4)))
    if form_x.floating:
        b = const(rnd.fill(form_x, [channels]))
        return x, w, b, b
    scales = [form_x.scale * s for s in (form_w.scales if isinstance(form_w, PerChannel) else [form_w.scale] * channels)]
    b = const(rnd.codes(bias(0 if isinstance(form_w, PerChannel) else scales[0]), [channels], -9999, 9999))
    return x, w, b, Array([channels], [c * s for c, s in zip(b.values, scales)])


def shown(x, nchw):
    """A tensor made in NHWC, in the layout asked for."""
    return codes(x.form, x.permute(TO_NCHW)) if nchw else x


def written(padding):
    """Padding as inputs: left, right, top, bottom, or the scheme."""
    (top, left) = padding
    return [top] if top in (SAME, VALID) else [*left, *top]


def add(out, name, n, forms, x_dims, w_dims, stride, padding, activation, nchw=None, dilation=None, groups=1, multiplier=1):
    """One vector of CONV_2D, DEPTHWISE_CONV_2D or GROUPED_CONV_2D; x_dims are N,H,W,C; pairs are (height, width)."""
    by_depth = name == 'DEPTHWISE_CONV_2D'
    channels = w_dims[3] if by_depth else w_dims[0]
    what = f'{name}{n}'
    x, w, b, b_real = operands(what, forms, x_dims, w_dims, channels, 3 if by_depth else 0)
    w_real, depth = w.real, w_dims[3]
    if by_depth:
        w_real = Array.of([channels, w_dims[1], w_dims[2], 1], lambda i: w.real[0, i[1], i[2], i[0]])
    y = convolve(x.real, w_real, b_real.real if isinstance(b_real, Tensor) else b_real, stride, padding, dilation or (1, 1),
                 (lambda k, d: k // multiplier) if by_depth else (lambda k, d: k // (channels // groups) * depth + d))
    y = rounded(forms[2], fuse(activation, y))
    inputs = [shown(x, nchw), w, b, *written(padding), stride[1], stride[0]]
    inputs += [multiplier] if by_depth else [groups] if name == 'GROUPED_CONV_2D' else []
    inputs += [activation] + ([] if nchw is None else [nchw]) + ([] if dilation is None else [dilation[1], dilation[0]])
    kind = tag(forms[0]) + ('_per_channel' if forms[1] == 'per channel' else '')
    out.add(name, f'{kind}_{n}', inputs, [shown(y, nchw)], forms[0] is F32)


FLOAT, HALF = (F32, F32, F32), (F16, F16, F16)
QUANT = (q8('0.02', 117), q8('0.03', 140), q8('0.15', 90))
SIGNED = (q8s('0.03', -11), q8s('0.02', 30), q8s('0.2', 20))
CHANNELS = (q8('0.02', 117), 'per channel', q8('0.2', 121))
SIGNED_CHANNELS = (q8s('0.03', 15), 'per channel', q8s('0.17', -20))
BOTH_SAME, BOTH_VALID = (SAME, SAME), (VALID, VALID)


def plain(out):
    name = 'CONV_2D'
    add(out, name, 0, FLOAT, [2, 5, 4, 3], [4, 3, 2, 3], (1, 2), ((2, 0), (0, 1)), RELU6)
    add(out, name, 1, QUANT, [2, 4, 5, 2], [3, 2, 3, 2], (2, 1), BOTH_SAME, NONE)
    add(out, name, 2, HALF, [1, 5, 6, 3], [2, 3, 3, 3], (2, 1), BOTH_VALID, RELU, True)
    add(out, name, 3, CHANNELS, [1, 6, 5, 3], [5, 2, 2, 3], (1, 1), ((1, 0), (0, 1)), RELU6, False, (2, 3))
    add(out, name, 4, SIGNED, [2, 3, 7, 2], [3, 2, 3, 2], (1, 3), ((0, 1), (2, 1)), RELU1, True)
    add(out, name, 5, SIGNED_CHANNELS, [1, 7, 6, 2], [4, 3, 2, 2], (2, 1), BOTH_SAME, RELU, True, (2, 2))
    add(out, name, 6, FLOAT, [1, 7, 5, 2], [3, 3, 2, 2], (1, 1), BOTH_SAME, NONE, False, (2, 3))
    add(out, name, 7, QUANT, [1, 3, 3, 4], [6, 1, 1, 4], (2, 2), BOTH_VALID, RELU, False)


def by_depth(out):
    name = 'DEPTHWISE_CONV_2D'
    add(out, name, 0, FLOAT, [2, 5, 4, 3], [1, 3, 2, 6], (1, 2), ((2, 0), (0, 1)), RELU6, multiplier=2)
    add(out, name, 1, QUANT, [2, 4, 5, 2], [1, 2, 3, 6], (2, 1), BOTH_SAME, NONE, multiplier=3)
    add(out, name, 2, HALF, [1, 5, 6, 3], [1, 3, 3, 3], (2, 1), BOTH_VALID, RELU, True)
    add(out, name, 3, CHANNELS, [1, 6, 5, 3], [1, 2, 2, 6], (1, 1), ((1, 0), (0, 1)), RELU6, False, (2, 3), multiplier=2)
    add(out, name, 4, SIGNED, [2, 3, 7, 2], [1, 2, 3, 4], (1, 3), ((0, 1), (2, 1)), RELU1, True, multiplier=2)
    add(out, name, 5, SIGNED_CHANNELS, [1, 7, 6, 2], [1, 3, 2, 2], (2, 1), BOTH_SAME, RELU, True, (2, 2))
    add(out, name, 6, FLOAT, [1, 7, 5, 3], [1, 3, 2, 9], (1, 1), BOTH_SAME, NONE, False, (2, 3), multiplier=3)


def grouped(out):
    name = 'GROUPED_CONV_2D'
    add(out, name, 0, FLOAT, [2, 5, 4, 4], [6, 3, 2, 2], (1, 2), ((2, 0), (0, 1)), RELU6, False, groups=2)
    add(out, name, 1, QUANT, [2, 4, 5, 3], [6, 2, 3, 1], (2, 1), BOTH_SAME, NONE, False, groups=3)
    add(out, name, 2, HALF, [1, 5, 6, 4], [2, 3, 3, 2], (2, 1), BOTH_VALID, RELU, True, groups=2)
    add(out, name, 3, CHANNELS, [1, 4, 5, 4], [4, 2, 2, 1], (1, 1), ((1, 0), (0, 1)), RELU6, True, groups=4)
    add(out, name, 4, SIGNED, [2, 3, 7, 4], [4, 2, 3, 2], (1, 3), ((0, 1), (2, 1)), RELU1, True, groups=2)
    add(out, name, 5, SIGNED_CHANNELS, [1, 5, 3, 6], [4, 3, 2, 3], (2, 1), BOTH_SAME, RELU, False, groups=2)


def add_transposed(out, n, forms, x_dims, w_dims, stride, padding, size, activation, nchw):
    """One vector of TRANSPOSE_CONV_2D; size: the output's (height, width) for SAME and VALID, None where the pads say it."""
    x, w, b, b_real = operands(f'transposed{n}', forms, x_dims, w_dims, w_dims[0])
    if size is None:
        pads = padding
        extents = [(d - 1) * s + f - sum(p) for d, s, f, p in zip(x_dims[1:3], stride, w_dims[1:3], pads)]
        shape = written(padding)
    else:
        total = [max(0,
                     (d - 1) * s + f - o) if padding == SAME else 0 for d, s, f, o in zip(x_dims[1:3], stride, w_dims[1:3], size)]
        pads, extents = [(t // 2, 0) for t in total], size
        dims = [x_dims[0], *size, w_dims[0]]
        shape = [ints(*([dims[a] for a in TO_NCHW] if nchw else dims)), padding]
    y = transposed(x.real, w.real, b_real.real if isinstance(b_real, Tensor) else b_real, stride, pads, extents)
    y = rounded(forms[2], fuse(activation, y))
    kind = tag(forms[0]) + ('_per_channel' if forms[1] == 'per channel' else '')
    out.add('TRANSPOSE_CONV_2D', f'{kind}_{n}', [shown(x, nchw), w, b, *shape, stride[1], stride[0], activation, nchw],
            [shown(y, nchw)],
            forms[0] is F32)


def cases(out):
    plain(out)
    by_depth(out)
    grouped(out)
    add_transposed(out, 0, FLOAT, [2, 3, 2, 3], [2, 3, 2, 3], (2, 1), ((1, 0), (0, 1)), None, RELU6, False)
    add_transposed(out, 1, QUANT, [2, 2, 3, 2], [3, 3, 2, 2], (2, 3), SAME, (3, 8), NONE, False)
    add_transposed(out, 2, HALF, [1, 2, 3, 3], [2, 3, 2, 3], (1, 2), VALID, (4, 6), RELU, True)
    add_transposed(out, 3, CHANNELS, [1, 3, 2, 2], [4, 2, 3, 2], (2, 1), ((0, 1), (1, 0)), None, RELU6, True)
    add_transposed(out, 4, SIGNED, [2, 2, 3, 1], [3, 3, 4, 1], (2, 2), SAME, (4, 5), RELU1, True)
    add_transposed(out, 5, SIGNED_CHANNELS, [1, 2, 2, 3], [3, 2, 3, 3], (3, 2), VALID, (5, 5), RELU, False)
