#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the cases of tests/trackers: make.py [FOLDER], by default beside this script. See README.md."""
import math
import pathlib
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'conformance'))
from vectors import conv, move, norm, pool, real, reduce, spec  # noqa: E402
from vectors.common import NONE, RELU6, broadcast, fuse  # noqa: E402
from vectors.formats import F16, F32, I32, q8, q8s  # noqa: E402
from vectors.spec import f16, f32  # noqa: E402
from vectors.tensor import Array, Random, Tensor, codes, const, ints, rounded, tensor  # noqa: E402

GITHUB = 'https://github.com/'
SAME = conv.BOTH_SAME
INFINITY = float('inf')


class Trackers(spec.File):
    """Each case bears the name of the report that it is modelled on, and its address."""

    def case(self, report, words):
        repository, number = report.split('#')
        kind = 'pull' if words.startswith('pull: ') else 'issues'
        self.report = repository.split('/')[1].lower().replace('.', '_').replace('-', '_') + '_' + number
        self.source = f'{GITHUB}{repository}/{kind}/{number}: ' + words.removeprefix('pull: ')

    def graph(self, name, main, source, exact=False, referenced=(), **more):
        super().graph(f'{self.report}_{name}', main, self.source, exact, referenced, **more)


def convolutions(out):
    def add(report, words, name, *args, **more):
        out.case(report, words)
        conv.add(out, name, 'a', *args, **more)
    by_depth, plain, channels = 'DEPTHWISE_CONV_2D', 'CONV_2D', conv.CHANNELS
    add('tensorflow/tensorflow#61815', 'depthwise filter of 3 by 1 with a stride of 2 in both directions', by_depth, conv.FLOAT,
        [1, 8, 8, 2], [1, 3, 1, 2], (2, 2), SAME, NONE)
    add('tensorflow/tensorflow#27012', 'a convolution of one channel that becomes one by depth', by_depth, conv.FLOAT,
        [1, 4, 6, 1], [1, 1, 3, 9], (1, 1), SAME, NONE, multiplier=9)
    add('tensorflow/tensorflow#54481', 'depthwise filter of 5 by 5 in 8 bits', by_depth, channels, [1, 7, 7, 4], [1, 5, 5, 4],
        (2, 2), SAME, RELU6)
    add('tensorflow/tensorflow#62600', 'depthwise filter of 7 by 7 in 8 bits', by_depth, conv.SIGNED_CHANNELS, [1, 9, 8, 4],
        [1, 7, 7, 4], (1, 1), SAME, NONE)
    add('tensorflow/tensorflow#57475', 'depthwise convolution in 8 bits as the first layer, stride above 1', by_depth, conv.QUANT,
        [1, 9, 9, 3], [1, 3, 3, 3], (2, 2), SAME, NONE)
    add('tensorflow/tensorflow#27200', 'depthwise rows divided between threads', by_depth, conv.QUANT, [1, 17, 5, 8], [1, 3, 3, 8],
        (1, 1), SAME, RELU6)
    add('tensorflow/tensorflow#30311', 'an image of one channel, which hardware fills up to four', plain, conv.FLOAT, [1, 5, 7, 1],
        [3, 3, 3, 1], (1, 1), SAME, NONE)
    add('keras-team/keras#10967', 'pull: dilation handed on as stride', plain, conv.FLOAT, [1, 10, 10, 1], [1, 3, 3, 1], (1, 1),
        conv.BOTH_VALID, NONE, False, (2, 2))
    add('keras-team/keras#13821', 'dilation by depth without a stride', by_depth, conv.FLOAT, [1, 7, 6, 3], [1, 3, 3, 3], (1, 1),
        conv.BOTH_VALID, NONE, False, (2, 2))
    add('Tencent/ncnn#75', 'the gap between lines under a filter of dilation 4', plain, conv.FLOAT, [1, 11, 12, 2], [2, 3, 3, 2],
        (1, 1), SAME, NONE, False, (4, 4))
    add('tensorflow/tensorflow#53859', 'pull: fused RELU6 where the range of the codes ends before 6', plain,
        (q8('0.02', 117), q8('0.03', 140), q8('0.02', 30)), [1, 4, 4, 2], [3, 2, 2, 2], (1, 1), SAME, RELU6)
    add('microsoft/onnxruntime#29130', 'nothing but zeros beyond 2,048 pixels', plain, conv.FLOAT, [1, 1, 2056, 1], [1, 1, 1, 1],
        (1, 1), conv.BOTH_VALID, NONE)
    add('apache/tvm#13364', 'requantisation folded into the bias, at padded edges', plain, conv.SIGNED_CHANNELS, [1, 5, 5, 4],
        [3, 3, 3, 4], (1, 1), SAME, RELU6)
    add('apache/tvm#4807', 'pull: padding with the code 0, which is not the number 0', plain, conv.QUANT, [1, 4, 4, 3],
        [2, 3, 3, 3], (1, 1), SAME, NONE)
    add('iree-org/iree#18600', 'by depth, 7 by 7, in floats', by_depth, conv.FLOAT, [1, 9, 9, 3], [1, 7, 7, 3], (1, 1), SAME, NONE)
    add('tensorflow/tensorflow#61934', 'by depth, the channel behind the last full register', by_depth, conv.FLOAT, [1, 4, 4, 25],
        [1, 3, 3, 25], (1, 1), SAME, NONE)
    add('google-ai-edge/LiteRT#4847', 'padding SAME at a stride above the filter', plain, conv.FLOAT, [1, 17, 18, 2], [2, 3, 3, 2],
        (10, 10), SAME, NONE)
    add('google/XNNPACK#1922', 'a scale for each channel, in signed bytes', plain, conv.SIGNED_CHANNELS, [2, 2, 4, 1], [3, 2, 2, 1],
        (1, 1), conv.BOTH_VALID, NONE)
    add('google/XNNPACK#958', 'padding at the end alone', by_depth, conv.FLOAT, [1, 6, 6, 3], [1, 3, 3, 3], (2, 2),
        ((0, 1), (0, 1)), NONE)

    def transposed(report, words, *args):
        out.case(report, words)
        conv.add_transposed(out, 0, *args)
    transposed('ARM-software/CMSIS-NN#230', 'padding that is no multiple of the stride', conv.SIGNED, [1, 4, 4, 8], [4, 4, 4, 8],
               (2, 2), ((1, 1), (1, 1)), None, NONE, False)
    transposed('tensorflow/tensorflow#45999', 'padding SAME that is not even', conv.FLOAT, [1, 2, 2, 1], [1, 2, 2, 1], (1, 1), 1,
               (2, 2), NONE, False)
    transposed('Xilinx/Vitis-AI#517', 'a stride above the extent of the filter', conv.FLOAT, [1, 3, 3, 2], [2, 3, 3, 2], (4, 4), 1,
               (12, 12), NONE, False)
    transposed('tensorflow/tflite-micro#707', 'the activation read from another structure', conv.SIGNED, [1, 3, 3, 2], [3, 3, 3, 2],
               (2, 2), 1, (6, 6), RELU6, False)


