//===- GradientCases.h - Cases for gradient checks --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_GRADIENTCASES_H
#define GLOWISH_TESTS_UNIT_GRADIENTCASES_H

#include "GradientCheck.h"

namespace glowish {

/// Every element-wise operator with a gradient, with operands that broadcast.
std::vector<GradientCase> getElementWiseCases();

std::vector<GradientCase> getConvolutionCases();
std::vector<GradientCase> getPoolingCases();
std::vector<GradientCase> getMatMulCases();
std::vector<GradientCase> getNormalizationCases();
std::vector<GradientCase> getReductionCases();
std::vector<GradientCase> getDataMovementCases();
std::vector<GradientCase> getIndexingCases();
std::vector<GradientCase> getResizeCases();
std::vector<GradientCase> getControlCases();

/// `MACRO(ElementWise)` and so on: what each of the functions above is for.
#define FOR_EACH_GRADIENT_FAMILY(MACRO)                                        \
  MACRO(ElementWise)                                                           \
  MACRO(Convolution)                                                           \
  MACRO(Pooling)                                                               \
  MACRO(MatMul)                                                                \
  MACRO(Normalization)                                                         \
  MACRO(Reduction)                                                             \
  MACRO(DataMovement)                                                          \
  MACRO(Indexing)                                                              \
  MACRO(Resize)                                                                \
  MACRO(Control)

/// All of them.
std::vector<GradientCase> getAllGradientCases();

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_GRADIENTCASES_H
