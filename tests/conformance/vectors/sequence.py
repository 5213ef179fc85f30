# SPDX-License-Identifier: Apache-2.0
"""Recurrent operations over sequences, in one direction and in both."""
from .formats import F16, F32
from .recurrent import FINE, RELU, TANH, LstmCell, RnnCell, matrix
from .spec import Omitted, tag
from .tensor import Array, Random, rounded


def steps_of(x, time_major):
    """A sequence tensor as [batch][time] lists of rows; the tensor itself is time first if time_major."""
    real = x.real.permute([1, 0, 2]) if time_major else x.real
    rows = real.rows()
    time = real.dims[1]
    return [rows[b * time:(b + 1) * time] for b in range(real.dims[0])]


def run(cell, sequences, states, aux=None, backward=False):
    """Each batch through the cell; outputs [batch][time] at their own times, and the last states (lists of h, or of h and c)."""
    outputs, last = [], []
    for b, sequence in enumerate(sequences):
        state, y = states[b], [None] * len(sequence)
        for t in reversed(range(len(sequence))) if backward else range(len(sequence)):
            step = cell.step(sequence[t], *state, *([aux[b][t]] if aux else []))
            state = [step] if isinstance(cell, RnnCell) else list(step)
            y[t] = state[0]
        outputs.append(y)
        last.append(state)
    return outputs, last


def sequence(form, outputs, time_major):
    a = Array([len(outputs), len(outputs[0]), len(outputs[0][0])], [v for b in outputs for t in b for v in t])
    return rounded(form, a.permute([1, 0, 2]) if time_major else a)


def merged(forward, backward):
    return [[p + q for p, q in zip(a, b)] for a, b in zip(forward, backward)]


def data(name, form, batch, time, width, time_major):
    return Random(name).reals(form, [time, batch, width] if time_major else [batch, time, width], -2, 2, FINE)


def states_of(name, form, batch, widths):
    """State tensors and, batch by batch, their rows."""
    tensors = [Random(f'{name} state {n}').reals(form, [batch, w], -1, 1, FINE) for n, w in enumerate(widths)]
    return tensors, [list(rows) for rows in zip(*(t.real.rows() for t in tensors))]


def last_states(form, last):
    return [matrix(form, [b[n] for b in last]) for n in range(len(last[0]))]


def unidirectional(out):
    for n, (form, batch, time, inputs, units, activation, time_major, states) in enumerate((
            (F32, 2, 4, 3, 5, TANH, True, False), (F16, 3, 2, 4, 3, RELU, False, False), (F32, 2, 3, 2, 4, RELU, False, True))):
        name = f'unidirectional rnn {n}'
        cell = RnnCell(name, form, inputs, units, activation)
        x = data(name, form, batch, time, inputs, time_major)
        (h,), rows = states_of(name, form, batch, [units])
        y, last = run(cell, steps_of(x, time_major), rows)
        out.add('UNIDIRECTIONAL_SEQUENCE_RNN', f'{tag(form)}_{"time" if time_major else "batch"}_major_{n}',
                [x, cell.w, cell.r, cell.b, h, activation, int(time_major)],
                [sequence(form, y, time_major)] + (last_states(form, last) if states else []))
    for n, (form, features, clips, time_major, states) in enumerate((
            (F32, (), (0, 0), True, False), (F16, ('cifg', 'peephole'), (0, 0), False, False),
            (F32, ('peephole', 'norm', 'projection', 'bias'), ('0.4', '0.3'), False, True),
            (F32, ('cifg', 'norm'), ('0.5', 0), True, True))):
        name, batch, time, inputs, units = f'unidirectional lstm {n}', 2, 3, 3, 4
        outputs = 5 if 'projection' in features else units
        cell = LstmCell(name, form, inputs, units, outputs, features, clips)
        x = data(name, form, batch, time, inputs, time_major)
        (h, c), rows = states_of(name, form, batch, [outputs, units])
        y, last = run(cell, steps_of(x, time_major), rows)
        out.add('UNIDIRECTIONAL_SEQUENCE_LSTM', '_'.join([tag(form), *features, str(n)]),
                [x, *cell.inputs(), h, c, TANH, *cell.clips, time_major, *cell.listed(cell.norm)],
                [sequence(form, y, time_major)] + (last_states(form, last) if states else []))