def broadcasts(out):
    def add(report, words, name, f, a_dims, b_dims):
        out.case(report, words)
        rnd = Random(report)
        a, b = rnd.fill(F32, a_dims), rnd.fill(F32, b_dims)
        out.add(name, 'float32', [a, b, NONE], [rounded(F32, broadcast(a.real, b.real, f))], True)

    def plus(a, b):
        return a + b

    def times(a, b):
        return a * b
    add('ooples/AiDotNet.Tensors#651', 'pull: a number a channel, where channels are not the last axis', 'ADD', plus, [2, 3, 4, 5],
        [1, 3, 1, 1])
    add('tenstorrent/tt-metal#15359', 'the operand with extents of 1 comes first', 'MUL', times, [1, 6, 1, 1], [1, 6, 4, 4])
    add('tensorflow/tensorflow#61594', 'a column over rows that are a multiple of 4', 'ADD', plus, [8, 1], [8, 16])
    add('tensorflow/tensorflow#58000', 'one channel over several', 'MUL', times, [1, 4, 5, 3], [1, 4, 5, 1])
    add('aws-neuron/aws-neuron-sdk#1138', 'a scale a row', 'MUL', times, [3, 4, 5], [3, 4, 1])
    add('tinygrad/tinygrad#90', 'a row over a batch of more than one', 'ADD', plus, [2, 4, 3], [1, 1, 3])
    add('uxlfoundation/oneDNN#1541', 'one number over channels that are no multiple of 8', 'ADD', plus, [2, 15, 3, 5], [1, 1, 1, 1])
    add('uxlfoundation/oneDNN#985', 'both operands are repeated', 'MUL', times, [1, 3, 4, 4], [2, 1, 4, 4])
    out.case('tensorflow/tensorflow#36645', 'an exponent of one element')
    x = Random('pow').reals(F32, [2, 3, 4], Fraction(1, 8), 3)
    y = broadcast(x.real, Array([1], [Fraction(3)]), real.power)
    out.add('POW', 'cubed', [x, const(tensor(F32, [1], [3]))], [rounded(F32, y)])


