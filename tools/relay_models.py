#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks as Relay text with their parameters in TVM's binary form, from a seed: the same bytes anywhere."""
import argparse
import array
import math
import os
import struct
import sys

MASK = (1 << 64) - 1


class Generator:
    """Numbers from a seed (splitmix64), the same in any version of Python."""

    def __init__(self, seed):
        self.state = seed & MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def uniform(self, n, low, high):
        """n numbers as float32: array('f')."""
        step = (high - low) / (1 << 24)
        values = array.array("f")
        for _ in range((n + 1) // 2):
            z = self.bits()
            values.append(low + step * (z >> 40))
            values.append(low + step * (z & 0xFFFFFF))
        return values[:n]

    def integers(self, n, low, high):
        """n integers from low to high: a list."""
        width = high - low + 1
        return [low + (self.bits() >> 32) * width // (1 << 32) for _ in range(n)]


DTYPES = {"float32": (2, 32, "f"), "int8": (0, 8, "b"), "uint8": (1, 8, "B"), "int32": (0, 32, "i")}


def tensor(dims, dtype):
    return f"Tensor[({', '.join(map(str, dims))}), {dtype}]"


def number(v):
    """The literal of a float32."""
    return repr(struct.unpack("<f", struct.pack("<f", v))[0]) + "f"


def product(dims):
    n = 1
    for d in dims:
        n *= d
    return n


class Graph:
    """A function that is being written: lines, and parameters with their values."""

    def __init__(self, seed):
        self.random = Generator(seed)
        self.lines = []
        self.inputs = []
        self.params = []
        self.n = 0

    def input(self, name, dims, dtype="float32"):
        self.inputs.append(f"%{name}: {tensor(dims, dtype)}")
        return f"%{name}"

    def param(self, name, dims, values, dtype="float32"):
        self.params.append((name, dims, dtype, values))
        return f"%{name}"

    def uniform(self, name, dims, size, middle=0.0):
        return self.param(name, dims, self.random.uniform(product(dims), middle - size, middle + size))

    def op(self, text):
        """A graph binding of the expression; its name."""
        self.lines.append(f"  %{self.n} = {text};")
        self.n += 1
        return f"%{self.n - 1}"

    def line(self, text):
        self.lines.append("  " + text)

    def text(self, result):
        params = self.inputs + [f"%{n}: {tensor(d, t)}" for n, d, t, _ in self.params]
        return "\n".join(['#[version = "0.0.5"]', f"def @main({', '.join(params)}) {{", *self.lines, f"  {result}", "}", ""])

    def values(self):
        """The parameters in TVM's binary form."""
        out = [struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(self.params))]
        for name, _, _, _ in self.params:
            out.append(struct.pack("<Q", len(name)) + name.encode())
        out.append(struct.pack("<Q", len(self.params)))
        for _, dims, dtype, values in self.params:
            code, bits, letter = DTYPES[dtype]
            data = array.array(letter, values)
            if sys.byteorder == "big":
                data.byteswap()
            out.append(struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, len(dims), code, bits, 1))
            out.append(struct.pack(f"<{len(dims)}q", *dims))
            out.append(struct.pack("<q", len(data) * bits // 8) + data.tobytes())
        return b"".join(out)


def scaled(channels, width, by=8):
    """A number of channels times width, to a multiple of 8."""
    return max(by, int(channels * width + by / 2) // by * by)


# ---------------------------------------------------------------------- float


class Float(Graph):
    """Networks of float32. Images are (name, channels, size), NCHW or NHWC."""

    def __init__(self, seed, layout, norm):
        super().__init__(seed)
        self.layout, self.norm = layout, norm
        self.axis = 1 if layout == "NCHW" else 3

    def dims(self, channels, size):
        return (1, channels, size, size) if self.axis == 1 else (1, size, size, channels)

    def image(self, size):
        return self.input("data", self.dims(3, size)), 3, size

    def attrs(self, depthwise=False):
        if self.axis == 1:
            return ""
        return f', data_layout="NHWC", kernel_layout="{"HWOI" if depthwise else "HWIO"}"'

    def conv(self, x, name, channels, kernel, stride=1, act="relu6", groups=1, gain=2.0):
        """A convolution with its padding, bias or batch norm, and activation."""
        value, c, size = x
        depthwise = groups > 1
        fan_in = kernel * kernel * c // groups
        w = (channels, c // groups, kernel, kernel)
        if self.axis == 3:
            w = (kernel, kernel, channels, 1) if depthwise else (kernel, kernel, c, channels)
        w = self.uniform(f"{name}.weight", w, math.sqrt(3 * gain / fan_in))
        pad = (kernel - 1) // 2
        more = f", groups={groups}" if depthwise else ""
        y = self.op(
            f"nn.conv2d({value}, {w}, strides=[{stride}, {stride}], padding=[{pad}, {pad}, {pad}, {pad}]{more}, "
            f"channels={channels}, kernel_size=[{kernel}, {kernel}]{self.attrs(depthwise)})"
        )
        y = self.shifted(y, name, channels)
        if act == "relu6":
            y = self.op(f"clip({y}, a_min=0f, a_max=6f)")
        elif act == "relu":
            y = self.op(f"nn.relu({y})")
        return y, channels, (size + 2 * pad - kernel) // stride + 1

    def shifted(self, y, name, channels):
        if self.norm == "bias":
            b = self.uniform(f"{name}.bias", (channels,), 0.1)
            return self.op(f"nn.bias_add({y}, {b}, axis={self.axis})")
        gamma = self.uniform(f"{name}.gamma", (channels,), 0.2, 1.0)
        beta = self.uniform(f"{name}.beta", (channels,), 0.1)
        mean = self.uniform(f"{name}.mean", (channels,), 0.1)
        var = self.uniform(f"{name}.var", (channels,), 0.2, 1.0)
        t = self.op(f"nn.batch_norm({y}, {gamma}, {beta}, {mean}, {var}, axis={self.axis}, epsilon=0.001f)")
        return self.op(f"{t}.0")

    def depthwise(self, x, name, stride, kernel=3):
        return self.conv(x, name, x[1], kernel, stride, groups=x[1], gain=5.0)

    def pool(self, x, kind, kernel, stride, pad):
        value, c, size = x
        y = self.op(
            f"nn.{kind}_pool2d({value}, pool_size=[{kernel}, {kernel}], strides=[{stride}, {stride}], "
            f'padding=[{pad}, {pad}, {pad}, {pad}], layout="{self.layout}")'
        )
        return y, c, (size + 2 * pad - kernel) // stride + 1

    def classes(self, x, n):
        """Global pool, dense layer, softmax."""
        value, c, _ = x
        y = self.op(f'nn.global_avg_pool2d({value}, layout="{self.layout}")')
        y = self.op(f"nn.batch_flatten({y})")
        w = self.uniform("fc.weight", (n, c), math.sqrt(3 / c))
        y = self.op(f"nn.dense({y}, {w}, units={n})")
        y = self.op(f"nn.bias_add({y}, {self.uniform('fc.bias', (n,), 0.1)})")
        return f"nn.softmax({y})"


def mobilenet_v1(o):
    g = Float(o.seed, o.layout, o.norm)
    x = g.conv(g.image(o.size), "conv0", scaled(32, o.width), 3, 2)
    rows = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for i, (channels, stride) in enumerate(rows):
        x = g.depthwise(x, f"block{i}.depthwise", stride)
        x = g.conv(x, f"block{i}.pointwise", scaled(channels, o.width), 1)
    return g, g.classes(x, o.classes)


V2_ROWS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def v2_blocks(width):
    """Name, expansion, channels and stride of each block."""
    for i, (expand, channels, repeats, stride) in enumerate(V2_ROWS):
        for k in range(repeats):
            yield f"block{i}.{k}", expand, scaled(channels, width), stride if k == 0 else 1


def mobilenet_v2(o):
    g = Float(o.seed, o.layout, o.norm)
    x = g.conv(g.image(o.size), "conv0", scaled(32, o.width), 3, 2)
    for name, expand, channels, stride in v2_blocks(o.width):
        y = x if expand == 1 else g.conv(x, f"{name}.expand", x[1] * expand, 1)
        y = g.depthwise(y, f"{name}.depthwise", stride)
        y = g.conv(y, f"{name}.project", channels, 1, act="", gain=1.0)
        x = (g.op(f"add({x[0]}, {y[0]})"), channels, y[2]) if stride == 1 and x[1] == channels else y
    x = g.conv(x, "conv1", scaled(1280, o.width), 1)
    return g, g.classes(x, o.classes)


def resnet18(o):
    g = Float(o.seed, o.layout, o.norm)
    x = g.conv(g.image(o.size), "conv0", scaled(64, o.width), 7, 2, "relu")
    x = g.pool(x, "max", 3, 2, 1)
    for i, channels in enumerate((64, 128, 256, 512)):
        for k in range(2):
            name, stride, c = f"layer{i}.{k}", 2 if i and not k else 1, scaled(channels, o.width)
            y = g.conv(x, f"{name}.conv0", c, 3, stride, "relu")
            y = g.conv(y, f"{name}.conv1", c, 3, act="", gain=0.5)
            if stride != 1 or x[1] != c:
                x = g.conv(x, f"{name}.down", c, 1, stride, act="", gain=1.0)
            x = g.op(f"nn.relu({g.op(f'add({x[0]}, {y[0]})')})"), c, y[2]
    return g, g.classes(x, o.classes)


def inception_block(g, x, name, width):
    """Four branches, joined along the channels."""
    a = g.conv(x, f"{name}.one", scaled(64, width), 1, act="relu")
    b = g.conv(g.conv(x, f"{name}.three0", scaled(96, width), 1, act="relu"), f"{name}.three1", scaled(128, width), 3, act="relu")
    c = g.conv(g.conv(x, f"{name}.five0", scaled(16, width), 1, act="relu"), f"{name}.five1", scaled(32, width), 5, act="relu")
    d = g.conv(g.pool(x, "max", 3, 1, 1), f"{name}.pool", scaled(32, width), 1, act="relu")
    branches = (a, b, c, d)
    y = g.op(f"concatenate(({', '.join(v[0] for v in branches)}), axis={g.axis})")
    return y, sum(v[1] for v in branches), x[2]


def inception(o):
    g = Float(o.seed, o.layout, o.norm)
    x = g.pool(g.conv(g.image(o.size), "conv0", scaled(64, o.width), 7, 2, "relu"), "max", 3, 2, 1)
    for i in range(2):
        x = inception_block(g, x, f"block{i}", o.width)
    return g, g.classes(x, o.classes)


# ------------------------------------------------------------------ detection

ANCHORS = ((0.2, 0.2), (0.3, 0.15), (0.15, 0.3))


def anchors(sizes):
    """Centre, height and width of the boxes at each place of the maps."""
    values = []
    for n in sizes:
        for i in range(n * n):
            for h, w in ANCHORS:
                values += [(i // n + 0.5) / n, (i % n + 0.5) / n, h, w]
    return values


def heads(g, maps, kinds, name, columns):
    """A convolution on each map, as rows of numbers of all boxes."""
    rows = []
    for i, x in enumerate(maps):
        y, _, _ = g.conv(x, f"{name}{i}", len(ANCHORS) * columns, 3, act="", gain=kinds)
        if g.axis == 1:
            y = g.op(f"transpose({y}, axes=[0, 2, 3, 1])")
        rows.append(g.op(f"reshape({y}, newshape=[1, -1, {columns}])"))
    return g.op(f"concatenate(({', '.join(rows)}), axis=1)")


def decode(n):
    """A closure that turns offsets from anchors into corners."""
    loc = tensor((1, n, 4), "float32")
    lines = [
        f"let %decode = fn (%loc: {loc}, %at: {loc}) -> {loc} {{",
        "  %900 = split(%loc, indices_or_sections=4, axis=2);",
        "  %901 = split(%at, indices_or_sections=4, axis=2);",
        "  %902 = add(multiply(multiply(%900.0, 0.1f), %901.2), %901.0);",
        "  %903 = add(multiply(multiply(%900.1, 0.1f), %901.3), %901.1);",
        "  %904 = multiply(exp(multiply(%900.2, 0.2f)), multiply(%901.2, 0.5f));",
        "  %905 = multiply(exp(multiply(%900.3, 0.2f)), multiply(%901.3, 0.5f));",
        "  %906 = (subtract(%903, %905), subtract(%902, %904), add(%903, %905), add(%902, %904));",
        "  clip(concatenate(%906, axis=2), a_min=0f, a_max=1f)",
        "};",
    ]
    return lines


def ssd(o):
    """A detector: two maps, offsets and scores of boxes, and on the host what picks boxes, if any is good enough."""
    g = Float(o.seed, o.layout, o.norm)
    x = g.conv(g.image(o.size), "conv0", scaled(32, o.width), 3, 2)
    maps, kinds = [], min(o.classes, 20) + 1
    for i, channels in enumerate((64, 128, 256)):
        x = g.conv(g.depthwise(x, f"block{i}.depthwise", 2), f"block{i}.pointwise", scaled(channels, o.width), 1)
        maps = (maps + [x])[-2:]
    n = sum(m[2] * m[2] for m in maps) * len(ANCHORS)
    loc = heads(g, maps, 1.0, "loc", 4)
    scores = heads(g, maps, 4.0, "cls", kinds)
    at = g.param("anchors", (1, n, 4), anchors([m[2] for m in maps]))
    for text in decode(n):
        g.line(text)
    g.line(f"let %boxes = %decode({loc}, {at});")
    part = g.op(f"strided_slice(nn.softmax({scores}), begin=[1], end=[{kinds}], axes=[2])")
    best = g.op(f"max({part}, axis=[2], keepdims=True)")
    kind = g.op(f'cast(argmax({part}, axis=[2], keepdims=True), dtype="float32")')
    rows = g.op(f"concatenate(({kind}, {best}, %boxes), axis=2)")
    found = g.op(f"vision.get_valid_counts({rows}, {number(o.threshold)})")
    g.line(f"let %any: bool = greater(sum({found}.0), 0);")
    g.line("if (%any) {")
    g.line(f"  vision.non_max_suppression({found}.1, {found}.0, {found}.2, 10, 0.5f, return_indices=False, invalid_to_bottom=True)")
    g.line("} else {")
    g.line(f"  full(-1f, shape=[1, {n}, 6])")
    return g, "}"


# ------------------------------------------------------------------ quantised


class Quantised(Graph):
    """Networks of 8-bit integers. Images are (name, channels, size, scale, zero point), NHWC."""

    def __init__(self, seed, per_channel):
        super().__init__(seed)
        self.per_channel = per_channel
        self.dtype = "int8" if per_channel else "uint8"
        self.low, self.high = (-128, 127) if per_channel else (0, 255)
        self.middle = 0 if per_channel else 128

    def weights(self, name, dims, fan_in, channels):
        """Weights, their zero point, and their scales: one, or one for each channel out. The scale is a list."""
        scale = math.sqrt(6.0 / fan_in) / 127
        w = self.random.integers(product(dims), -127, 127)
        if not self.per_channel:
            return self.param(f"{name}.weight", dims, [v + 128 for v in w], "uint8"), 128, [scale]
        scales = [struct.unpack("<f", struct.pack("<f", s))[0] for s in self.random.uniform(channels, scale / 2, scale)]
        return self.param(f"{name}.weight", dims, w, "int8"), 0, scales

    def product(self, name, text, x, scales, channels, out, axis):
        """Bias and requantisation of a sum of products: out is scale and zero point of the result."""
        bias = [int(v / (x[3] * scales[i % len(scales)])) for i, v in enumerate(self.random.uniform(channels, -0.1, 0.1))]
        y = self.op(text)
        y = self.op(f"nn.bias_add({y}, {self.param(f'{name}.bias', (channels,), bias, 'int32')}, axis={axis})")
        scale = number(x[3] * scales[0])
        if self.per_channel:
            scale = self.param(f"{name}.scale", (channels,), [x[3] * s for s in scales])
        return self.op(
            f"qnn.requantize({y}, {scale}, 0, {number(out[0])}, {out[1]}, axis={axis}, "
            f'rounding="UPWARD", out_dtype="{self.dtype}")'
        )

    def kernel_scale(self, name, scales):
        if not self.per_channel:
            return number(scales[0])
        return self.param(f"{name}.weight_scale", (len(scales),), scales)

    def conv(self, x, name, channels, kernel, stride=1, act=True, groups=1, pad_first=False):
        value, c, size, scale, zero = x
        out = (6.0 / 255, self.low) if act else (0.0625, self.middle)
        dims = (kernel, kernel, channels, 1) if groups > 1 else (kernel, kernel, c, channels)
        w, w_zero, scales = self.weights(name, dims, kernel * kernel * c // groups, channels)
        pad = (kernel - 1) // 2
        if pad_first and pad:
            fill = self.param(f"{name}.pad", (), [zero], self.dtype)
            value = self.op(f"nn.pad({value}, {fill}, pad_width=[[0, 0], [{pad}, {pad}], [{pad}, {pad}], [0, 0]])")
        at = 0 if pad_first else pad
        more = f", groups={groups}" if groups > 1 else ""
        y = self.product(
            name,
            f"qnn.conv2d({value}, {w}, {zero}, {w_zero}, {number(scale)}, {self.kernel_scale(name, scales)}, "
            f"strides=[{stride}, {stride}], padding=[{at}, {at}, {at}, {at}]{more}, channels={channels}, "
            f'kernel_size=[{kernel}, {kernel}], data_layout="NHWC", '
            f'kernel_layout="{"HWOI" if groups > 1 else "HWIO"}", out_dtype="int32")',
            x, scales, channels, out, 3,
        )
        if act:
            y = self.op(f"clip({y}, a_min={number(self.low)}, a_max={number(self.high)})")
        return y, channels, (size + 2 * pad - kernel) // stride + 1, *out

    def add(self, x, y):
        out = (0.0625, self.middle)
        scales = ", ".join(f"{number(v[3])}, {v[4]}" for v in (x, y))
        z = self.op(f"qnn.add({x[0]}, {y[0]}, {scales}, {number(out[0])}, {out[1]})")
        return z, x[1], x[2], *out

    def classes(self, x, n):
        value, c, _, scale, zero = x
        y = self.op(f'cast({value}, dtype="int32")')
        y = self.op(f'cast(nn.global_avg_pool2d({y}, layout="NHWC"), dtype="{self.dtype}")')
        y = self.op(f"reshape({y}, newshape=[-1, {c}])")
        w, w_zero, scales = self.weights("fc", (n, c), c, n)
        text = f"qnn.dense({y}, {w}, {zero}, {w_zero}, {number(scale)}, {self.kernel_scale('fc', scales)}, units={n}"
        out = (0.0625, self.middle)
        y = self.product("fc", text + ', out_dtype="int32")', x, scales, n, out, 1)
        return f"nn.softmax(qnn.dequantize({y}, {number(out[0])}, {out[1]}))"


def mobilenet_quant(o):
    g = Quantised(o.seed, o.per_channel)
    x = g.input("data", (1, o.size, o.size, 3), g.dtype), 3, o.size, 0.0078125, g.middle
    x = g.conv(x, "conv0", scaled(32, o.width), 3, 2, pad_first=True)
    for name, expand, channels, stride in v2_blocks(o.width):
        y = x if expand == 1 else g.conv(x, f"{name}.expand", x[1] * expand, 1)
        y = g.conv(y, f"{name}.depthwise", y[1], 3, stride, groups=y[1])
        y = g.conv(y, f"{name}.project", channels, 1, act=False)
        x = g.add(x, y) if stride == 1 and x[1] == channels else y
    x = g.conv(x, "conv1", scaled(1280, o.width), 1)
    return g, g.classes(x, o.classes)


# ---------------------------------------------------------------------- shapes of graphs, for measuring the compiler


def chain(o):
    """As many small operations as --size says, some of them shared."""
    g = Graph(o.seed)
    x = last = g.input("data", (1, 16))
    for i in range(o.size):
        op = ("nn.relu", "tanh", "add", "negative", "add", "sigmoid", "maximum")[g.random.bits() % 7]
        last, x = x, g.op(f"{op}({x}, {last})" if op in ("add", "maximum") else f"{op}({x})")
    return g, x


def diamonds(o):
    """Two ways from each value to the next."""
    g = Graph(o.seed)
    x = g.input("data", (1, 16))
    for _ in range(o.size // 3):
        one, other = g.op(f"nn.relu({x})"), g.op(f"tanh({x})")
        x = g.op(f"add({one}, {other})")
    return g, x


def wide(o):
    """Half of the operations use the input, the others add up what they give."""
    g = Graph(o.seed)
    data = g.input("data", (1, 16))
    level = [g.op(f"nn.relu({data})") for _ in range((o.size + 1) // 2)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2])
        level = [g.op(f"add({a}, {b})") for a, b in pairs] + level[len(level) & ~1 :]
    return g, level[0]


def dense(o):
    """Each operation uses two of the sixteen before it."""
    g = Graph(o.seed)
    near = [g.input("data", (1, 16))]
    for _ in range(o.size):
        a, b = (near[g.random.bits() % len(near)] for _ in range(2))
        near = near[-15:] + [g.op(f"add({a}, {b})")]
    return g, near[-1]


def lets(o):
    """A chain of lets."""
    g = Graph(o.seed)
    x = g.input("data", (1, 16))
    for i in range(o.size):
        g.line(f"let %v{i} = nn.relu({x});")
        x = f"%v{i}"
    return g, x


def comb(o):
    """A chain, and from each value of it one that NNAPI lacks, which are added up from the last on."""
    g = Graph(o.seed)
    x = g.input("data", (1, 16))
    teeth = []
    for _ in range(o.size // 3):
        x = g.op(f"nn.relu({x})")
        teeth.append(g.op(f"atan({x})"))
    for tooth in reversed(teeth):
        x = g.op(f"add({x}, {tooth})")
    return g, x


MODELS = {
    "mobilenet-v1": mobilenet_v1,
    "mobilenet-v2": mobilenet_v2,
    "resnet18": resnet18,
    "inception": inception,
    "ssd": ssd,
    "mobilenet-quant": mobilenet_quant,
    "chain": chain,
    "diamonds": diamonds,
    "wide": wide,
    "dense": dense,
    "lets": lets,
    "comb": comb,
}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("model", choices=MODELS)
    p.add_argument("--size", type=int, default=224, help="height and width of the image (224); of shapes: operations")
    p.add_argument("--width", type=float, default=1.0, help="factor of all numbers of channels (1)")
    p.add_argument("--classes", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--layout", choices=("NCHW", "NHWC"), default="NCHW", help="of the networks of floats")
    p.add_argument("--norm", choices=("bias", "batch"), default="bias", help="what follows a convolution")
    p.add_argument("--per-channel", action="store_true", help="mobilenet-quant: int8, a scale for each channel")
    p.add_argument("--threshold", type=float, default=0.1, help="ssd: the least score of a box")
    p.add_argument("--out", default=".", help="folder for MODEL.relay and MODEL.params")
    o = p.parse_args()
    graph, result = MODELS[o.model](o)
    os.makedirs(o.out, exist_ok=True)
    with open(os.path.join(o.out, o.model + ".relay"), "w", encoding="ascii", newline="\n") as f:
        f.write(graph.text(result))
    with open(os.path.join(o.out, o.model + ".params"), "wb") as f:
        f.write(graph.values())


if __name__ == "__main__":
    main()
