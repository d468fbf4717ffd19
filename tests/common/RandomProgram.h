//===- RandomProgram.h - Programs that passes are tried on ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_RANDOMPROGRAM_H
#define GLOWISH_TESTS_COMMON_RANDOMPROGRAM_H

#include "glowish/IR/IR.h"

namespace glowish::test {

/// A program of up to 20 instructions on small floats, with overlapping views,
/// partial and repeated writes, a state that is read and written, and loops in
/// place; the same for the same \p seed. Lifetimes are marked.
std::unique_ptr<IRFunction> makeRandomProgram(uint64_t seed);

} // namespace glowish::test

#endif // GLOWISH_TESTS_COMMON_RANDOMPROGRAM_H
