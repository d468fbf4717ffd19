//===- ByteFunctionsTest.cpp - Tables of functions of bytes ---------------===//
//
// Lookups against the interpreter for every level of this machine, and what
// becomes a lookup against the steps that it stands for.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "ScalarOperands.h"
#include "glowish/Graph/NodeBuilder.h"

using namespace glowish;

namespace {

/// Bytes of all values, from floats.
NodeValue makeBytes(NodeBuilder &b, Module &m, ElemKind kind, DimsRef shape) {
  NodeValue x = input(m, ElemKind::Float, shape);
  return b.cast(b.mul(x, kind == ElemKind::Int8 ? 140 : 270), kind);
}

NodeValue dequantize(NodeBuilder &b, NodeValue x, double zero, double scale) {
  return b.mul(b.sub(b.cast(x, ElemKind::Float), zero), scale);
}
NodeValue quantize(NodeBuilder &b, NodeValue x, double zero, double scale,
                   ElemKind kind) {
  return b.cast(b.add(b.make<RoundNode>(b.div(x, scale)), zero), kind);
}

/// x * sigmoid(x) as quantizers write it: each operator for itself.
NodeValue makeActivation(NodeBuilder &b, NodeValue q, ElemKind result) {
  NodeValue x = dequantize(b, q, 100, 0.04);
  NodeValue s =
      quantize(b, b.make<SigmoidNode>(x), 0, 1 / 255.0, ElemKind::UInt8);
  NodeValue y = b.mul(x, dequantize(b, s, 0, 1 / 255.0));
  return quantize(b, y, result == ElemKind::Int8 ? -90 : 38, 0.03, result);
}

/// Nodes of \p kind in the lowered graph of \p build.
unsigned countNodes(const BuildFn &build, NodeKind kind) {
  auto interpreter = createInterpreter();
  Compilation compilation(*interpreter, CompilationOptions());
  LoweredGraph graph = llvm::cantFail(compilation.lower(
      llvm::cantFail(compilation.optimize(ModelGraph(buildModule(build))))));
  return unsigned(
      llvm::count_if(graph.getFunction().getNodes(),
                     [&](const Node &node) { return node.getKind() == kind; }));
}

/// Compares \p build on all levels, bit for bit, with what the interpreter
/// computes of it without any passes.
void compareWithSteps(const std::string &name, const BuildFn &build) {
  compare(name, build, 0);
  auto interpreter = createInterpreter();
  CompilationOptions options;
  options.graphPasses.limit = 0;
  PlannedProgram program = llvm::cantFail(
      Compilation(*interpreter, options).compile(buildModule(build)));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *placeholder : session->getPlaceholders())
    if (placeholder->isInput())
      llvm::cantFail(session->setInput(placeholder,
                                       makeRandom(placeholder->getType(), 7)));
  llvm::cantFail(session->run());
  const Tensor &steps =
      session->getTensor(llvm::cantFail(session->findPlaceholder("y")));
  Tensor table = llvm::cantFail(run(*interpreter, build));
  for (int64_t i = 0; i < steps.getNumElements(); ++i)
    ASSERT_EQ(table.getAsInt(i), steps.getAsInt(i)) << name << " at " << i;
}

constexpr ElemKind byteKinds[] = {ElemKind::Int8, ElemKind::UInt8};

} // namespace

TEST(ByteFunctions, Lookups) {
  for (ElemKind kind : byteKinds)
    for (int64_t size : {0, 1, 3, 7, 16, 17, 31, 33, 63, 65, 200, 1031})
      compare(
          "lookup of " + std::to_string(size),
          [&](Function &f, Module &m) {
            NodeBuilder b(f, "node");
            NodeValue x = makeBytes(b, m, kind, {size});
            return b.make<LookupNode>(x, makeTable(kind));
          },
          0);
}

TEST(ByteFunctions, StridedLookups) {
  for (Dims shape : {Dims{17, 7}, Dims{3, 33}, Dims{65, 66}})
    compare(
        "transposed",
        [&](Function &f, Module &m) {
          NodeBuilder b(f, "node");
          NodeValue x = makeBytes(b, m, ElemKind::UInt8, shape);
          NodeValue t = b.make<TransposeNode>(x, std::vector<int64_t>{1, 0});
          return b.make<LookupNode>(t, makeTable(ElemKind::UInt8));
        },
        0);
}

TEST(ByteFunctions, ActivationsBecomeOneTable) {
  for (ElemKind kind : byteKinds)
    for (ElemKind result : byteKinds) {
      auto build = [&](Function &f, Module &m) {
        NodeBuilder b(f, "node");
        return makeActivation(b, makeBytes(b, m, kind, {2000}), result);
      };
      EXPECT_EQ(countNodes(build, NodeKind::Lookup), 1u);
      EXPECT_EQ(countNodes(build, NodeKind::Sigmoid), 0u);
      compareWithSteps("activation", build);
    }
}

/// An inner value that others read is a table of its own, not a step.
TEST(ByteFunctions, InnerReaders) {
  auto build = [](Function &f, Module &m) {
    NodeBuilder b(f, "node");
    NodeValue x = makeBytes(b, m, ElemKind::UInt8, {3, 33});
    NodeValue inner = makeActivation(b, x, ElemKind::UInt8);
    NodeValue outer = makeActivation(b, inner, ElemKind::UInt8);
    NodeValue turned = b.make<TransposeNode>(inner, std::vector<int64_t>{1, 0});
    NodeValue y = b.make<TransposeNode>(outer, std::vector<int64_t>{1, 0});
    return b.make<ConcatNode>(std::vector<NodeValue>{turned, y}, int64_t(0));
  };
  EXPECT_EQ(countNodes(build, NodeKind::Lookup), 2u);
  compareWithSteps("inner readers", build);
}

TEST(ByteFunctions, Epilogues) {
  for (int64_t channels : {1, 7, 17, 33, 64}) {
    auto build = [&](Function &f, Module &m) {
      NodeBuilder b(f, "node");
      NodeValue x = makeBytes(b, m, ElemKind::UInt8, {1, 5, 7, 9});
      Tensor filter(Type(ElemKind::Int8, {channels, 3, 3, 9}));
      Random random(channels);
      for (int64_t i = 0; i < filter.getNumElements(); ++i)
        filter.setFromDouble(i, double(random.below(255)) - 127);
      NodeValue sums = b.make<ConvolutionIntegerNode>(
          x, NodeValue(m.createConstant("w", std::move(filter))), NodeValue(),
          NodeValue(), NodeValue(), std::vector<int64_t>{1, 1},
          std::vector<int64_t>{1, 1, 1, 1}, std::vector<int64_t>{1, 1},
          int64_t(1));
      NodeValue q =
          quantize(b, b.cast(sums, ElemKind::Float), 128, 900, ElemKind::UInt8);
      return makeActivation(b, q, ElemKind::UInt8);
    };
    compare("epilogue", build, 0);
    // A processor that multiplies bytes, whichever this machine has.
    TargetOptions target;
    target.triple = "x86_64-linux-gnu";
    target.cpu = "icelake-server";
    auto cpu = llvm::cantFail(CPUBackend::create(target));
    // The floats become bytes, and nothing follows the convolution.
    EXPECT_EQ(countInstrs(*cpu, build, "ElementWiseLoop"), 1u);
  }
}
