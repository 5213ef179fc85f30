# SPDX-License-Identifier: Apache-2.0
"""Writes .tflite files: as much of the FlatBuffers form and of TensorFlow Lite's schema as the trained models need."""
import struct

FLOAT32, INT32, UINT8, INT8 = 0, 2, 3, 9
NONE, RELU6 = 0, 3
SAME, VALID = 0, 1
CODES = {"ADD": 0, "AVERAGE_POOL_2D": 1, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 9, "RESHAPE": 22,
         "SOFTMAX": 25, "UNIDIRECTIONAL_SEQUENCE_LSTM": 44}
OPTIONS = {"ADD": 11, "AVERAGE_POOL_2D": 5, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 2, "FULLY_CONNECTED": 8, "RESHAPE": 17,
           "SOFTMAX": 9, "UNIDIRECTIONAL_SEQUENCE_LSTM": 71}


class Table:
    """Fields by slot: ("i", value) and other formats of struct for numbers, or an object that lies elsewhere."""

    def __init__(self, fields):
        self.fields = {k: v for k, v in fields.items() if v is not None}


class Vector:
    """Numbers of one format, or objects."""

    def __init__(self, items, fmt=None, align=4):
        self.items, self.fmt, self.align = items, fmt, align


class Writer:
    """Objects are written one behind the other; offsets are filled in once their targets stand."""

    def __init__(self):
        self.out = bytearray()

    def pad(self, align, ahead=0):
        while (len(self.out) + ahead) % align:
            self.out.append(0)

    def put_offset(self, at, target):
        struct.pack_into("<I", self.out, at, target - at)

    def write(self, obj):
        if isinstance(obj, Table):
            return self.table(obj)
        if isinstance(obj, Vector):
            return self.vector(obj)
        if isinstance(obj, str):
            obj = obj.encode()
            self.pad(4)
            at = len(self.out)
            self.out += struct.pack("<I", len(obj)) + obj + b"\0"
            return at
        raise TypeError(obj)

    def table(self, t):
        slots = max(t.fields, default=-1) + 1
        offsets, size = {}, 4
        for k in sorted(t.fields, key=lambda k: -width(t.fields[k])):
            w = width(t.fields[k])
            size = (size + w - 1) // w * w
            offsets[k] = size
            size += w
        self.pad(4, 4 + 2 * slots)  # so that the table is aligned behind its vtable
        vtable = len(self.out)
        self.out += struct.pack("<HH", 4 + 2 * slots, size)
        for k in range(slots):
            self.out += struct.pack("<H", offsets.get(k, 0))
        at = len(self.out)
        self.out += struct.pack("<i", at - vtable) + bytes(size - 4)
        for k, v in t.fields.items():
            if isinstance(v, tuple):
                struct.pack_into("<" + v[0], self.out, at + offsets[k], v[1])
        for k, v in t.fields.items():
            if not isinstance(v, tuple):
                self.put_offset(at + offsets[k], self.write(v))
        return at

    def vector(self, v):
        self.pad(v.align, 4)
        self.pad(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(v.items))
        if v.fmt == "bytes":
            self.out += v.items
        elif v.fmt:
            self.out += struct.pack("<%d%s" % (len(v.items), v.fmt), *v.items)
        else:
            first = len(self.out)
            self.out += bytes(4 * len(v.items))
            for i, item in enumerate(v.items):
                self.put_offset(first + 4 * i, self.write(item))
        return at


def width(value):
    return struct.calcsize(value[0]) if isinstance(value, tuple) else 4


class Model:
    """A graph under construction: tensors and operators are named by their index."""

    def __init__(self, description):
        self.description = description
        self.tensors, self.operators, self.codes = [], [], []
        self.buffers = [Table({})]

    def tensor(self, name, shape, kind, scale=None, zero_point=0, data=None, axis=None, variable=False):
        """scale: a number, or a list of them along axis; data: bytes of a constant."""
        quantisation = None
        if scale is not None:
            scales = list(scale) if axis is not None else [scale]
            quantisation = Table({2: Vector(scales, "f"), 3: Vector([zero_point] * len(scales), "q", 8),
                                  6: ("i", axis or 0)})
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(Table({0: Vector(data, "bytes", 16)}))
        self.tensors.append(Table({0: Vector(list(shape), "i"), 1: ("b", kind), 2: ("I", buffer), 3: name,
                                   4: quantisation, 5: ("?", True) if variable else None}))
        return len(self.tensors) - 1

    def operator(self, name, inputs, outputs, options):
        if name not in self.codes:
            self.codes.append(name)
        self.operators.append(Table({0: ("I", self.codes.index(name)), 1: Vector(inputs, "i"), 2: Vector(outputs, "i"),
                                     3: ("B", OPTIONS[name]), 4: Table(options)}))

    def finish(self, inputs, outputs):
        graph = Table({0: Vector(self.tensors), 1: Vector(inputs, "i"), 2: Vector(outputs, "i"),
                       3: Vector(self.operators), 4: "main"})
        codes = Vector([Table({0: ("b", CODES[c]), 2: ("i", 1), 3: ("i", CODES[c])}) for c in self.codes])
        root = Table({0: ("I", 3), 1: codes, 2: Vector([graph]), 3: self.description, 4: Vector(self.buffers)})
        w = Writer()
        w.out += b"\0\0\0\0TFL3"
        at = w.write(root)
        struct.pack_into("<I", w.out, 0, at)
        return bytes(w.out)
