//===- ConvTransposeTest.cpp - Transposed convolutions by definition ------===//
//
// The lowered graph, in the interpreter, against the definition: every input
// element, times the filter, is added to a window of the result.
//
//===----------------------------------------------------------------------===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

struct Case {
  int64_t batch, height, width, channels, group, outPerGroup;
  std::vector<int64_t> kernels, strides, pads, outputPads, dilations;
  bool hasBias;
};

Tensor makeRandom(DimsRef shape, uint64_t seed) {
  Random random(seed);
  Tensor tensor(Type(ElemKind::Float, shape));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, random.uniform(-1, 1));
  return tensor;
}

/// Adds to \p sums [N, OH, OW, OC].
void accumulate(const Case &c, const Tensor &x, const Tensor &w, DimsRef out,
                std::vector<double> &sums) {
  int64_t perGroup = c.channels / c.group;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t y = 0; y < c.height; ++y)
      for (int64_t u = 0; u < c.width; ++u)
        for (int64_t k = 0; k < c.channels; ++k)
          for (int64_t kh = 0; kh < c.kernels[0]; ++kh)
            for (int64_t kw = 0; kw < c.kernels[1]; ++kw) {
              int64_t oy = y * c.strides[0] + kh * c.dilations[0] - c.pads[0];
              int64_t ox = u * c.strides[1] + kw * c.dilations[1] - c.pads[1];
              if (oy < 0 || oy >= out[1] || ox < 0 || ox >= out[2])
                continue;
              double value = x.getAsDouble(
                  ((n * c.height + y) * c.width + u) * c.channels + k);
              for (int64_t m = 0; m < c.outPerGroup; ++m)
                sums[((n * out[1] + oy) * out[2] + ox) * out[3] +
                     k / perGroup * c.outPerGroup + m] +=
                    value * w.getAsDouble(
                                ((k * c.kernels[0] + kh) * c.kernels[1] + kw) *
                                    c.outPerGroup +
                                m);
            }
}

void check(const Case &c) {
  Tensor x = makeRandom({c.batch, c.height, c.width, c.channels}, 1);
  Tensor w =
      makeRandom({c.channels, c.kernels[0], c.kernels[1], c.outPerGroup}, 2);
  Tensor bias = makeRandom({c.group * c.outPerGroup}, 3);
  auto module = std::make_unique<Module>("test");
  Function *f = module->createFunction("main");
  NodeValue input(module->createPlaceholder("x", x.getType(), true, false));
  NodeValue filter(module->createConstant("w", w.clone()));
  NodeValue biasValue;
  if (c.hasBias)
    biasValue = NodeValue(module->createConstant("b", bias.clone()));
  NodeValue result =
      f->create<ConvTransposeNode>("t", input, filter, biasValue, c.strides,
                                   c.pads, c.outputPads, c.dilations, c.group)
          ->getResult();
  Dims out(result.getShape());
  f->create<SaveNode>(
      "save", result,
      NodeValue(module->createPlaceholder("y", result.getType(), false, true)));
  auto backend = createInterpreter();
  CompilationOptions options;
  options.verifyEach = true;
  Compilation compilation(*backend, options);
  auto program = compilation.compile(std::move(module));
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  auto session = llvm::cantFail(Session::create(*program));
  llvm::cantFail(
      session->setInput(llvm::cantFail(session->findPlaceholder("x")), x));
  ASSERT_EQ(llvm::toString(session->run()), "");
  Tensor y = session->getTensor(llvm::cantFail(session->findPlaceholder("y")));

  std::vector<double> expected(y.getNumElements(), 0);
  for (size_t i = 0; i < expected.size() && c.hasBias; ++i)
    expected[i] = bias.getAsDouble(int64_t(i) % out[3]);
  accumulate(c, x, w, out, expected);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(y.getAsDouble(int64_t(i)), expected[i], 1e-4) << "at " << i;
}

} // namespace

TEST(ConvTranspose, FollowsTheDefinition) {
  const Case cases[] = {
      {1, 3, 3, 1, 1, 1, {3, 3}, {1, 1}, {0, 0, 0, 0}, {0, 0}, {1, 1}, false},
      {2, 3, 7, 5, 1, 3, {2, 2}, {2, 2}, {0, 0, 0, 0}, {0, 0}, {1, 1}, true},
      {1, 7, 3, 4, 2, 3, {3, 5}, {2, 3}, {1, 2, 0, 1}, {1, 0}, {1, 1}, true},
      {1, 5, 1, 3, 3, 1, {4, 1}, {3, 2}, {1, 0, 2, 0}, {0, 1}, {2, 1}, false},
      {1, 3, 5, 2, 1, 7, {1, 2}, {3, 4}, {0, 0, 0, 0}, {2, 3}, {1, 1}, true},
      {1, 5, 5, 3, 1, 2, {3, 3}, {2, 2}, {4, 0, 0, 4}, {0, 0}, {3, 2}, true},
      {1, 1, 1, 17, 1, 33, {3, 3}, {1, 1}, {1, 1, 1, 1}, {0, 0}, {1, 1}, true},
      // Strides that step over positions, which are parts between others.
      {1, 2, 3, 2, 1, 2, {3, 2}, {7, 9}, {5, 6, 0, 3}, {0, 0}, {3, 4}, true},
      {2, 3, 1, 2, 2, 1, {2, 1}, {5, 8}, {2, 0, 4, 0}, {3, 7}, {4, 1}, false},
      {1, 1, 2, 1, 1, 1, {1, 2}, {6, 5}, {0, 3, 0, 3}, {4, 0}, {1, 2}, true},
      // No position but those between them is left.
      {1, 1, 1, 1, 1, 1, {1, 2}, {1, 9}, {0, 2, 0, 2}, {0, 0}, {1, 6}, true},
  };
  unsigned number = 0;
  for (const Case &c : cases) {
    SCOPED_TRACE("case " + std::to_string(number++));
    check(c);
  }
}
