#!/usr/bin/env python3
"""Fits the polynomials of lib/Backends/CPU/Kernels/Math.

Prints for each the largest weighted error of the exact polynomial and the
coefficients, from the constant term on. Takes a minute. Needs python3-mpmath.
"""
from mpmath import (asin, atan, cos, erf, erfc, exp, fabs, log, log1p, lu_solve,
                    matrix, mp, mpf, pi, sin, sqrt, tanh)

mp.dps = 60


def chebyshev_nodes(low, high, count):
    return [(low + high) / 2 +
            (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * count))
            for i in range(count)]


def evaluate(coefficients, x):
    return sum(c * x**k for k, c in enumerate(coefficients))


def fit(function, weight, low, high, above, below=0, count=160, rounds=40):
    """P / Q with degrees `above` and `below` and Q(0) = 1 for which the largest
    weight * |P / Q - function| is small: least squares, in which points with
    larger errors count more from round to round (Lawson), and the quotient is
    made linear by the denominator of the round before."""
    xs = chebyshev_nodes(mpf(low), mpf(high), count)
    ys = [function(x) for x in xs]
    weights = [weight(x) for x in xs]
    importance = [mpf(1)] * count
    denominators = [mpf(1)] * count
    best = None
    for _ in range(rounds):
        rows, right = [], []
        for x, y, w, i, d in zip(xs, ys, weights, importance, denominators):
            s = w * sqrt(i) / d
            rows.append([s * x**k for k in range(above + 1)] +
                        [-s * y * x**k for k in range(1, below + 1)])
            right.append(s * y)
        a, b = matrix(rows), matrix(right)
        solution = list(lu_solve(a.T * a, a.T * b))
        p, q = solution[:above + 1], [mpf(1)] + solution[above + 1:]
        denominators = [evaluate(q, x) for x in xs]
        errors = [w * fabs(evaluate(p, x) / d - y)
                  for x, y, w, d in zip(xs, ys, weights, denominators)]
        worst = max(errors)
        if best is None or worst < best[0]:
            best = worst, p, q
        importance = [i * (e / worst + mpf('1e-3'))
                      for i, e in zip(importance, errors)]
        total = sum(importance) / count
        importance = [i / total for i in importance]
    return best


def print_fit(name, *arguments, digits=10, **options):
    worst, p, q = fit(*arguments, **options)
    print(f'{name}: 2^{mp.nstr(log(worst, 2), 4)}')
    print('  P', ', '.join(mp.nstr(c, digits) for c in p))
    if len(q) > 1:
        print('  Q', ', '.join(mp.nstr(c, digits) for c in q))


def print_segments(name, function, weight, step, count, degree):
    """Polynomials of x - n step for the n-th of `count` segments, which is
    around n step: a line for each power."""
    fits = []
    for n in range(count):
        middle = n * step
        fits.append(fit(lambda r: function(fabs(middle + r)),
                        lambda r: weight(fabs(middle + r)),
                        0 if n == 0 else -step / 2, step / 2, degree, count=60))
    print(f'{name}: 2^{mp.nstr(log(max(f[0] for f in fits), 2), 4)}')
    for power in range(degree + 1):
        print(f'  x^{power}', ', '.join(mp.nstr(f[1][power], 9) for f in fits))


def odd(function):
    """f(x) / x as a function of x^2, and the weight for a relative error."""
    return (lambda t: function(sqrt(t)) / sqrt(t),
            lambda t: sqrt(t) / function(sqrt(t)))


tiny = mpf('1e-10')  # instead of 0, where f(x) / x is not defined
half = log(mpf(2)) / 2 * mpf('1.0001')
for name, degree, digits in (('float', 4, 10), ('double', 9, 18)):
    print_fit(f'exp tail, {name}', lambda r: (exp(r) - 1 - r) / r**2,
              lambda r: r**2 / exp(r), -half, half, degree, digits=digits)

print_fit('exp behind r^2 / 2, double',
          lambda r: (exp(r) - 1 - r - r**2 / 2) / r**3,
          lambda r: r**3 / exp(r), -half, half, 9, digits=18)

print_fit('log tail, float', lambda f: (log1p(f) - f + f**2 / 2) / f**3,
          lambda f: f**3 / log1p(f), sqrt(mpf('0.5')) - 1, sqrt(mpf(2)) - 1, 8)

print_fit('tanh, float', *odd(tanh), tiny, mpf('9.02')**2, 5, 4)
print_fit('erf, float', *odd(erf), tiny, mpf('3.92')**2, 6, 5)
# A little more than erf at the end, where it has to come to 1.
print_segments('erf, float, in segments',
               lambda x: erf(x + tiny) / (x + tiny) *
               (1 + (mpf('3e-8') if x > mpf('3.68') else 0)),
               lambda x: (x + tiny) / erf(x + tiny), mpf(65) / 256, 16, 4)
print_fit('erf near, double', *odd(erf), tiny, 1, 13, digits=18)


def get_x(u):
    """x in [1, 6] for u = (x - 2) / (x + 2)."""
    return 2 * (1 + u) / (1 - u)


print_fit('erf far, double', lambda u: erfc(get_x(u)) * exp(get_x(u)**2),
          lambda u: erfc(get_x(u)) / erf(get_x(u)), mpf(-1) / 3, mpf(1) / 2, 14,
          digits=18)



def get_far(u):
    """x in [0.45, 28] for u = (x - 2.5) / (x + 2.5)."""
    return mpf('2.5') * (1 + u) / (1 - u)


print_fit('erfc far, double',
          lambda u: erfc(get_far(u)) * exp(get_far(u)**2) *
          (1 + 2 * get_far(u)),
          lambda u: 1 / (erfc(get_far(u)) * exp(get_far(u)**2) *
                         (1 + 2 * get_far(u))),
          mpf('-2.05') / mpf('2.95'), mpf('25.5') / mpf('30.5'), 22,
          count=90, rounds=25, digits=18)
print_fit('asin behind x, double', lambda t: (asin(sqrt(t)) / sqrt(t) - 1) / t,
          lambda t: sqrt(t) * t / asin(sqrt(t)), mpf('1e-12'),
          mpf('0.25') * mpf('1.0001'), 12, count=100, digits=18)
print_fit('atan behind x, negated, double',
          lambda t: (1 - atan(sqrt(t)) / sqrt(t)) / t,
          lambda t: sqrt(t) * t / atan(sqrt(t)), mpf('1e-12'),
          (mpf(7) / 16)**2 * mpf('1.0001'), 11, count=100, digits=18)

quarter = (pi / 4 * mpf('1.0005'))**2
for name, degree, digits in (('float', 2, 10), ('double', 5, 18)):
    print_fit(f'sin behind x, {name}',
              lambda t: (sin(sqrt(t)) / sqrt(t) - 1) / t,
              lambda t: sqrt(t) * t / sin(sqrt(t)), tiny, quarter, degree,
              digits=digits)
    print_fit(f'cos behind 1 - x^2 / 2, {name}',
              lambda t: (cos(sqrt(t)) - 1 + t / 2) / t**2,
              lambda t: t**2 / cos(sqrt(t)), tiny, quarter, degree,
              digits=digits)
