# SPDX-License-Identifier: Apache-2.0
"""Writes specs: models with values, one a line."""
import base64

from .formats import F16, F32, PerChannel


class Scalar:
    """A constant scalar of the form's scalar type."""

    def __init__(self, form, value):
        self.form, self.value = form, form.code(value)


class Omitted:
    """An optional input that is not given."""

    def __init__(self, form):
        self.form = form


def f32(x):
    return Scalar(F32, x)


def f16(x):
    return Scalar(F16, x)


def text(x):
    """Of plain data (strings, numbers, lists, dictionaries), as JSON without spaces."""
    if isinstance(x, dict):
        return '{' + ','.join(f'"{k}":{text(v)}' for k, v in x.items()) + '}'
    if isinstance(x, (list, tuple)):
        return '[' + ','.join(map(text, x)) + ']'
    if isinstance(x, bool):
        return 'true' if x else 'false'
    return str(x) if isinstance(x, (int, Raw)) else '"' + str(x) + '"'


class Raw(str):
    """Text that is JSON already."""


def numbers(form, values):
    """The values as data of a spec; a boolean of another byte than 0 and 1 has no number, only bytes."""
    if form.high == 1 and any(v > 1 for v in values):
        return {'base64': base64.b64encode(bytes(values)).decode()}
    return Raw('[' + ','.join(form.text(v) for v in values) + ']')


def quantisation(f):
    """The members that say how an operand is quantised."""
    if isinstance(f, PerChannel):
        return {'channel_quant': {'dim': f.axis, 'scales': numbers(F32, f.scales)}}
    return {'scale': Raw(F32.text(f.scale)), 'zero_point': f.zero} if f.quantised else {}


class Graph:
    """A subgraph under construction; methods return operand indices. Only operands of the main one have values."""

    def __init__(self):
        self.operands, self.operations, self.inputs, self.outputs, self.known = [], [], [], [], {}

    def operand(self, type_name, dims, lifetime, data=None, **more):
        o = {'type': type_name, 'dims': list(dims), **more, 'lifetime': lifetime}
        if data is not None:
            o['data'] = data
        self.operands.append(o)
        return len(self.operands) - 1

    def tensor(self, t, lifetime, valued=True):
        """An operand for a Tensor; the same object is the same operand wherever it appears."""
        if id(t) in self.known:
            return self.known[id(t)][0]
        f, more = t.form, quantisation(t.form)
        dims = t.dims if t.open_dims is None else t.open_dims
        if valued and (t.open_dims is not None or (0 in t.dims and lifetime == 'SUBGRAPH_INPUT')):
            more['value_dims'] = list(t.dims)
        i = self.operand(f.name, dims, lifetime, numbers(f, t.values) if valued else None, **more)
        if t.ignored:
            self.operands[i]['ignored'] = True
        self.known[id(t)] = i, t
        return i

    def input(self, x, valued=True):
        """An input of an operation: a tensor (of the model, or constant), a number, a boolean, a scalar or nothing."""
        if isinstance(x, bool):
            return self.operand('BOOL', [], 'CONSTANT_COPY', [int(x)])
        if isinstance(x, int):
            return self.operand('INT32', [], 'CONSTANT_COPY', [x])
        if isinstance(x, Scalar):
            return self.operand(x.form.scalar, [], 'CONSTANT_COPY', numbers(x.form, [x.value]))
        if isinstance(x, Omitted):
            return self.operand(x.form.name, [0], 'NO_VALUE', **quantisation(x.form))
        if x.constant:
            return self.tensor(x, 'CONSTANT_COPY' if len(x.values) * x.form.size <= 128 else 'CONSTANT_REFERENCE')
        i = self.tensor(x, 'SUBGRAPH_INPUT', valued)
        if self.operands[i]['lifetime'] == 'SUBGRAPH_INPUT' and i not in self.inputs:
            self.inputs.append(i)
        return i

    def output(self, t, valued=True):
        i = self.tensor(t, 'SUBGRAPH_OUTPUT', valued)
        self.outputs.append(i)
        return i

    def operation(self, name, inputs, outputs):
        self.operations.append({'type': name, 'inputs': inputs, 'outputs': outputs})

    def json(self):
        return {'operands': self.operands, 'operations': self.operations, 'inputs': self.inputs, 'outputs': self.outputs}


class File:
    """The specs of one file."""

    def __init__(self):
        self.lines, self.names = [], set()

    def graph(self, name, main, source, exact=False, referenced=(), **more):
        if name in self.names:
            raise ValueError(f'a second {name}')
        self.names.add(name)
        spec = {'format': 'nnvts-spec/1', 'name': name, 'source': source, 'min_version': Raw('null'), 'expect_failure': False,
                'relaxed': False, **({'exact': True} if exact else {}), **more, 'main': main.json(),
                'referenced': [r.json() for r in referenced]}
        self.lines.append(text(spec) + '\n')

    def add(self, operation, what, inputs, outputs, exact=False, source='exact arithmetic, rounded once', **more):
        """A spec of one operation. Inputs: tensors, ints, booleans, scalars, Omitted; outputs: tensors.
        exact: every correct driver has these very values; otherwise the rules of the type apply."""
        g = Graph()
        i = [g.input(x) for x in inputs]
        o = [g.output(t) for t in outputs]
        g.operation(operation, i, o)
        self.graph(f'{operation.lower()}_{what}', g, source, exact, **more)


def tag(form):
    """The word for a format in names."""
    return {'TENSOR_FLOAT32': 'float32', 'TENSOR_FLOAT16': 'float16', 'TENSOR_INT32': 'int32', 'TENSOR_BOOL8': 'bool8',
            'TENSOR_QUANT8_ASYMM': 'quant8', 'TENSOR_QUANT8_ASYMM_SIGNED': 'signed', 'TENSOR_QUANT8_SYMM': 'symm8',
            'TENSOR_QUANT16_SYMM': 'symm16', 'TENSOR_QUANT16_ASYMM': 'quant16',
            'TENSOR_QUANT8_SYMM_PER_CHANNEL': 'per_channel'}[form.name]


def number(form, x):
    """A scalar of the floating type that goes with a format: float16 beside float16, float32 elsewhere."""
    return Scalar(F16 if form.name == F16.name else F32, x)
