#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the recogniser of made-up speech, an LSTM, and writes mlts/networks/models/speech_float.tflite.

usage: speech.py NNVTS OUT     NNVTS: the program nnvts, which makes the speech
Needs PyTorch (Debian: python3-torch). Nothing that builds or tests the project needs this script.
"""
import subprocess
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import tflite

FRAMES, FEATURES, PHONES, UNITS = 64, 16, 13, 64


def utterances(nnvts, count, seed):
    raw = subprocess.run([nnvts, "data", "speech", "--raw", "--count", str(count), "--seed", str(seed)], check=True, capture_output=True).stdout
    item = np.frombuffer(raw, "<f4").reshape(count, FRAMES * (FEATURES + 1))
    x = item[:, : FRAMES * FEATURES].reshape(count, FRAMES, FEATURES)
    y = item[:, FRAMES * FEATURES :].view("<i4").astype(np.int64)
    return torch.from_numpy(x.copy()), torch.from_numpy(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(FEATURES, UNITS, batch_first=True)
        self.last = nn.Linear(UNITS, PHONES)

    def forward(self, x):
        return self.last(self.lstm(x)[0])


def spell(labels):
    """Runs of at least two frames, without silence."""
    out, last, t = [], 0, 0
    while t < len(labels):
        run = 1
        while t + run < len(labels) and labels[t + run] == labels[t]:
            run += 1
        if run > 1:
            if labels[t] != last and labels[t] != 0:
                out.append(labels[t])
            last = labels[t]
        t += run
    return out


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, p in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, q in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(diagonal + (p != q), row[j + 1] + 1, row[j] + 1)
    return row[-1]


def error_rate(net, x, y):
    net.eval()
    with torch.no_grad():
        said = net(x).argmax(2).tolist()
    wrong = sum(edits(spell(a), spell(b)) for a, b in zip(said, y.tolist()))
    return wrong / sum(len(spell(b)) for b in y.tolist())


def export(net):
    m = tflite.Model("made-up speech, float32")

    def constant(name, a):
        a = a.detach().numpy().astype("<f4")
        return m.tensor(name, a.shape, tflite.FLOAT32, data=a.tobytes())

    x = m.tensor("frames", [1, FRAMES, FEATURES], tflite.FLOAT32)
    gates = ["input", "forget", "cell", "output"]
    w = [constant("lstm/%s/w" % g, v) for g, v in zip(gates, net.lstm.weight_ih_l0.chunk(4))]
    r = [constant("lstm/%s/r" % g, v) for g, v in zip(gates, net.lstm.weight_hh_l0.chunk(4))]
    b = [constant("lstm/%s/b" % g, v) for g, v in zip(gates, (net.lstm.bias_ih_l0 + net.lstm.bias_hh_l0).chunk(4))]
    h = m.tensor("lstm/output_state", [1, UNITS], tflite.FLOAT32, variable=True)
    c = m.tensor("lstm/cell_state", [1, UNITS], tflite.FLOAT32, variable=True)
    out = m.tensor("lstm", [1, FRAMES, UNITS], tflite.FLOAT32)
    m.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", [x] + w + r + [-1] * 3 + b + [-1] * 2 + [h, c] + [-1] * 4, [out],
               {0: ("b", 4), 1: ("f", 0.0), 2: ("f", 0.0), 3: ("?", False)})  # 4: TANH
    flat = m.tensor("features", [FRAMES, UNITS], tflite.FLOAT32)
    m.operator("RESHAPE", [out], [flat], {0: tflite.Vector([FRAMES, UNITS], "i")})
    logits = m.tensor("logits", [FRAMES, PHONES], tflite.FLOAT32)
    m.operator("FULLY_CONNECTED", [flat, constant("dense/w", net.last.weight), constant("dense/b", net.last.bias)],
               [logits], {0: ("b", tflite.NONE)})
    probability = m.tensor("probability", [FRAMES, PHONES], tflite.FLOAT32)
    m.operator("SOFTMAX", [logits], [probability], {0: ("f", 1.0)})
    return m.finish([x], [probability])


def main():
    nnvts, out = sys.argv[1:3]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = utterances(nnvts, 6000, 1)
    tx, ty = utterances(nnvts, 500, 2)
    net = Net()
    epochs, batch, rate = 8, 32, 1e-2
    opt = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(opt, rate, total_steps=epochs * (len(x) // batch + 1))
    for epoch in range(epochs):
        net.train()
        for i in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(net(x[i]).flatten(0, 1), y[i].flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            schedule.step()
        print("epoch %d: phone error rate %.2f %%" % (epoch, 100 * error_rate(net, tx, ty)), flush=True)
    with open(out + "/speech_float.tflite", "wb") as f:
        f.write(export(net))


if __name__ == "__main__":
    main()
