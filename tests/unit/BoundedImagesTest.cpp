//===- BoundedImagesTest.cpp - Images that a run needs --------------------===//
//
// Convolutions and poolings of which each run states how many images, and how
// many rows and columns of each, are needed. Compiled code is compared with the
// interpreter; elements of the input that no needed pixel takes are NaN.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "glowish/Base/ForEachIndex.h"

using namespace glowish;

namespace {

struct Window {
  std::vector<int64_t> kernel = {3, 3};
  int64_t stride = 1, pad = 1, dilation = 1;

  std::vector<int64_t> getStrides() const { return {stride, stride}; }
  std::vector<int64_t> getDilations() const { return {dilation, dilation}; }
  std::vector<int64_t> getPads() const {
    int64_t rows = kernel[0] > 1 ? pad : 0, columns = kernel[1] > 1 ? pad : 0;
    return {rows, columns, rows, columns};
  }
  /// The end of the rows of an input that the first \p rows of a result take.
  int64_t getInputEnd(int64_t rows) const {
    return getInputEnd(rows, kernel[0], getPads()[0]);
  }
  /// Returns the same of columns.
  int64_t getInputEndColumn(int64_t columns) const {
    return getInputEnd(columns, kernel[1], getPads()[1]);
  }

private:
  int64_t getInputEnd(int64_t needed, int64_t taps, int64_t ownPad) const {
    return needed ? (needed - 1) * stride - ownPad + (taps - 1) * dilation + 1
                  : 0;
  }
};

struct ImagesCase {
  const char *name;
  Dims input; // NHWC
  Window window = {};
  int64_t outChannels = 0, group = 1;
  ElemKind kind = ElemKind::Float;
  /// How many candidates there are to try.
  unsigned numRanks = 1;
  enum { Convolution, Transposed, Mean, Max } op = Convolution;
  bool areWeightsComputed = false;
};

/// Which dimensions have bounds.
struct BoundedDims {
  bool images, rows, columns = false;
};

constexpr ElemKind i8 = ElemKind::Int8, u8 = ElemKind::UInt8;

const ImagesCase cases[] = {
    {.name = "3x3", .input = {3, 13, 11, 17}, .outChannels = 33, .numRanks = 5},
    {.name = "weights beyond the cache",
     .input = {3, 5, 6, 224},
     .outChannels = 200,
     .numRanks = 3},
    {.name = "5x5",
     .input = {4, 9, 7, 8},
     .window = {.kernel = {5, 5}, .pad = 2},
     .outChannels = 17,
     .numRanks = 2},
    {.name = "1x1",
     .input = {3, 7, 9, 20},
     .window = {.kernel = {1, 1}, .pad = 0},
     .outChannels = 24,
     .numRanks = 2},
    {.name = "1x1, strides",
     .input = {3, 7, 9, 20},
     .window = {.kernel = {1, 1}, .stride = 2, .pad = 0},
     .outChannels = 40},
    {.name = "strides",
     .input = {3, 13, 15, 7},
     .window = {.stride = 2},
     .outChannels = 40},
    {.name = "2x2, stride 2",
     .input = {3, 8, 14, 20},
     .window = {.kernel = {2, 2}, .stride = 2, .pad = 0},
     .outChannels = 24,
     .numRanks = 3},
    {.name = "dilations",
     .input = {3, 13, 9, 5},
     .window = {.pad = 2, .dilation = 2},
     .outChannels = 16},
    {.name = "groups", .input = {3, 9, 9, 16}, .outChannels = 24, .group = 2},
    {.name = "depthwise",
     .input = {3, 21, 9, 37},
     .outChannels = 37,
     .group = 37},
    {.name = "few channels",
     .input = {3, 9, 9, 40},
     .outChannels = 3,
     .numRanks = 2},
    {.name = "one row",
     .input = {5, 1, 40, 18},
     .window = {.kernel = {1, 3}, .pad = 0},
     .outChannels = 20},
    {.name = "line",
     .input = {1, 1, 75, 18},
     .window = {.kernel = {1, 5}, .pad = 2},
     .outChannels = 20,
     .numRanks = 3},
    {.name = "lines, few channels",
     .input = {2, 1, 75, 18},
     .window = {.kernel = {1, 3}},
     .outChannels = 2,
     .numRanks = 2},
    {.name = "bytes, line",
     .input = {1, 1, 75, 18},
     .window = {.kernel = {1, 5}, .pad = 2},
     .outChannels = 20,
     .kind = u8},
    {.name = "bytes",
     .input = {3, 9, 9, 17},
     .outChannels = 33,
     .kind = u8,
     .numRanks = 2},
    {.name = "bytes, 1x1",
     .input = {3, 9, 9, 17},
     .window = {.kernel = {1, 1}, .pad = 0},
     .outChannels = 33,
     .kind = i8},
    {.name = "bytes, depthwise",
     .input = {3, 9, 9, 19},
     .outChannels = 19,
     .group = 19,
     .kind = u8},
    {.name = "bytes, computed weights",
     .input = {3, 9, 9, 5},
     .outChannels = 9,
     .kind = i8,
     .areWeightsComputed = true},
    {.name = "half precision",
     .input = {3, 9, 9, 33},
     .outChannels = 70,
     .kind = ElemKind::Float16},
    {.name = "transposed",
     .input = {3, 7, 9, 8},
     .window = {.stride = 2},
     .outChannels = 12,
     .op = ImagesCase::Transposed},
    {.name = "means",
     .input = {3, 9, 9, 19},
     .window = {.kernel = {2, 2}, .stride = 2, .pad = 0},
     .op = ImagesCase::Mean},
    {.name = "maxima", .input = {3, 23, 9, 40}, .op = ImagesCase::Max},
};

/// Random elements; integers from 0 on.
Tensor makeElements(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    tensor.setFromDouble(i, isFloatKind(type.getKind())
                                ? double(random.uniform(-1, 1))
                                : double(random.below(50)));
  return tensor;
}

NodeValue makeConstant(Module &m, const Type &type, uint64_t seed) {
  return NodeValue(m.createConstant("c", makeElements(type, seed)));
}

NodeValue buildConvolution(const ImagesCase &c, Function &f, Module &m,
                           NodeValue x) {
  const Window &w = c.window;
  bool isTransposed = c.op == ImagesCase::Transposed;
  Type weights(c.kind, {isTransposed ? c.input[3] : c.outChannels, w.kernel[0],
                        w.kernel[1],
                        isTransposed ? c.outChannels : c.input[3] / c.group});
  Type ofBias(c.kind, {c.outChannels});
  if (isTransposed)
    return f
        .create<ConvTransposeNode>("conv", x, makeConstant(m, weights, 2),
                                   makeConstant(m, ofBias, 3), w.getStrides(),
                                   w.getPads(), std::vector<int64_t>{0, 0},
                                   w.getDilations(), c.group)
        ->getResult();
  if (isFloatKind(c.kind))
    return f
        .create<ConvolutionNode>("conv", x, makeConstant(m, weights, 2),
                                 makeConstant(m, ofBias, 3), w.getStrides(),
                                 w.getPads(), w.getDilations(), c.group)
        ->getResult();
  weights = weights.withKind(i8);
  NodeValue filter =
      c.areWeightsComputed
          ? NodeValue(m.createPlaceholder("w", weights, true, false))
          : makeConstant(m, weights, 2);
  NodeValue zeroPoint = makeConstant(m, Type(c.kind, DimsRef()), 4);
  return f
      .create<ConvolutionIntegerNode>("conv", x, filter, zeroPoint, NodeValue(),
                                      NodeValue(), w.getStrides(), w.getPads(),
                                      w.getDilations(), c.group)
      ->getResult();
}

NodeValue buildOp(const ImagesCase &c, Function &f, Module &m, NodeValue x) {
  const Window &w = c.window;
  if (c.op == ImagesCase::Max)
    return f
        .create<MaxPoolNode>("pool", x, w.kernel, w.getStrides(), w.getPads(),
                             w.getDilations())
        ->getResult();
  if (c.op == ImagesCase::Mean)
    return f
        .create<AvgPoolNode>("pool", x, w.kernel, w.getStrides(), w.getPads(),
                             w.getDilations(), false)
        ->getResult();
  NodeValue sums = buildConvolution(c, f, m, x);
  return isFloatKind(c.kind) ? f.create<ReluNode>("relu", sums)->getResult()
                             : sums;
}

/// Whether an index of dimension \p dim of \p shape, which has another extent
/// than 1, is less than what a run states as \p symbol.
NodeValue buildLimit(Function &f, Module &m, DimsRef shape, unsigned dim,
                     llvm::StringRef symbol) {
  Dims own(shape.size(), 1);
  own[dim] = shape[dim];
  Tensor numbers(Type(ElemKind::Int64, own));
  for (int64_t i = 0; i < shape[dim]; ++i)
    numbers.setFromDouble(i, double(i));
  Placeholder *extent = m.createPlaceholder(
      symbol, Type(ElemKind::Int64, DimsRef()), true, false);
  m.stateSymbol(*extent, {symbol.str(), {0, shape[dim]}});
  NodeValue indices(m.createConstant("numbers", std::move(numbers)));
  return f.create<LessNode>("less", indices, NodeValue(extent))->getResult();
}

/// The result of \p c, with 0 for what is not needed.
NodeValue build(const ImagesCase &c, BoundedDims dims, Function &f, Module &m) {
  NodeValue x = input(m, c.kind, c.input);
  NodeValue y = buildOp(c, f, m, x), isNeeded;
  ExtentList extents(y.getShape().size());
  auto limit = [&](unsigned dim, llvm::StringRef symbol) {
    extents[dim] = Extent::symbol(symbol.str());
    NodeValue own = buildLimit(f, m, y.getShape(), dim, symbol);
    isNeeded =
        isNeeded ? f.create<AndNode>("and", isNeeded, own)->getResult() : own;
  };
  if (dims.images)
    limit(0, "N");
  if (dims.rows)
    limit(1, "R");
  if (dims.columns)
    limit(2, "C");
  Tensor zero(Type(y.getElemKind(), DimsRef()));
  Type type = y.getType();
  for (const Type &declared : {type.withExtents(extents), type})
    y = f.create<DeclareExtentsNode>("needed", y, TypeList{declared})
            ->getResult();
  return f
      .create<SelectNode>("masked", isNeeded, y,
                          NodeValue(m.createConstant("zero", std::move(zero))))
      ->getResult();
}

/// Makes what no needed pixel takes of \p x something that shows.
void poison(Tensor &x, const ImagesCase &c, int64_t images, int64_t rows,
            int64_t columns) {
  bool isFloat = isFloatKind(c.kind);
  bool isTransposed = c.op == ImagesCase::Transposed;
  int64_t end = isTransposed ? c.input[1] : c.window.getInputEnd(rows);
  int64_t endColumn =
      isTransposed ? c.input[2] : c.window.getInputEndColumn(columns);
  int64_t element = 0;
  forEachIndex(c.input, [&](DimsRef index) {
    if (index[0] >= images || index[1] >= end || index[2] >= endColumn)
      x.setFromDouble(element,
                      isFloat ? std::numeric_limits<double>::quiet_NaN() : 127);
    ++element;
  });
}

struct Compiled {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<PlannedProgram> program;
  std::unique_ptr<Session> session;