def normalisations(out):
    def add(report, words, form, dims, values, beta=1):
        out.case(report, words)
        x = tensor(form, dims, map(Fraction, values))
        y = norm.along(x.real, -1, lambda v: norm.softmax(v, Fraction(beta)))
        out.add('SOFTMAX', spec.tag(form), [x, (f16 if form is F16 else f32)(beta)], [rounded(form, y)])
    add('ARM-software/ComputeLibrary#148', 'an exponential that float32 cannot hold', F32, [2, 5],
        (8, 18, 28, 38, 48, 108, 118, 128, 138, 148))
    add('uTensor/uTensor#175', 'logits of hundreds, of either sign', F32, [1, 5],
        ('-249.875', '-424.125', '-460.25', '378.125', '-292.625'))
    add('dotnet/machinelearning#3648', 'scores around 90', F32, [1, 3], (90, 2, -2))
    add('microsoft/onnxruntime#4993', 'many rows of two classes', F32, [9, 2], [Fraction(7 * i % 19 - 9, 4) for i in range(18)])
    add('sbryngelson/ANEForge#113', 'float16 beyond the logarithm of 65,504', F16, [2, 3], (5, 10, 12, 11, 88, '11.5'))


def windows(out):
    def add(report, words, name, f, form, dims, window, stride, padding):
        out.case(report, words)
        x = Random(report).fill(form, dims, -8, -1)
        y = rounded(form, pool.pool(x.real, window, stride, padding, f))
        out.add(name, spec.tag(form), [x, *conv.written(padding), stride[1], stride[0], window[1], window[0], NONE], [y], f is max)
    average, largest = 'AVERAGE_POOL_2D', 'MAX_POOL_2D'
    add('VeriSilicon/TIM-VX#423', 'what lies outside does not count', average, pool.average, q8('0.05', 77), [1, 5, 5, 2], (3, 3),
        (2, 2), SAME)
    add('apache/tvm#1144', 'a corner is the mean of four of nine', average, pool.average, F32, [1, 4, 4, 1], (3, 3), (1, 1),
        ((1, 1), (1, 1)))
    add('robertknight/rten#139', 'pull: places are counted once, whatever the channels', average, pool.average, F32, [1, 3, 4, 5],
        (2, 2), (1, 1), ((1, 0), (0, 1)))
    add('ROCm/AMDMIGraphX#1766', 'padding is no number that could be the largest', largest, max, F32, [1, 4, 4, 2], (2, 3), (1, 1),
        ((1, 0), (2, 1)))
    add('tenstorrent/tt-metal#15731', 'channels above 32 that are no multiple of it', largest, max, F32, [1, 4, 4, 48], (2, 2),
        (2, 2), conv.BOTH_VALID)

    def resized(report, words, dims, size, align, half):
        out.case(report, words)
        x = Random(report).fill(F32, dims)
        y = rounded(F32, pool.bilinear(x.real, size, align, half))
        out.add('RESIZE_BILINEAR', 'float32', [x, size[1], size[0], False, align, half], [y])
    resized('intel/webml-polyfill#468', 'aligned corners ignored', [1, 3, 4, 2], (7, 5), True, False)
    resized('tensorflow/tfjs#1729', 'centres of pixels, without aligned corners', [1, 3, 3, 1], (6, 6), False, True)
    resized('microsoft/onnxruntime#12091', 'a line of one pixel made longer', [1, 1, 2, 3], (5, 2), False, False)


