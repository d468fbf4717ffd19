//===- CompiledGradientsTest.cpp - Gradients as compiled code -------------===//

#include "GradientCases.h"

using namespace glowish;

namespace {
class CompiledGradients : public testing::TestWithParam<GradientCase> {};
} // namespace

TEST_P(CompiledGradients, AreTheInterpreters) { checkCompiled(GetParam()); }

#define GRADIENTS_OF(FAMILY)                                                   \
  INSTANTIATE_TEST_SUITE_P(FAMILY, CompiledGradients,                          \
                           testing::ValuesIn(get##FAMILY##Cases()));
FOR_EACH_GRADIENT_FAMILY(GRADIENTS_OF)
#undef GRADIENTS_OF

/// Narrow kinds: a sum of rounded summands differs more.
TEST(CompiledGradients, OfNarrowKinds) {
  for (const char *text :
       {"Mul(double<7x1x3>, double<5x3>)", "Gelu(double<3x7>)",
        "MatMul(double<3x7>, double<7x5>)", "Softmax(double<3x7>) {axis = 1}",
        "LayerNormalization(double<3x17>, double<17>, double<17>) {axis = 1, "
        "epsilon = 0.01, subtractMean = true}",
        "Convolution(double<1x5x5x3>, double<4x3x3x3>, double<4>) {strides = "
        "[1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1}",
        "MaxPool(double<1x5x5x3>) {kernels = [2, 2], strides = [2, 2], pads = "
        "[0, 0, 0, 0], dilations = [1, 1]}",
        "AvgPool(double<1x5x5x3>) {kernels = [2, 2], strides = [2, 2], pads = "
        "[0, 0, 0, 0], dilations = [1, 1], countIncludePads = true}"}) {
    SCOPED_TRACE(text);
    checkCompiled(GradientCase(text), "float16", 4e-3);
    checkCompiled(GradientCase(text), "bfloat16", 3e-2);
  }
}