  Compiled(std::unique_ptr<Backend> own, const BuildFn &build)
      : backend(std::move(own)),
        program(std::make_unique<PlannedProgram>(
            llvm::cantFail(compileFor(*backend, build)))),
        session(llvm::cantFail(Session::create(*program))) {}

  /// The result for that many images, and rows and columns of each.
  Tensor run(const ImagesCase &c, int64_t images, int64_t rows,
             int64_t columns) {
    for (const Buffer *placeholder : session->getPlaceholders()) {
      if (!placeholder->isInput())
        continue;
      llvm::StringRef name = placeholder->getModelName();
      Tensor tensor = makeElements(placeholder->getType(), 7);
      if (name == "x")
        poison(tensor, c, images, rows, columns);
      else if (placeholder->getInputExtents().range)
        tensor.setFromDouble(0, double(name == "N"   ? images
                                       : name == "R" ? rows
                                                     : columns));
      llvm::cantFail(session->setInput(placeholder, tensor));
    }
    llvm::cantFail(session->run());
    const Buffer *y = llvm::cantFail(session->findPlaceholder("y"));
    return session->getTensor(y).clone();
  }
};

void expectNear(const Tensor &actual, const Tensor &expected, double bound,
                const std::string &name) {
  double largest = 1e-3;
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    largest = std::max(largest, std::abs(expected.getAsDouble(i)));
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), bound * largest)
        << name << ", element " << i;
}