# How a second sequence is linked: not at all; parallel: the backward direction reads it; cross: both add it by weights of its own.
FORMS = (('none', False, True, False), ('parallel', True, False, False), ('cross', False, False, True), ('none', True, True, True),
         ('cross', False, True, False))


def both_ways(form, cells, x, rows, link, aux, time_major, merge, states):
    """The outputs of a bidirectional operation; rows: the states of each direction."""
    xs, others = steps_of(x, time_major), steps_of(aux, time_major) if aux else None
    added = others if link == 'cross' else None
    y, last = run(cells[0], xs, rows[0], added)
    z, back = run(cells[1], others if link == 'parallel' else xs, rows[1], added, backward=True)
    outputs = [merged(y, z)] if merge else [y, z]
    return [sequence(form, o, time_major) for o in outputs] + (last_states(form, last) + last_states(form, back) if states else [])


def bidirectional_rnn(out):
    for n, (form, (link, merge, time_major, states)) in enumerate(zip((F32, F16, F32, F32, F16), FORMS)):
        name, batch, time, inputs, units = f'bidirectional rnn {n}', 2, 3, 3, (4, 2 if not states else 4)
        cells = [RnnCell(f'{name} {d}', form, inputs, units[d], TANH, inputs if link == 'cross' else 0) for d in (0, 1)]
        x = data(name, form, batch, time, inputs, time_major)
        aux = data(name + ' aux', form, batch, time, inputs, time_major) if link != 'none' else None
        ((h,), rows), ((k,), back) = (states_of(f'{name} {d}', form, batch, [units[d]]) for d in (0, 1))
        no = Omitted(form)
        out.add('BIDIRECTIONAL_SEQUENCE_RNN', f'{tag(form)}_{link}_{"merged" if merge else "separate"}_{n}',
                [x, cells[0].w, cells[0].r, cells[0].b, h, cells[1].w, cells[1].r, cells[1].b, k,
                 aux or no, cells[0].aux or no, cells[1].aux or no, TANH, time_major, merge],
                both_ways(form, cells, x, [rows, back], link, aux, time_major, merge, states))


def bidirectional_lstm(out):
    features = ((), ('cifg', 'peephole'), ('norm', 'projection', 'bias'), ('peephole',), ('cifg', 'norm'))
    clips = ((0, 0), (0, 0), ('0.4', '0.3'), ('0.5', 0), (0, 0))
    for n, (form, (link, merge, time_major, states)) in enumerate(zip((F32, F16, F32, F32, F32), FORMS)):
        name, batch, time, inputs, units = f'bidirectional lstm {n}', 2, 3, 3, 4
        outputs = 5 if 'projection' in features[n] else units
        cells = [LstmCell(f'{name} {d}', form, inputs, units, outputs, features[n], clips[n],
                          aux=inputs if link == 'cross' else 0) for d in (0, 1)]
        x = data(name, form, batch, time, inputs, time_major)
        aux = data(name + ' aux', form, batch, time, inputs, time_major) if link != 'none' else None
        (state, rows), (back_state, back) = (states_of(f'{name} {d}', form, batch, [outputs, units]) for d in (0, 1))
        out.add('BIDIRECTIONAL_SEQUENCE_LSTM', '_'.join([tag(form), link, 'merged' if merge else 'separate', *features[n], str(n)]),
                [x, *cells[0].inputs(), *cells[1].inputs(), *state, *back_state, aux or Omitted(form),
                 *cells[0].listed(cells[0].aux), *cells[1].listed(cells[1].aux), TANH, *cells[0].clips, merge, time_major,
                 *cells[0].listed(cells[0].norm), *cells[1].listed(cells[1].norm)],
                both_ways(form, cells, x, [rows, back], link, aux, time_major, merge, states))


def cases(out):
    unidirectional(out)
    bidirectional_rnn(out)
    bidirectional_lstm(out)
