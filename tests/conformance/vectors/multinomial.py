# SPDX-License-Identifier: Apache-2.0
"""RANDOM_MULTINOMIAL where chance has no say: one class of each row is certain (others below e^-100)."""
from .formats import F16, F32, I32
from .spec import tag
from .tensor import Random, Tensor, ints, tensor


def cases(out):
    for n, (form, batch, classes, samples, offset, seeds) in enumerate(((F32, 3, 5, 7, 0, (37, 42)), (F16, 2, 4, 9, -300, (1, 2)),
                                                                        (F32, 1, 9, 16, 1000, (-5, 77)),
                                                                       (F32, 4, 2, 3, -1000, (0, 9)))):
        certain = [Random(f'multinomial {n} {b}').below(classes) for b in range(batch)]
        logits = tensor(form, [batch, classes],
                        [offset - (0 if c == certain[b] else 150 + 3 * c) for b in range(batch) for c in range(classes)])
        out.add('RANDOM_MULTINOMIAL', f'{tag(form)}_certain_{n}', [logits, samples, ints(*seeds)],
                [Tensor(I32, [batch, samples], [c for c in certain for _ in range(samples)])], True)