/// Counts the bounds of the instructions that compute images.
size_t countBounds(const Compiled &compiled) {
  size_t bounds = 0;
  for (const Instruction &instr : compiled.program->getIR().getInstrs())
    if (llvm::isa<CPUConvolutionInstr, ConvolutionInstr, MaxPoolInstr,
                  AvgPoolInstr>(instr))
      bounds += instr.getLoopBounds().size();
  return bounds;
}

class BoundedImages : public testing::TestWithParam<size_t> {};

TEST_P(BoundedImages, AreComputed) {
  const ImagesCase &c = cases[GetParam()];
  for (BoundedDims dims : {BoundedDims{true, false},
                           {false, true},
                           {true, true},
                           {false, false, true},
                           {true, false, true},
                           {true, true, true}}) {
    if ((dims.rows && c.input[1] == 1) ||
        (dims.columns && c.op == ImagesCase::Transposed))
      continue;
    auto buildOwn = [&](Function &f, Module &m) {
      return build(c, dims, f, m);
    };
    Compiled interpreted(createInterpreter(), buildOwn);
    std::vector<Compiled> compiled;
    std::vector<TargetOptions> targets = getLevelsInTurn(2 + GetParam());
    targets.emplace_back().numThreads = 3;
    targets.back().testing.compilesQuickly = true;
    targets.back().testing.dividesSmallKernels = true;
    for (const TargetOptions &target : targets)
      for (unsigned rank = 0; rank < c.numRanks; ++rank) {
        TargetOptions own = target;
        own.testing.choiceRank = rank;
        compiled.emplace_back(llvm::cantFail(CPUBackend::create(own)),
                              buildOwn);
        if (c.op != ImagesCase::Transposed)
          EXPECT_EQ(countBounds(compiled.back()), size_t(dims.images) +
                                                      size_t(dims.rows) +
                                                      size_t(dims.columns))
              << c.name;
      }
    int64_t batch = c.input[0];
    const Buffer *y = llvm::cantFail(interpreted.session->findPlaceholder("y"));
    int64_t height = y->getShape()[1], width = y->getShape()[2];
    for (auto [images, rows] :
         {std::pair(int64_t(0), height), std::pair(batch, int64_t(0)),
          std::pair(int64_t(1), int64_t(1)), std::pair(batch - 1, height / 2),
          std::pair(batch, height)}) {
      int64_t ownImages = dims.images ? images : batch;
      int64_t ownRows = dims.rows ? rows : height;
      int64_t columns = dims.columns ? width * rows / height : width;
      Tensor expected = interpreted.run(c, ownImages, ownRows, columns);
      double bound = c.kind == ElemKind::Float16 ? 0x1p-9
                     : c.kind == ElemKind::Float ? 3e-5
                                                 : 0;
      for (Compiled &each : compiled)
        expectNear(each.run(c, ownImages, ownRows, columns), expected, bound,
                   std::string(c.name) + " " + std::to_string(ownImages) + " " +
                       std::to_string(ownRows) + " " + std::to_string(columns));
      if (testing::Test::HasFatalFailure())
        return;
    }
  }
}