def moves(out):
    def add(report, words, name, f, form, dims, *parameters):
        out.case(report, words)
        move.moved(out, name, [form], [(dims, *parameters)], f)
    strided = 'STRIDED_SLICE'
    add('tensorflow/tensorflow#19260', 'a frame cut out of a signal', strided, move.strided_slice, F32, [1, 37], [0, 3], [1, 33],
        [1, 5])
    add('apache/tvm#5172', 'the last element, axis dropped', strided, move.strided_slice, F32, [4], [-1], [0], [1], 0, 1, 1)
    add('tensorflow/tensorflow#54228', 'pull: a stride along an axis that is dropped', strided, move.strided_slice, F16, [3, 4],
        [1, 0], [2, 4], [1, 2], 0, 0, 1)
    add('tensorflow/tensorflow#52389', 'pull: a negative stride turns the axis round', strided, move.strided_slice, F32, [3, 5],
        [0, 4], [3, -6], [1, -2])
    add('tensorflow/tensorflow#53291', 'the order of several channels', 'SPACE_TO_DEPTH', move.in_layout(move.space_to_depth), F32,
        [1, 2, 4, 3], 2, None)
    add('onnx/onnx#2163', 'pull: depth, column, row', 'DEPTH_TO_SPACE', move.in_layout(move.depth_to_space), F32, [1, 2, 3, 8], 2,
        None)

    def joined(report, words, forms, form_y):
        out.case(report, words)
        rnd = Random(report)
        xs = [rnd.fill(f, [2, 5]) for f in forms]
        y = Array([2 * len(xs), 5], [v for x in xs for v in x.real.values])
        out.add('CONCATENATION', spec.tag(form_y), [*xs, 0], [rounded(form_y, y)])
    joined('tensorflow/tensorflow#37544', 'inputs of other scales', (q8('0.05', 3), q8('0.21', 130)), q8('0.25', 120))
    joined('pytorch/pytorch#46604', 'the result encoded like the first input', (q8s('0.02', 5), q8s('0.3', -40)), q8s('0.31', -38))
    joined('rockchip-linux/rknn-toolkit#391', 'three inputs, none of them with the scale of the result',
           (q8('0.1', 0), q8('0.04', 200), q8('0.22', 90)), q8('0.3', 60))

    def chained(report, words, name, x, first, second):
        """first and second: an operation, what it gets beside what was before, and what it gives."""
        out.case(report, words)
        g = spec.Graph()
        value = g.input(x)
        for operation, more, y in (first, second):
            inputs = [value, *(g.input(m) for m in more)]
            value = g.output(y) if y is second[2] else g.operand(y.form.name, y.dims, 'TEMPORARY_VARIABLE')
            g.operation(operation, inputs, [value])
        out.graph(name, g, '', True)
    x = Random('transposed').fill(F32, [1, 2, 3, 4])
    t = codes(F32, x.permute([0, 2, 3, 1]))
    chained('microsoft/onnxruntime#31986', 'an image that was transposed is resized with other strides', 'transpose_resize', x,
            ('TRANSPOSE', [ints(0, 2, 3, 1)], t),
            ('RESIZE_NEAREST_NEIGHBOR', [8, 6, False], codes(F32, pool.nearest(t, (6, 8), False, False))))
    x, b = Random('gathered').fill(F32, [2, 5, 3]), const(Random('row').fill(F32, [3]))
    inputs, (y,) = move.gather(x, 1, tensor(I32, [2], [4, 1]))
    t = codes(F32, y)
    chained('openvinotoolkit/openvino#31139', 'pull: a sum fused into a gather has its other operand elsewhere', 'gather_add', x,
            ('GATHER', inputs[1:], t), ('ADD', [b, NONE], rounded(F32, broadcast(t.real, b.real, lambda p, q: p + q))))


