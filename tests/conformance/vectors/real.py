# SPDX-License-Identifier: Apache-2.0
"""Real numbers: exact fractions, and elementary functions of them to some 60 digits."""
import decimal
from decimal import Decimal
from fractions import Fraction

decimal.setcontext(decimal.Context(prec=90, Emin=-10000, Emax=10000))
BITS = 200


def near(x):
    """x to the nearest multiple of 2^-200: keeps the numerators of long calculations short."""
    return Fraction(round(Fraction(x) * (1 << BITS)), 1 << BITS)


def decimal_of(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def exp(x):
    return near(Fraction(decimal_of(x).exp()))


def ln(x):
    return near(Fraction(decimal_of(x).ln()))


def sqrt(x):
    """Exact where the root is a decimal fraction of at most 90 digits."""
    return Fraction(decimal_of(x).sqrt())


def power(x, y):
    """x ^ y; exact for integers y, negative x need one."""
    x, y = Fraction(x), Fraction(y)
    if y.denominator == 1:
        return x ** y.numerator
    return Fraction(0) if x == 0 else near(Fraction((decimal_of(x).ln() * decimal_of(y)).exp()))


def logistic(x):
    return near(1 / (1 + Fraction(decimal_of(-x).exp())))


def tanh(x):
    e = Fraction(decimal_of(2 * Fraction(x)).exp())
    return near((e - 1) / (e + 1))


def _arctan_inverse(n):
    total, power_of_n, k = Fraction(0), Fraction(1, n), 0
    while power_of_n > Fraction(1, 1 << 320):
        total += (-1) ** k * power_of_n / (2 * k + 1)
        power_of_n /= n * n
        k += 1
    return total


PI = near(16 * _arctan_inverse(5) - 4 * _arctan_inverse(239))


def sin(x):
    x = Fraction(x)
    x = near(x - 2 * PI * round(x / (2 * PI)))
    total, term, k = Fraction(0), x, 1
    while abs(term) > Fraction(1, 1 << (BITS + 20)):
        total += term
        term = near(-term * x * x / ((k + 1) * (k + 2)) * (1 << 60)) / (1 << 60)
        k += 2
    return near(total)


def half_away(x):
    """The nearest integer, halves away from zero."""
    x = Fraction(x)
    n = (2 * abs(x.numerator) + x.denominator) // (2 * x.denominator)
    return n if x >= 0 else -n