/// Runs compiled code with one image, and expects that it leaves what is behind
/// the second one, which a tile may reach, as it was.
void expectUntouched(const ImagesCase &c, const TargetOptions &target) {
  Compiled compiled(llvm::cantFail(CPUBackend::create(target)),
                    [&](Function &f, Module &m) {
                      return build(c, {.images = true, .rows = false}, f, m);
                    });
  const IRFunction &function = compiled.program->getIR();
  const MemoryPlan &plan = compiled.program->getPlan();
  auto executable =
      llvm::cantFail(compiled.backend->compile(function, plan, nullptr));
  auto makeRegion = [](uint64_t size) {
    return Tensor(Type(ElemKind::UInt8, {int64_t(size)}));
  };
  Tensor constants = makeConstantRegion(function, plan),
         mutables = makeRegion(plan.mutableSize),
         arena = makeRegion(plan.activationSize);
  constexpr uint8_t fill = 0x5A;
  auto bytes = arena.data<uint8_t>();
  std::fill(bytes.begin(), bytes.end(), fill);
  const Buffer *extent = llvm::cantFail(compiled.session->findPlaceholder("N"));
  mutables.data<uint8_t>()[plan.getOffset(extent)] = 1;
  llvm::cantFail(executable->run(constants.data<uint8_t>().data(),
                                 mutables.data<uint8_t>().data(),
                                 bytes.data()));
  unsigned numChecked = 0;
  for (const Instruction &instr : function.getInstrs()) {
    const Buffer *result = instr.getOperand(0);
    if (!llvm::isa<CPUConvolutionInstr, MaxPoolInstr, AvgPoolInstr>(instr) ||
        result->getKind() != Buffer::Kind::Activation)
      continue;
    size_t image = size_t(result->getType().getSizeInBytes() / c.input[0]);
    size_t behind = 2 * image, size = size_t(c.input[0]) * image;
    EXPECT_TRUE(llvm::all_of(
        bytes.slice(plan.getOffset(result) + behind, size - behind),
        [](uint8_t byte) { return byte == fill; }))
        << c.name << " " << instr.getName().str();
    ++numChecked;
  }
  EXPECT_GT(numChecked, 0u) << c.name;
}

