# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE: each subgraph is a function of tensors, so the loop runs here as it does in the model."""
from fractions import Fraction

from .common import NONE
from .formats import B8, F16, F32, I32, q8, q8s
from .spec import Graph, tag
from .tensor import Array, Random, Tensor, const, ints, rounded, tensor


def placeholder(t, dims=None):
    """An operand of the format and shape of t, without a value."""
    return Tensor(t.form, t.dims, t.values, open_dims=dims)


def subgraph(inputs, build):
    """A referenced subgraph: build(graph, input operands) -> operands of the outputs."""
    g = Graph()
    g.outputs = build(g, [g.input(placeholder(t), valued=False) for t in inputs])
    return g


def result(g, like):
    """An unvalued output operand of the format and shape of a tensor."""
    return g.tensor(placeholder(like), 'SUBGRAPH_OUTPUT', valued=False)


def step(operation, like, *parameters, order=None):
    """A subgraph body of one operation: its inputs are those of the subgraph (or those listed in order), then the parameters."""
    def build(g, inputs):
        chosen = inputs if order is None else [inputs[k] for k in order]
        y = result(g, like)
        g.operation(operation, chosen + [g.input(p) for p in parameters], [y])
        return [y]
    return build


def add_if(out, what, condition, inputs, outputs, then, otherwise, exact=True):
    """then and otherwise: builders of the subgraphs."""
    g = Graph()
    first = g.input(condition)
    models = [g.operand('SUBGRAPH', [], 'SUBGRAPH', [k]) for k in (0, 1)]
    operands = [g.input(t) for t in inputs]
    g.operation('IF', [first, *models, *operands], [g.output(t) for t in outputs])
    out.graph(f'if_{what}', g, 'exact arithmetic, rounded once', exact, [subgraph(inputs, then), subgraph(inputs, otherwise)])


def ifs(out):
    for n, (form, form_y, truth) in enumerate(((F32, F32, 1), (F32, F32, 0), (F16, F16, 0), (q8('0.1', 77), q8('0.2', 130), 1),
                                               (q8s('0.1', -7), q8s('0.15', 20), 0))):
        rnd = Random(f'if {n}')
        a, b = rnd.fill(form, [2, 3]), rnd.fill(form, [2, 3])
        y = rounded(form_y, Array(a.dims, [p + q if truth else p - q for p, q in zip(a.real.values, b.real.values)]))
        add_if(out, f'{tag(form)}_{"then" if truth else "else"}_{n}', Tensor(B8, [1], [truth]), [a, b], [y], step('ADD', y, NONE),
               step('SUB', y, NONE), form.floating)
    a = Random('if maximum').fill(I32, [5])
    b = Random('if minimum').fill(I32, [5])
    y = Tensor(I32, [5], map(max, a.values, b.values))
    add_if(out, 'constant_condition', const(Tensor(B8, [1], [1])), [a, b], [y], step('MAXIMUM', y), step('MINIMUM', y))
    y = Tensor(I32, [5], a.values)
    add_if(out, 'any_byte_but_0_is_true', Tensor(B8, [1], [2]), [a, b], [y],
           step('MAXIMUM', y, order=[0, 0]), step('MAXIMUM', y, order=[1, 1]))
    two = [Tensor(I32, [5], b.values), Tensor(I32, [5], a.values)]

    def swap(g, inputs):
        return [i for like, source in zip(two, reversed(inputs)) for i in copy(g, source, like)]

    def keep(g, inputs):
        return [i for like, source in zip(two, inputs) for i in copy(g, source, like)]
    add_if(out, 'two_outputs', Tensor(B8, [1], [1]), [a, b], two, swap, keep)


def copy(g, source, like):
    y = result(g, like)
    g.operation('MAXIMUM', [source, source], [y])
    return [y]


def add_while(out, what, states, constants, outputs, condition, body, exact=True):
    """states: the values carried from turn to turn; constants: those only read. condition and body: builders of subgraphs."""
    g = Graph()
    models = [g.operand('SUBGRAPH', [], 'SUBGRAPH', [k]) for k in (0, 1)]
    operands = [g.input(t) for t in states + constants]
    g.operation('WHILE', models + operands, [g.output(t) for t in outputs])
    out.graph(f'while_{what}', g, 'the loop run in exact arithmetic, each result rounded', exact,
              [subgraph(states + constants, condition), subgraph(states + constants, body)])


TRUTH = Tensor(B8, [1], [1])


def counted(out):
    """i = 0; while i < n: x = x * factor + x0 .. as ADD of x and a step; i += 1. The count n is an input."""
    for n, (form, turns) in enumerate(((F32, 4), (F16, 3), (F32, 0), (q8('0.1', 77), 5), (q8s('0.1', -7), 6), (I32, 7))):
        rnd = Random(f'while {n}')
        x, delta = rnd.fill(form, [2, 3]), rnd.fill(form, [3])
        values = x
        for _ in range(turns):
            values = rounded(form, Array(x.dims, [v + delta.real.values[k % 3] for k, v in enumerate(values.real.values)]))
        i, limit = Tensor(I32, [1], [0]), Tensor(I32, [1], [turns])

        def body(g, inputs, x=x, i=i):
            y, j = result(g, x), result(g, i)
            g.operation('ADD', [inputs[0], inputs[2], g.input(NONE)], [y])
            g.operation('ADD', [inputs[1], g.input(ints(1)), g.input(NONE)], [j])
            return [y, j]

        # Order of the arguments: x and i are carried, step and limit only read.
        add_while(out, f'{tag(form)}_{turns}_turns', [x, i], [delta, limit],
                  [Tensor(form, x.dims, values.values), Tensor(I32, [1], [turns])], step('LESS', TRUTH, order=[1, 3]), body)


def until(out):
    """Doubling until a bound is passed; Fibonacci numbers, where the second one is state only and no output."""
    x, bound = tensor(F32, [1], [Fraction(3, 8)]), tensor(F32, [1], [Fraction(25)])
    y = x.values[0]
    while y < 25:
        y *= 2
    add_while(out, 'float32_until', [x], [bound], [tensor(F32, [1], [y])], step('LESS', TRUTH, order=[0, 1]),
              step('ADD', x, NONE, order=[0, 0]))
    a, b, limit = Tensor(I32, [1], [0]), Tensor(I32, [1], [1]), Tensor(I32, [1], [50])
    p, q = 0, 1
    while p < 50:
        p, q = q, p + q

    def body(g, inputs):
        (second,), total = copy(g, inputs[1], b), result(g, b)
        g.operation('ADD', [inputs[0], inputs[1], g.input(NONE)], [total])
        return [second, total]
    add_while(out, 'int32_state_only', [a, b], [limit], [Tensor(I32, [1], [p])], step('LESS', TRUTH, order=[0, 2]), body)


def cases(out):
    ifs(out)
    counted(out)
    until(out)
