//===- LoopBoundsTest.cpp - Kernels that compute a part of a result -------===//
//
// An instruction with bounds (LoopBound) is compiled for levels of this machine
// and run with extents of 0, 1, some and all. The part that a run needs is
// compared with the interpreter's, which heeds bounds of summed dimensions
// alone. What it does not need stays as it was in memory, at least the whole
// rows of it.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "ExtentRuns.h"
#include "InferTypes.h"
#include "glowish/Base/ForEachIndex.h"
#include "glowish/IR/Passes.h"
#include "glowish/IRGen/IRGen.h"

using namespace glowish;

namespace {

/// An operator with the types of its operands.
struct BoundsCase {
  const char *text;
  /// One character for each dimension of the result: N or M is the symbol that
  /// bounds it, n or m one up to which whole vectors or tiles are computed, and
  /// a dot none.
  const char *bounds;
  /// The operands from this number on are constants.
  unsigned firstConstant = ~0u;
  /// The dimension of operand `summed` that the second symbol bounds, too; none
  /// for 0.
  unsigned summed = 0, summedDim = 0;
};

const BoundsCase cases[] = {
    // Element-wise loops and data movement.
    {"Exp(float<5x3x37>)", "N.."},
    {"Exp(float<5x7x37>)", "NM."},
    {"Exp(float<3x5x7x37>)", ".NM."},
    {"Exp(float<5x37>)", "Nm"},
    {"Exp(float<4x5x37>)", ".Nm"},
    {"Exp(float<3x37>)", ".n"},
    {"Exp(float<20000>)", "n"},
    {"Exp(float<37>)", "n"},
    {"Add(float<5x7x3>, float<7x1>)", "NM."},
    {"Relu(float16<5x7x33>)", "N.m"},
    {"Transpose(float<5x7x37>) {permutation = [1, 0, 2]}", "NM."},
    {"Transpose(float<9x37x21>) {permutation = [0, 2, 1]}", "Nm."},
    {"Transpose(float<9x37x21>) {permutation = [0, 2, 1]}", "N.m"},
    {"Transpose(int8<9x37x21>) {permutation = [2, 0, 1]}", "nM."},
    {"Gather(float<2x9x5>, int64<4x3>) {axis = 1}", "NM.."},
    {"Gather(float<5x9x5>, int64<4x3>) {axis = 1}", "N.M."},
    {"Scatter(float<9x5>, int64<4>, float<4x5>) {mode = \"add\"}", "N."},
    {"Resize(float<3x5x7x18>) {sizes = [10, 14], scaleH = 2.0, scaleW = 2.0, "
     "mode = \"linear\", nearestMode = \"floor\", coordinates = "
     "\"half_pixel\"}",
     "NM.."},
    {"Resize(float<3x5x7x18>) {sizes = [10, 14], scaleH = 2.0, scaleW = 2.0, "
     "mode = \"nearest\", nearestMode = \"floor\", coordinates = "
     "\"half_pixel\"}",
     "N.M."},
    {"BitCast(float<5x7>) {to = int32}", "N."},
    // Reductions, normalizations and what orders elements.
    {"Reduce(float<5x7x37>) {mode = \"sum\", axes = [2], keepDims = false}",
     "NM"},
    {"Reduce(float<5x7x37>) {mode = \"max\", axes = [1], keepDims = true}",
     "N.m"},
    {"Reduce(float<9x33x31x5>) {mode = \"mean\", axes = [1, 2], keepDims = "
     "false}",
     "N."},
    {"ReduceInteger(int8<5x7x37>) {axes = [1], keepDims = false}", "Nm"},
    {"ArgMax(float<5x7x3>) {axis = 1, keepDims = false, selectLast = false}",
     "NM"},
    {"ArgMax(float<5x7x3>) {axis = 2, keepDims = true, selectLast = true}",
     "NM."},
    {"Softmax(float<5x7x37>) {axis = 2}", "NM."},
    {"Softmax(float<3x5x7x9>) {axis = 3}", ".NM."},
    {"Softmax(float<5x7x37>) {axis = 2}", "N.m", ~0u, 1, 2},
    {"LogSoftmax(float<5x7x37>) {axis = 2}", "NM."},
    {"LayerNormalization(float<5x7x37>, float<37>, float<37>) {axis = 2, "
     "epsilon = 0.01, subtractMean = true}",
     "NM."},
    {"GroupNormalization(float<5x3x7x32>, float<32>, float<32>) {axis = 3, "
     "groups = 8, epsilon = 0.01}",
     "N..."},
    {"GroupNormalization(float<3x33x31x16>, float<16>, float<16>) {axis = 3, "
     "groups = 1, epsilon = 0.01}",
     "N..."},
    {"LocalResponseNormalization(float<5x3x7x9>) {size = 3, alpha = 0.5, beta "
     "= 0.75, bias = 1.0}",
     "NM.."},
    {"CumSum(float<5x7x37>) {axis = 2, exclusive = false, reverse = false}",
     "NM."},
    {"CumSum(float<5x37>) {axis = 1, exclusive = true, reverse = false}", "Nm"},
    {"CumSum(float<5x37>) {axis = 1, exclusive = false, reverse = true}", "Nm"},
    {"CumSum(float<5x7x133>) {axis = 1, exclusive = false, reverse = false}",
     "NM."},
    {"CumSum(float<5x7x133>) {axis = 1, exclusive = false, reverse = true}",
     "N.m"},
    {"TopK(float<5x7x31>) {count = 5, largest = true}", "NM."},
    {"TopK(float<5x7x31>) {count = 17, largest = false}", "NM."},
    {"NonMaxSuppression(float<3x30x4>, int64<3x4x30>, float<>) {count = 5}",
     "NM."},
    // Matmuls.
    {"MatMul(float<5x9x37>, float<37x41>)", "N..", 1},
    {"MatMul(float<3x119x37>, float<37x41>)", "Nm.", 1},
    {"MatMul(float<3x119x37>, float<37x41>)", ".m.", 1},
    {"MatMul(bfloat16<5x19x37>, bfloat16<37x41>)", "Nm.", 1},
    {"MatMul(float<19x37>, float<37x41>)", "n.", 1},
    {"MatMul(float<19x37>, float<37x41>)", "n."},
    {"MatMul(float<19x37>, float<37x241>)", "nm"},
    {"MatMul(float<19x37>, float<37x241>)", "nm", 1},
    // Blocks of few columns are computed together.
    {"MatMul(float<16x37>, float<37x241>)", "n.", 1},
    {"MatMulInteger(uint8<16x37>, int8<37x241>, none)", "n.", 1},
    // Sums over lanes, in tiles of fewer rows.
    {"MatMul(float<40x131>, float<131x1>)", "n.", 1},
    {"MatMul(float<40x131>, float<131x3>)", "n.", 1},
    {"MatMul(float<5x7x37>, float<5x37x19>)", "N.."},
    {"MatMul(float<5x7x37>, float<37x19>)", "N.."},
    {"MatMul(float<3x5x7x37>, float<3x5x37x19>)", "NM.."},
    {"MatMul(float<3x5x7x37>, float<3x1x37x19>)", ".Nm."},
    {"MatMul(float<5x17x37>, float<5x37x19>)", "N.m"},
    {"MatMul(float<5x9x37>, float<5x37x41>)", "N..", ~0u, 1, 2},
    {"MatMul(float<1x1x37>, float<37x41>)", "N..", 1},
    {"MatMulInteger(uint8<19x37>, int8<37x41>, none)", "n.", 1},
    {"MatMulInteger(uint8<5x19x37>, int8<37x41>, none)", "Nm.", 1},
    {"MatMulInteger(uint8<5x9x37>, int8<5x37x41>, none)", "N.."},
    {"MatMulNBits(float<19x64>, int8<64x70>, float<2x70>, none, none) {block = "
     "32}",
     "n.", 1},
    {"MatMulNBits(float<3x19x64>, uint4<64x70>, float<2x70>, none, none) "
     "{block = 32}",
     "Nm.", 1},
    {"MatMulNBits(float<3x19x64>, uint4<64x70>, float<2x70>, none, none) "
     "{block = 32}",
     ".n.", 1},
    // Attentions.
    {"Attention(float<3x5x19x16>, float<3x5x21x16>, float<3x5x21x9>, none) "
     "{scale = 0.5, causal = false, nanIfMasked = true}",
     "NM.."},
    {"Attention(float<5x39x16>, float<5x21x16>, float<5x21x9>, none) {scale = "
     "0.5, causal = false, nanIfMasked = true}",
     "Nm."},
    {"Attention(float<5x3x16>, float<5x21x16>, float<5x21x9>, none) {scale = "
     "0.5, causal = false, nanIfMasked = true}",
     "N..", ~0u, 2, 1},
    {"Attention(float<5x39x16>, float<5x21x16>, float<5x21x9>, none) {scale = "
     "0.5, causal = false, nanIfMasked = true}",
     "N..", ~0u, 2, 1},
    {"AttentionInteger(uint8<5x39x16>, int8<5x21x16>, uint8<5x21x9>, none) "
     "{scale = 0.01, causal = false, queryZeroPoint = 1, valueZeroPoint = 2, "
     "weightScale = 0.004, maxWeight = 255}",
     "Nm."},
    {"AttentionInteger(int8<5x9x16>, int8<5x21x16>, int8<5x21x9>, none) {scale "
     "= 0.01, causal = false, queryZeroPoint = 0, valueZeroPoint = 0, "
     "weightScale = 0.004, maxWeight = 255}",
     "N..", ~0u, 2, 1},
};

//===- Programs -----------------------------------------------------------===//

/// The symbol of \p character of BoundsCase::bounds; none for a dot.
std::string getSymbol(char character) {
  return character == '.' ? "" : std::string(1, char(std::toupper(character)));
}

/// A module with the node of \p tested, whose result is the output "y", and the
/// symbols N and M, of which the largest values are \p largest.
std::unique_ptr<Module> buildCase(const BoundsCase &tested,
                                  std::map<std::string, int64_t> &largest) {
  ParsedOp op = llvm::cantFail(parseOp(tested.text));
  auto module = buildModule([&](Function &function, Module &module) {
    auto make = [&](unsigned i, const Type &type) {
      return makeOperand(module, i, type, i >= tested.firstConstant);
    };
    return llvm::cantFail(createNode(function, op, make))->getResult(0);
  });
  DimsRef result = module->findPlaceholder("y")->getType().getShape();
  largest = {{"N", 1}, {"M", 1}};
  for (auto [d, extent] : llvm::enumerate(result))
    if (tested.bounds[d] != '.')
      largest[getSymbol(tested.bounds[d])] = extent;
  if (tested.summed)
    largest["M"] = op.inputs[tested.summed - 1]->getShape()[tested.summedDim];
  for (auto &[symbol, most] : largest) {
    Placeholder *input = module->createPlaceholder(
        symbol, Type(ElemKind::Int64, {}), /*isInput=*/true,
        /*isOutput=*/false);
    module->stateSymbol(*input, {symbol, {0, most}});
  }
  return module;
}

/// A compiled case.
struct BoundedProgram : Program {
  std::map<std::string, int64_t> largest;
};

/// Makes the bounds of \p tested those of what computes the output "y".
void setBounds(IRFunction &function, const BoundsCase &tested) {
  std::vector<LoopBound> bounds;
  for (unsigned d = 0; tested.bounds[d]; ++d)
    if (tested.bounds[d] != '.')
      bounds.push_back({0, d, Extent::symbol(getSymbol(tested.bounds[d]))});
  if (tested.summed)
    bounds.push_back({tested.summed, tested.summedDim, Extent::symbol("M")});
  const Buffer *y = function.findBuffer("y");
  for (Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker() && instr.getOperand(0)->getRoot() == y)
      instr.setLoopBounds(bounds);
}

BoundedProgram compileCase(const BoundsCase &tested,
                           std::unique_ptr<Backend> backend) {
  BoundedProgram compiled;
  compiled.backend = std::move(backend);
  CompilationOptions options;
  options.verifyEach = true;
  Compilation compilation(*compiled.backend, options);
  std::optional<IRProgram> program =
      llvm::cantFail(compilation.runToIR(buildCase(tested, compiled.largest)));
  setBounds(program->getIR(), tested);
  compiled.program =
      llvm::cantFail(compilation.runToPlan(std::move(*program), nullptr, {}));
  compiled.session = llvm::cantFail(Session::create(*compiled.program));
  return compiled;
}

/// The value of elements that a run did not write.
constexpr double untouched = 99;

/// Runs \p program with the extents \p n and \p m; returns the output "y".
Tensor run(Program &program, int64_t n, int64_t m) {
  Session &session = *program.session;
  uint64_t seed = 7;
  for (const Buffer *input : session.getPlaceholders()) {
    bool isExtent = input->getInputExtents().range.has_value();
    if (!isExtent && input->isInput())
      llvm::cantFail(
          session.setInput(input, makeRandom(input->getType(), seed++)));
  }
  for (auto [symbol, extent] : {std::pair("N", n), std::pair("M", m)})
    llvm::cantFail(session.setInput(
        program.find(symbol),
        Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {extent})));
  Tensor y = session.getTensor(program.find("y"));
  for (int64_t i = 0; i < y.getNumElements(); ++i)
    y.setFromDouble(i, untouched);
  llvm::cantFail(session.run());
  return y.clone();
}