TEST_P(BoundedImages, AloneAreWritten) {
  const ImagesCase &c = cases[GetParam()];
  if (c.op == ImagesCase::Transposed)
    GTEST_SKIP() << "its convolutions write to views of one result";
  for (unsigned rank = 0; rank < c.numRanks; ++rank)
    for (unsigned numThreads : {1, 3}) {
      TargetOptions target;
      target.numThreads = numThreads;
      target.testing.choiceRank = rank;
      expectUntouched(c, target);
    }
}

/// Describes the kernel of a convolution of at most \p batch images of 7x7
/// pixels, with filters that are large.
std::string chooseKernel(int64_t batch, bool isBounded) {
  TargetOptions target;
  target.triple = "x86_64-linux-gnu";
  target.cpu = "x86-64-v4";
  auto backend = llvm::cantFail(CPUBackend::create(target));
  ImagesCase c = {
      .name = "large filters", .input = {batch, 7, 7, 512}, .outChannels = 512};
  PlannedProgram program =
      llvm::cantFail(compileFor(*backend, [&](Function &f, Module &m) {
        return isBounded ? build(c, {.images = true, .rows = false}, f, m)
                         : buildOp(c, f, m, input(m, c.kind, c.input));
      }));
  for (const Instruction &instr : program.getIR().getInstrs())
    if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
      return convolution->getAlgorithm().str();
  return "none";
}

/// The fastest kernel for one image, and that for all, is slow for other
/// numbers.
TEST(BoundedImagesChoice, LosesLittleForAnyNumber) {
  EXPECT_TRUE(llvm::StringRef(chooseKernel(1, false)).starts_with("direct"));
  EXPECT_TRUE(
      llvm::StringRef(chooseKernel(16, false)).starts_with("winograd 4x4"));
  EXPECT_TRUE(
      llvm::StringRef(chooseKernel(16, true)).starts_with("winograd 4x2"));
}

INSTANTIATE_TEST_SUITE_P(Kernels, BoundedImages,
                         testing::Range(size_t(0), std::size(cases)));

} // namespace
