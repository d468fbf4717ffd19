//===- PatchesTest.cpp - Layers in parts ----------------------------------===//

#include "glowish/Optimizer/Patches.h"
#include "Messages.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Support/Random.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

Tensor makeValues(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, random.uniform(-1, 1));
  return tensor;
}

llvm::Error fill(Session &session) {
  for (const Buffer *buffer : session.getPlaceholders())
    if (buffer->isInput())
      if (llvm::Error error =
              session.setInput(buffer, makeValues(buffer->getType(), 1)))
        return error;
  return llvm::Error::success();
}

/// A network of random layers on images.
class RandomNetwork {
public:
  explicit RandomNetwork(uint64_t seed) : random(seed), module("m") {
    function = module.createFunction("main");
    int64_t height = 7 + random.below(27), width = 1 + random.below(9);
    last = isTransposed()
               ? transpose(input({1, 3, height, width}))
               : input({1 + int64_t(random.below(2)), height, width, 4});
    for (unsigned i = 0; i < 8; ++i)
      if (std::optional<NodeValue> next = addLayer()) {
        earlier.push_back(last);
        last = *next;
      }
    Placeholder *output =
        module.createPlaceholder("y", last.getType(), false, true);
    function->create<SaveNode>("save", last, NodeValue(output));
  }

  Module &getModule() { return module; }
  Function &getFunction() { return *function; }

private:
  bool isTransposed() { return random.below(3) == 0; }
  NodeValue input(Dims shape) {
    return module.createPlaceholder("x", Type(ElemKind::Float, shape), true,
                                    false);
  }
  NodeValue constant(Dims shape) {
    return module.createConstant(
        "c", makeValues(Type(ElemKind::Float, shape), random.below(1000)));
  }
  NodeValue transpose(NodeValue value) {
    return make<TransposeNode>(value, std::vector<int64_t>{0, 2, 3, 1});
  }
  template <typename T, typename... Args> NodeValue make(Args &&...args) {
    return function->create<T>("n", std::forward<Args>(args)...)->getResult();
  }
  int64_t pick(std::initializer_list<int64_t> values) {
    return values.begin()[random.below(values.size())];
  }

  /// Null where the layer does not fit the image.
  std::optional<NodeValue> addLayer() {
    int64_t kernel = pick({1, 2, 3, 5}), dilation = pick({1, 1, 2});
    int64_t reach = dilation * (kernel - 1);
    std::vector<int64_t> strides = {pick({1, 1, 2, 3}), 1}, pads;
    for (unsigned i = 0; i < 4; ++i)
      pads.push_back(random.below(kernel));
    std::vector<int64_t> dilations = {dilation, dilation};
    std::vector<int64_t> kernels = {kernel, kernel};
    int64_t channels = last.getShape()[3];
    bool fits = last.getShape()[1] + pads[0] + pads[2] > reach &&
                last.getShape()[2] + pads[1] + pads[3] > reach;
    switch (random.below(7)) {
    case 0:
    case 1: {
      int64_t group = random.below(2) ? channels : 1;
      int64_t outChannels = group * pick({1, 2});
      if (!fits)
        return std::nullopt;
      return make<ConvolutionNode>(
          last, constant({outChannels, kernel, kernel, channels / group}),
          constant({outChannels}), strides, pads, dilations, group);
    }
    case 2:
      if (!fits)
        return std::nullopt;
      return make<MaxPoolNode>(last, kernels, strides, pads, dilations);
    case 3:
      if (!fits)
        return std::nullopt;
      return make<AvgPoolNode>(last, kernels, strides, pads, dilations,
                               random.below(2) == 0);
    case 4:
      return make<MulNode>(last, constant({channels}));
    case 5:
      return make<ConcatNode>(
          llvm::ArrayRef<NodeValue>{last, make<SigmoidNode>(last)}, 3);
    default:
      for (NodeValue other : llvm::reverse(earlier))
        if (other.getType() == last.getType())
          return make<AddNode>(other, last);
      return make<TanhNode>(last);
    }
  }

  Random random;
  Module module;
  Function *function;
  NodeValue last;
  std::vector<NodeValue> earlier;
};

TEST(Patches, ComputeTheSameBits) {
  unsigned tried = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    RandomNetwork network(seed);
    Module &module = network.getModule();
    PassCheck check(fill);
    ASSERT_EQ(getMessage(check.start(module)), "") << seed;
    Node &inside = network.getFunction().getNodes().front();
    std::vector<PatchPlan> plans =
        findPatchPlans(network.getFunction(), inside);
    for (size_t i = 0; i < plans.size(); i += 1 + plans.size() / 5) {
      EXPECT_GT(plans[i].work, 0.0);
      RandomNetwork again(seed);
      computeInPatches(again.getFunction(), plans[i]);
      ASSERT_EQ(getMessage(verify(again.getModule())), "") << seed;
      ASSERT_EQ(getMessage(check.check("patches", Exactness::Exact,
                                       again.getModule())),
                "")
          << "seed " << seed << ", " << plans[i].count << " patches";
      ++tried;
    }
  }
  EXPECT_GT(tried, 300u) << "most networks have plans";
}

