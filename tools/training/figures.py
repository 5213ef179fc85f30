#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the classifier of figures and writes mlts/networks/models/figures_{float,uint8,int8}.tflite.

usage: figures.py NNVTS OUT     NNVTS: the program nnvts, which draws the pictures
Needs PyTorch (Debian: python3-torch). Nothing that builds or tests the project needs this script.
"""
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import tflite

SIZE, CLASSES = 48, 10
# (kind, output channels, stride): a convolution, depthwise blocks, inverted residuals, as MobileNet v2 has them
LAYERS = [("conv", 16, 2), ("separable", 24, 1), ("separable", 40, 2), ("residual", 40, 1), ("residual", 56, 2),
          ("residual", 56, 1), ("conv1", 96, 1)]
EXPANSION = 2


def pictures(nnvts, count, seed):
    raw = subprocess.run([nnvts, "data", "pictures", "--raw", "--count", str(count), "--seed", str(seed)], check=True, capture_output=True).stdout
    item = np.frombuffer(raw, np.uint8).reshape(count, 1 + SIZE * SIZE * 3)
    x = item[:, 1:].reshape(count, SIZE, SIZE, 3).transpose(0, 3, 1, 2)
    return torch.from_numpy(x.copy()), torch.from_numpy(item[:, 0].astype(np.int64))


def plan():
    """Each convolution: (kind, channels in, channels out, kernel, stride, activation, skip). skip: add the input of so
    many convolutions before."""
    rows, c = [], 3
    for kind, out, stride in LAYERS:
        if kind == "conv":
            rows.append(("conv", c, out, 3, stride, True, 0))
        elif kind == "conv1":
            rows.append(("conv", c, out, 1, 1, True, 0))
        elif kind == "separable":
            rows.append(("depthwise", c, c, 3, stride, True, 0))
            rows.append(("conv", c, out, 1, 1, True, 0))
        else:
            wide = c * EXPANSION
            rows.append(("conv", c, wide, 1, 1, True, 0))
            rows.append(("depthwise", wide, wide, 3, stride, True, 0))
            rows.append(("conv", wide, out, 1, 1, False, 3 if stride == 1 and c == out else 0))
        c = out
    return rows, c


ROWS, LAST = plan()


def pad(x, kernel, stride):
    """SAME padding of an even extent: all that a stride of 2 needs lies behind."""
    if kernel == 1:
        return x
    return F.pad(x, (1, 1, 1, 1)) if stride == 1 else F.pad(x, (0, 1, 0, 1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        for kind, cin, cout, k, stride, _, _ in ROWS:
            self.convs.append(nn.Conv2d(cin, cout, k, stride, groups=cin if kind == "depthwise" else 1, bias=False))
            self.norms.append(nn.BatchNorm2d(cout, momentum=0.05))
        self.last = nn.Linear(LAST, CLASSES)

    def forward(self, x):
        before = []
        for row, conv, norm in zip(ROWS, self.convs, self.norms):
            before.append(x)
            x = norm(conv(pad(x, row[3], row[4])))
            if row[5]:
                x = torch.clamp(x, 0, 6)
            if row[6]:
                x = x + before[-row[6]]
        return self.last(x.mean((2, 3)))

    def folded(self):
        """Weights and biases with the norms folded in, then those of the last layer."""
        out = []
        for conv, norm in zip(self.convs, self.norms):
            g = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach()
            out.append((conv.weight.detach() * g[:, None, None, None], norm.bias.detach() - norm.running_mean * g))
        out.append((self.last.weight.detach(), self.last.bias.detach()))
        return out


class Scheme:
    """How numbers are quantised: uint8 throughout, or int8 with a scale for each channel of a filter."""

    def __init__(self, per_channel):
        self.per_channel = per_channel
        self.low, self.high = (-128, 127) if per_channel else (0, 255)

    def of_range(self, low, high):
        low, high = min(float(low), 0.0), max(float(high), 0.0)
        scale = np.float32(max(high - low, 1e-6) / 255)
        return scale, int(np.clip(round(self.low - low / float(scale)), self.low, self.high))

    def of_weights(self, w):
        if not self.per_channel:
            scale, zero = self.of_range(w.min(), w.max())
            return torch.tensor(scale), zero
        scale = w.detach().abs().amax(tuple(range(1, w.dim()))).clamp(min=1e-6) / 127
        return scale.reshape(-1, *[1] * (w.dim() - 1)), 0

    def weights(self, w):
        """Rounded to the scheme; gradients pass as if it were not."""
        scale, zero = self.of_weights(w)
        low, high = (-127, 127) if self.per_channel else (0, 255)
        q = (torch.clamp(torch.round(w / scale) + zero, low, high) - zero) * scale
        return w + (q - w).detach()

    def values(self, x, scale, zero):
        q = (torch.clamp(torch.round(x / float(scale)) + zero, self.low, self.high) - zero) * float(scale)
        return x + (q - x).detach()


class Quantised(nn.Module):
    """The folded network; with ranges, every value is rounded where the quantised model rounds it."""

    def __init__(self, folded, scheme):
        super().__init__()
        self.scheme, self.ranges = scheme, {}
        self.w = nn.ParameterList([nn.Parameter(w.clone()) for w, _ in folded])
        self.b = nn.ParameterList([nn.Parameter(b.clone()) for _, b in folded])
        self.watch = False

    def at(self, name, x):
        if self.watch:
            low, high = self.ranges.get(name, (0.0, 0.0))
            a, b = torch.quantile(x.flatten()[:: max(1, x.numel() // 100000)], torch.tensor([0.0005, 0.9995]))
            self.ranges[name] = (min(low, float(a)), max(high, float(b)))
            return x
        return self.scheme.values(x, *self.scheme.of_range(*self.ranges[name]))

    def forward(self, x):
        before = []
        for i, (kind, cin, _, k, stride, active, skip) in enumerate(ROWS):
            before.append(x)
            w = self.w[i] if self.watch else self.scheme.weights(self.w[i])
            x = F.conv2d(pad(x, k, stride), w, self.b[i], stride, groups=cin if kind == "depthwise" else 1)
            if active:
                x = torch.clamp(x, 0, 6)
            x = self.at("conv%d" % i, x)
            if skip:
                x = self.at("add%d" % i, x + before[-skip])
        x = self.at("pool", x.mean((2, 3)))
        w = self.w[-1] if self.watch else self.scheme.weights(self.w[-1])
        return self.at("logits", F.linear(x, w, self.b[-1]))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        hits = sum(int((net(x[i : i + 250].float() / 127.5 - 1).argmax(1) == y[i : i + 250]).sum())
                   for i in range(0, len(x), 250))
    return hits / len(x)


def train(net, x, y, epochs, rate, batch=64):
    steps = epochs * (len(x) // batch)
    opt = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(opt, rate, total_steps=steps)
    for epoch in range(epochs):
        net.train()
        t, total = time.time(), 0.0
        for i in torch.randperm(len(x)).split(batch):
            if len(i) < batch:
                continue
            loss = F.cross_entropy(net(x[i].float() / 127.5 - 1), y[i], label_smoothing=0.02)
            opt.zero_grad()
            loss.backward()
            opt.step()
            schedule.step()
            total += float(loss)
        print("epoch %d: loss %.4f, %.0f s" % (epoch, total / (len(x) // batch), time.time() - t), flush=True)


def export(folded, scheme, ranges, description):
    """The network as a .tflite file: float32 without a scheme."""
    m = tflite.Model(description)
    kind = tflite.FLOAT32 if scheme is None else tflite.INT8 if scheme.per_channel else tflite.UINT8
    store = np.int8 if kind == tflite.INT8 else np.uint8

    def value(name, shape, scale_zero=None):
        if scheme is None:
            return m.tensor(name, shape, kind), None
        scale, zero = scale_zero or scheme.of_range(*ranges[name])
        return m.tensor(name, shape, kind, float(scale), zero), (scale, zero)

    def parameters(name, w, b, x_scale, axis):
        """w as the file has it, output channels along axis of it."""
        if scheme is None:
            return (m.tensor(name + "/w", w.shape, kind, data=w.astype("<f4").tobytes()),
                    m.tensor(name + "/b", b.shape, kind, data=b.astype("<f4").tobytes()))
        if scheme.per_channel and axis is not None:
            s = (np.abs(w).max(tuple(d for d in range(w.ndim) if d != axis)).clip(1e-6) / 127).astype(np.float32)
            shape = [1] * w.ndim
            shape[axis] = -1
            q, zero = np.clip(np.rint(w / s.reshape(shape)), -127, 127), 0
        elif scheme.per_channel:
            s, zero = np.float32(max(np.abs(w).max(), 1e-6) / 127), 0
            q = np.clip(np.rint(w / s), -127, 127)
        else:
            s, zero = scheme.of_range(w.min(), w.max())
            q = np.clip(np.rint(w / s) + zero, 0, 255)
        bs = np.float32(x_scale) * s
        along = axis if scheme.per_channel and axis is not None else None
        listed = [float(v) for v in s] if along is not None else float(s)
        return (m.tensor(name + "/w", w.shape, kind, listed, zero, q.astype(store).tobytes(), along),
                m.tensor(name + "/b", b.shape, tflite.INT32, [float(v) for v in bs] if along is not None else float(bs),
                         0, np.rint(b / bs).astype("<i4").tobytes(), 0 if along is not None else None))

    first = None if scheme is None else (np.float32(1 / 127.5), -1 if scheme.per_channel else 127)
    x, xq = value("picture", [1, SIZE, SIZE, 3], first)
    source, side, before = x, SIZE, []
    for i, (conv, cin, cout, k, stride, active, skip) in enumerate(ROWS):
        before.append((x, xq))
        w, b = folded[i]
        w, b = w.numpy(), b.numpy()
        side //= stride
        name, act = "conv%d" % i, ("b", tflite.RELU6 if active else tflite.NONE)
        if conv == "depthwise":
            wt, bt = parameters(name, w.transpose(1, 2, 3, 0), b, xq and xq[0], 3)
        else:
            wt, bt = parameters(name, w.transpose(0, 2, 3, 1), b, xq and xq[0], 0)
        out, oq = value(name, [1, side, side, cout])
        if conv == "depthwise":
            m.operator("DEPTHWISE_CONV_2D", [x, wt, bt], [out],
                       {0: ("b", tflite.SAME), 1: ("i", stride), 2: ("i", stride), 3: ("i", 1), 4: act})
        else:
            m.operator("CONV_2D", [x, wt, bt], [out], {0: ("b", tflite.SAME), 1: ("i", stride), 2: ("i", stride), 3: act})
        x, xq = out, oq
        if skip:
            out, oq = value("add%d" % i, [1, side, side, cout])
            m.operator("ADD", [before[-skip][0], x], [out], {0: ("b", tflite.NONE)})
            x, xq = out, oq
    # an average keeps its input's scale in the quantised form
    pooled, pq = value("pool", [1, 1, 1, LAST], xq)
    m.operator("AVERAGE_POOL_2D", [x], [pooled], {0: ("b", tflite.VALID), 1: ("i", 1), 2: ("i", 1), 3: ("i", side),
                                                  4: ("i", side), 5: ("b", tflite.NONE)})
    flat, _ = value("features", [1, LAST], pq)
    m.operator("RESHAPE", [pooled], [flat], {0: tflite.Vector([1, LAST], "i")})
    w, b = folded[-1]
    wt, bt = parameters("dense", w.numpy(), b.numpy(), pq and pq[0], None)
    logits, _ = value("logits", [1, CLASSES])
    m.operator("FULLY_CONNECTED", [flat, wt, bt], [logits], {0: ("b", tflite.NONE)})
    end = None if scheme is None else (np.float32(1 / 256), -128 if scheme.per_channel else 0)
    probability, _ = value("probability", [1, CLASSES], end)
    m.operator("SOFTMAX", [logits], [probability], {0: ("f", 1.0)})
    return m.finish([source], [probability])


def main():
    nnvts, out = sys.argv[1:3]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = pictures(nnvts, 20000, 1)
    tx, ty = pictures(nnvts, 1500, 2)
    net = Net()
    print("parameters:", sum(p.numel() for p in net.parameters()))
    train(net, x, y, 10, 4e-3)
    print("float: %.2f %% of the held-out pictures" % (100 * accuracy(net, tx, ty)), flush=True)
    folded = net.folded()
    with open(out + "/figures_float.tflite", "wb") as f:
        f.write(export(folded, None, None, "figures, float32"))
    for name, per_channel in (("uint8", False), ("int8", True)):
        q = Quantised(folded, Scheme(per_channel))
        q.watch = True
        accuracy(q, x[:2000], y[:2000])
        q.watch = False
        q.ranges["pool"] = q.ranges["conv%d" % (len(ROWS) - 1)]
        print("%s, rounded: %.2f %%" % (name, 100 * accuracy(q, tx, ty)), flush=True)
        train(q, x[:8000], y[:8000], 1, 2e-4)
        print("%s, tuned: %.2f %%" % (name, 100 * accuracy(q, tx, ty)), flush=True)
        tuned = [(w.detach(), b.detach()) for w, b in zip(q.w, q.b)]
        with open(out + "/figures_%s.tflite" % name, "wb") as f:
            f.write(export(tuned, q.scheme, q.ranges, "figures, " + name))


if __name__ == "__main__":
    main()
