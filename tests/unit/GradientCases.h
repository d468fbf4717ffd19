//===- GradientCases.h - What gradients are checked on ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_GRADIENTCASES_H
#define GLOWISH_TESTS_UNIT_GRADIENTCASES_H

#include "GradientCheck.h"

namespace glowish {

/// Every element-wise operator with a gradient, with operands that broadcast.
std::vector<GradientCase> getElementWiseCases();

std::vector<GradientCase> getConvolutionCases();
std::vector<GradientCase> getPoolingCases();
std::vector<GradientCase> getProductCases();
std::vector<GradientCase> getNormalizationCases();
std::vector<GradientCase> getReductionCases();
std::vector<GradientCase> getDataMovementCases();
std::vector<GradientCase> getIndexingCases();
std::vector<GradientCase> getResizeCases();
std::vector<GradientCase> getControlCases();

/// All of them.
std::vector<GradientCase> getAllGradientCases();

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_GRADIENTCASES_H