std::unique_ptr<Module> parse(const std::string &nodes,
                              llvm::StringRef outShape) {
  std::string weights;
  for (unsigned i = 0; i < 9 * 16; ++i)
    weights += (i ? ", " : "") + std::to_string(int(i % 7) - 3);
  return llvm::cantFail(parseModule(
      "module \"m\"\nplaceholder %x : float<1x32x8x4> input \"x\"\n"
      "placeholder %y : float<" +
          outShape.str() + "> output \"y\"\nconstant %w : float<4x3x3x4> = [" +
          weights + "]\nfunction \"main\" {\n" + nodes + "}\n",
      "test.graph", nullptr));
}

/// `%NAME = Convolution(%INPUT, ...)`, 3x3, with padding.
std::string conv(const char *name, const char *input) {
  return llvm::formatv("  %{0} = Convolution(%{1}, %w, none) {{strides = [1, "
                       "1], pads = [1, 1, 1, 1], dilations = [1, 1], group = "
                       "1} : float<1x32x8x4>\n",
                       name, input);
}

std::string makeChain() {
  return conv("a", "x") + conv("b", "a") + conv("c", "b") + "  Save(%c, %y)\n";
}

TEST(Patches, WorkCountsTheRowsThatTwoPatchesCompute) {
  auto module = parse(makeChain(), "1x32x8x4");
  Function &function = *module->getFunctions().front();
  std::vector<PatchPlan> plans =
      findPatchPlans(function, function.getNodes().front());
  ASSERT_FALSE(plans.empty());
  auto find = [&](unsigned end, unsigned count) {
    for (const PatchPlan &plan : plans)
      if (!plan.begin && plan.end == end && plan.count == count)
        return plan.work;
    ADD_FAILURE() << "no plan until " << end << " in " << count;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(find(0, 2), 1.0);
  // a has one more row at either side of the border.
  EXPECT_DOUBLE_EQ(find(1, 2), (32 + 2 + 32) / 64.0);
  EXPECT_DOUBLE_EQ(find(2, 4), (32 + 3 * 4 + 32 + 3 * 2 + 32) / 96.0);
  EXPECT_TRUE(llvm::is_sorted(plans, [](auto &a, auto &b) {
    return a.work < b.work;
  })) << "least work first";
}

TEST(Patches, WhatNeedsAllRowsIsNotInThem) {
  auto module = parse(conv("a", "x") +
                          "  %s = Softmax(%a) {axis = 1} : float<1x32x8x4>\n" +
                          conv("b", "s") + "  Save(%b, %y)\n",
                      "1x32x8x4");
  Function &function = *module->getFunctions().front();
  for (const PatchPlan &plan :
       findPatchPlans(function, function.getNodes().front()))
    EXPECT_EQ(plan.end, 0u);
  Node &last = *std::prev(function.getNodes().end(), 2);
  for (const PatchPlan &plan : findPatchPlans(function, last))
    EXPECT_EQ(plan.begin, 1u);
}

/// The arena of the chain with a limit, or the error.
std::string compileWithin(uint64_t limit, Backend &backend) {
  CompilationOptions options;
  options.maxActivationBytes = limit;
  Compilation compilation(backend, options);
  auto program = compilation.compile(parse(makeChain(), "1x32x8x4"));
  if (!program)
    return llvm::toString(program.takeError());
  return std::to_string(program->getPlan().activationSize);
}

TEST(Patches, AreAsFewAsTheLimitAllows) {
  auto interpreter = createInterpreter();
  constexpr uint64_t image = 32 * 8 * 4 * 4;
  EXPECT_EQ(compileWithin(1 << 30, *interpreter), std::to_string(2 * image));
  EXPECT_EQ(compileWithin(2 * image, *interpreter), std::to_string(2 * image));
  for (uint64_t limit : {2 * image - 1, image, image * 2 / 3}) {
    std::string size = compileWithin(limit, *interpreter);
    EXPECT_LE(std::stoull(size), limit) << size;
  }
  EXPECT_THAT(compileWithin(100, *interpreter),
              HasSubstr("bytes, also in patches; accepted: "
                        "«max-activation-bytes="));
}

TEST(Patches, RunOnTheCPU) {
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  constexpr uint64_t limit = 32 * 8 * 4 * 4;
  PassCheck check(fill);
  CompilationOptions options;
  options.maxActivationBytes = limit;
  options.passCheck = &check;
  Compilation compilation(*backend, options);
  auto program = compilation.compile(parse(makeChain(), "1x32x8x4"));
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_LE(program->getPlan().activationSize, limit);
}

} // namespace