/// Compares what a run with \p n and \p m needs, and looks at the rest.
void compareParts(const BoundsCase &tested, const Tensor &actual,
                  const Tensor &expected, int64_t n, int64_t m) {
  // A vector or a tile may end behind what is needed.
  constexpr int64_t mostLanes = 64;
  int64_t i = -1, last = -mostLanes - 1;
  unsigned wrong = 0;
  forEachIndex(actual.getType().getShape(), [&](DimsRef index) {
    ++i;
    bool isNeeded = true, mayBeTouched = true;
    for (auto [d, at] : llvm::enumerate(index)) {
      char bound = tested.bounds[d];
      int64_t extent = getSymbol(bound) == "N" ? n : m;
      if (bound == '.' || at < extent)
        continue;
      isNeeded = false;
      mayBeTouched &= std::islower(bound) && at < extent + mostLanes;
    }
    double value = actual.getAsDouble(i), other = expected.getAsDouble(i);
    if (mayBeTouched)
      last = i;
    else
      mayBeTouched |= i - last <= mostLanes;
    if (isNeeded)
      wrong += !(std::fabs(value - other) <= 1e-4 * (1 + std::fabs(other)));
    else if (!mayBeTouched)
      wrong += value != untouched;
  });
  EXPECT_EQ(wrong, 0u) << tested.text << ' ' << tested.bounds << " N = " << n
                       << " M = " << m;
}