def reductions(out):
    out.case('halide/Halide#6336', 'pull: an axis that counts from behind')
    x = Random('halide').fill(q8('0.1', 77), [2, 3, 4])
    out.add('MEAN', 'quant8', [x, ints(-1), 1], [rounded(x.form, reduce.reduced(x.real, [-1], True, reduce.mean))])
    out.case('Samsung/ONE#9976', 'pull: half a unit too much, of a mean in 8 bits')
    x = Random('one').fill(q8('0.1', 20), [3, 7])
    out.add('MEAN', 'rounded', [x, ints(1), 0], [rounded(x.form, reduce.reduced(x.real, [1], False, reduce.mean))])
    out.case('google-ai-edge/LiteRT#7441', 'a mean of five that is rounded twice')
    x = Random('litert').fill(q8s('0.1', -20), [4, 5])
    out.add('MEAN', 'signed', [x, ints(1), 0], [rounded(x.form, reduce.reduced(x.real, [1], False, reduce.mean))])
    out.case('tenstorrent/tt-metal#21120', 'positions along the last axis, which goes')
    x = reduce.distinct(Random('argmax'), F32, [3, 37])
    out.add('ARGMAX', 'float32', [x, 1], [codes(I32, reduce.reduced(x, [1], False, lambda v: v.index(max(v))))], True)
    out.case('ggml-org/llama.cpp#15484', 'equal largest numbers: either position is right')
    x = Tensor(F32, [2, 6], map(Fraction, (1, 7, 3, 7, 0, 7, 5, 2, 5, 1, 5, 0)))
    out.add('ARGMAX', 'ties', [x, 1], [Tensor(I32, [2], [1, 0])])
    out.case('tenstorrent/tt-metal#23644', 'infinities in another row')
    x = Tensor(F32, [2, 5], [*map(Fraction, (3, -1, 9, 4, 2)), INFINITY, Fraction(1), Fraction(8), -INFINITY, Fraction(2)])
    values = [Fraction(9), Fraction(4), INFINITY, Fraction(8)]
    out.add('TOPK_V2', 'infinities', [x, 2], [Tensor(F32, [2, 2], values), Tensor(I32, [2, 2], [2, 3, 0, 2])], True)


def products(out):
    def add(report, words, forms, dims, weights):
        out.case(report, words)
        x, w, b, b_real = conv.operands(report, forms, dims, weights, weights[0])
        b_real = b_real.real if isinstance(b_real, Tensor) else b_real
        y = Array([dims[0], weights[0]], [sum(p * q for p, q in zip(row, column)) + bias for row in x.real.rows()
                                          for column, bias in zip(w.real.rows(), b_real.values)])
        out.add('FULLY_CONNECTED', spec.tag(forms[0]), [x, w, b, NONE], [rounded(forms[2], y)], forms[0] is F32)
    add('Maratyszcza/NNPACK#43', 'a batch that is no power of two', conv.FLOAT, [3, 8], [5, 8])
    add('tensorflow/tensorflow#45394', 'requantisation of many outputs', conv.SIGNED, [4, 16], [33, 16])
    add('iree-org/iree#24583', 'zero points of both that are not subtracted', conv.QUANT, [8, 16], [17, 16])
    add('google-ai-edge/LiteRT#8979', 'an error that grows with the sum of a row of weights', conv.SIGNED, [2, 24], [6, 24])
    add('google/XNNPACK#5935', 'an odd number of inputs', conv.SIGNED, [3, 23], [19, 23])


def constants(out):
    """Constants of one shape, which a cache by shape, or by the first bytes, mixes up."""
    for report, words, same in (('google-coral/edgetpu#332', 'two constants of equal content', True),
                                ('google-ai-edge/litert-torch#1061', 'two constants of equal shape', False)):
        out.case(report, words)
        rnd = Random(report)
        x, a = rnd.fill(F32, [2, 3, 4]), const(rnd.fill(F32, [4]))
        b = const(Tensor(F32, [4], list(a.values) if same else [*a.values[:3], a.values[3] + 1]))
        sums = [rounded(F32, broadcast(x.real, c.real, lambda p, q: p + q)) for c in (a, b)]
        g = spec.Graph()
        for c, y in zip((a, b), sums):
            g.operation('ADD', [g.input(x), g.input(c), g.input(NONE)], [g.output(y)])
        out.graph('constants', g, '', True)


FAMILIES = (convolutions, broadcasts, normalisations, windows, moves, reductions, products, constants)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for family in FAMILIES:
        out = Trackers()
        family(out)
        (folder / f'{family.__name__}.jsonl').write_bytes(''.join(out.lines).encode())


if __name__ == '__main__':
    main()
