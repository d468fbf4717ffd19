//===- ErrorFunction.h - Approximations of erf ------------------*- C++ -*-===//
//
// Coefficients for code that computes erf of its own, the lowest first.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_ERRORFUNCTION_H
#define GLOWISH_OPS_ERRORFUNCTION_H

namespace glowish::errorfunction {

/// In float: erf(x) = x P(x^2) / Q(x^2) up to floatEnd, and 1 from there on.
inline constexpr double floatEnd = 3.92;
inline constexpr double floatP[] = {
    1.128379169,     0.1851367611,   0.05424425189,  0.003838693233,
    0.0003767634069, 4.609313848e-6, -1.280030779e-8};
inline constexpr double floatQ[] = {1,
                                    0.4974065887,
                                    0.1138744337,
                                    0.01543020318,
                                    0.001301545422,
                                    6.239995542e-5};

/// In double: erf(x) = x doubleNear(x^2) below 1.
inline constexpr double doubleNear[] = {
    1.12837916709551257,     -0.376126389031837524,    0.112837916709551197,
    -0.0268661706451297335,  0.00522397762542208575,   -0.000854832702185319121,
    0.000120553328993575305, -0.000014925647465105214, 1.64620434075279564e-6,
    -1.63646144176750479e-7, 1.47921457165736379e-8,   -1.21630416995859634e-9,
    8.70378908932125369e-11, -4.22289504603583539e-12};
/// In double: erf(x) = 1 - e^-x^2 doubleFar((x - 2) / (x + 2)) from 1 to
/// doubleEnd, from where on it is 1.
inline constexpr double doubleEnd = 6;
inline constexpr double doubleFar[] = {
    0.255395676310505744,      -0.427185847413958362,
    0.241658194242466182,      -0.0789785810157533027,
    0.00373289240421566094,    0.0069974617414944403,
    -0.000847143227222542493,  -0.000981977052925228667,
    0.0000435544510527107524,  0.000174357702168715243,
    0.0000275402023934783816,  -0.0000274805402758572128,
    -0.0000138839868096302249, 7.79466055861540202e-7,
    2.07873705572566568e-6};

/// In double: erfc(x) = e^-x^2 / (1 + 2 x) complementFar((x - c) / (x + c))
/// with c = complementCenter from complementStart to 28, from where on it is 0.
inline constexpr double complementStart = 0.46;
inline constexpr double complementCenter = 2.5;
inline constexpr double complementFar[] = {
    1.26483818436686148,     -0.122356763082404305,    -0.0990245395736012371,
    0.157629919023219119,    -0.102967056038613129,    0.0327608932686396042,
    0.000931892818547311829, -0.00438207834017018858,  0.000491865793794041296,
    0.000632124344084077837, -0.000088479055587187566, -0.000113522433841198768,
    6.26491148189900533e-6,  0.0000227003011847482802, 2.61331607965775508e-6,
    -4.2214475448319718e-6,  -1.59632134844436809e-6,  5.38431314552298063e-7,
    5.50289372539266753e-7,  1.18759004542104066e-8,   -1.39035409704180103e-7,
    -1.86938213808106852e-8, 2.23778252997522582e-8};

} // namespace glowish::errorfunction

#endif // GLOWISH_OPS_ERRORFUNCTION_H