/// 0, 1, \p most, and numbers between them.
std::vector<int64_t> chooseExtents(int64_t most) {
  std::set<int64_t> extents = {0, 1, std::min<int64_t>(2, most), most / 2 + 1,
                               most};
  return {extents.begin(), extents.end()};
}

/// This machine and other levels, each with one and with several threads.
std::vector<TargetOptions> getTargets() {
  std::vector<TargetOptions> targets;
  for (TargetOptions target : getLevels(/*sharesWeights=*/false)) {
    target.testing.compilesQuickly = true;
    targets.push_back(target);
    target.numThreads = 3;
    target.testing.dividesSmallKernels = true;
    targets.push_back(target);
  }
  return targets;
}

TEST(LoopBounds, KernelsComputeWhatIsNeeded) {
  std::vector<TargetOptions> targets = getTargets();
  for (auto [number, tested] : llvm::enumerate(cases)) {
    SCOPED_TRACE(tested.text);
    BoundedProgram expected = compileCase(tested, createInterpreter());
    std::vector<BoundedProgram> programs;
    for (auto [t, target] : llvm::enumerate(targets))
      // This machine, and the others in turn.
      if (t < 2 || t % 3 == number % 3)
        programs.push_back(
            compileCase(tested, llvm::cantFail(CPUBackend::create(target))));
    for (int64_t n : chooseExtents(expected.largest["N"]))
      for (int64_t m : chooseExtents(expected.largest["M"])) {
        Tensor all = run(expected, n, m);
        for (Program &program : programs)
          compareParts(tested, run(program, n, m), all, n, m);
      }
  }
}

} // namespace
