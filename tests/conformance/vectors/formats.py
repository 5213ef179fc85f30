# SPDX-License-Identifier: Apache-2.0
"""The operand types: how a real number is rounded into one, and how its value is written down."""
import struct
from fractions import Fraction

from .real import half_away


def round_binary(x, bits, emin, emax):
    """x to the nearest number of a binary format (halves to even), subnormals included; float infinity beyond its range."""
    x = Fraction(x)
    if x == 0:
        return x
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** e:
        e -= 1
    unit = Fraction(2) ** (max(e, emin) - bits + 1)
    y = round(x / unit) * unit
    if abs(y) >= Fraction(2) ** (emax + 1):
        return float('inf') if x > 0 else float('-inf')
    return y


def shortest(x):
    """The shortest decimal that reads as the float32 x."""
    for digits in range(1, 10):
        text = f'{float(x):.{digits}g}'
        if round_binary(Fraction(text), 24, -126, 127) == x and struct.unpack('<f', struct.pack('<f', float(text)))[0] == x:
            break
    return text


class Format:
    """A data type with its scale and zero point. Values are stored as codes (quantised, integers, booleans) or as fractions."""

    def __init__(self, name, size, low=None, high=None, scale=0, zero=0, scalar=None):
        self.name, self.size, self.low, self.high, self.zero, self.scalar = name, size, low, high, zero, scalar
        self.scale = Fraction(0) if scale == 0 else round_binary(scale, 24, -126, 127)
        self.quantised = scale != 0
        self.floating = low is None

    def code(self, x):
        """The stored form of the real number x: rounded once."""
        if self.name.endswith('FLOAT32'):
            return round_binary(x, 24, -126, 127)
        if self.name.endswith('FLOAT16'):
            return round_binary(x, 11, -14, 15)
        if self.quantised:
            return min(self.high, max(self.low, half_away(Fraction(x) / self.scale) + self.zero))
        x = Fraction(x)
        if x.denominator != 1 or not self.low <= x <= self.high:
            raise ValueError(f'{x} is no {self.name}')
        return int(x)

    def real(self, code):
        return (code - self.zero) * self.scale if self.quantised else Fraction(code)

    def text(self, code):
        if isinstance(code, float):
            return '"NaN"' if code != code else '"Infinity"' if code > 0 else '"-Infinity"'
        if not self.floating:
            return str(code)
        if code.denominator == 1 and abs(code) < 1 << 24:
            return str(code.numerator)
        return shortest(code) if self.size == 4 else repr(float(code))

    def pack(self, code):
        """The bytes of a value, little-endian."""
        if self.floating:
            return struct.pack('<f' if self.size == 4 else '<e', float(code))
        return (code % (1 << 8 * self.size)).to_bytes(self.size, 'little')


F32 = Format('TENSOR_FLOAT32', 4, scalar='FLOAT32')
F16 = Format('TENSOR_FLOAT16', 2, scalar='FLOAT16')
I32 = Format('TENSOR_INT32', 4, -(1 << 31), (1 << 31) - 1, scalar='INT32')
B8 = Format('TENSOR_BOOL8', 1, 0, 1, scalar='BOOL')


def q8(scale, zero):
    return Format('TENSOR_QUANT8_ASYMM', 1, 0, 255, scale, zero)


def q8s(scale, zero):
    return Format('TENSOR_QUANT8_ASYMM_SIGNED', 1, -128, 127, scale, zero)


def q8sym(scale):
    return Format('TENSOR_QUANT8_SYMM', 1, -128, 127, scale)


def q16s(scale):
    return Format('TENSOR_QUANT16_SYMM', 2, -32768, 32767, scale)


def q16a(scale, zero):
    return Format('TENSOR_QUANT16_ASYMM', 2, 0, 65535, scale, zero)


def bias(scale):
    """TENSOR_INT32 with the scale of a sum of products; 0: that of each channel."""
    f = Format('TENSOR_INT32', 4, -(1 << 31), (1 << 31) - 1, scale)
    return f


class PerChannel(Format):
    """TENSOR_QUANT8_SYMM_PER_CHANNEL: a scale for each index of one axis."""

    def __init__(self, axis, scales):
        super().__init__('TENSOR_QUANT8_SYMM_PER_CHANNEL', 1, -128, 127)
        self.axis, self.scales = axis, [round_binary(s, 24, -126, 127) for s in scales]
