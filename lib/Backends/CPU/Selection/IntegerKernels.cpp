//===- IntegerKernels.cpp - Kernels of 8-bit integers ---------------------===//
//
// The kernels multiply the input as it is stored, perhaps shifted to the range
// that their instruction takes. What the zero point and that shift add to a sum
// depends on the filter, and on the taps that lie in the image, only: it is
// taken from the bias.
//
//===----------------------------------------------------------------------===//

#include "Selection/IntegerKernels.h"
#include "Instrs.h"
#include "Kernels/Convolution/Window.h"
#include "Selection/ChoiceLog.h"
#include "Selection/ConvolutionOp.h"
#include "Selection/Requantization.h"
#include "glowish/IR/LoopBounds.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Task.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

namespace {

class IntegerKernelSelector {
public:
  IntegerKernelSelector(IRFunction &function, const TargetDescription &target,
                        ByteChooser chooser)
      : function(function), target(target), chooser(chooser), packer(function) {
  }

  void select(ConvolutionIntegerInstr &instr);
  void select(MatMulIntegerInstr &instr);

private:
  std::optional<ConvolutionCandidate>
  choose(const Instruction &instr,
         const std::optional<ConvolutionProblem> &problem);
  void replace(const ConvolutionOp &op, const ConvolutionCandidate &candidate);
  Buffer *makeInput(const ConvolutionOp &op, ElemKind kind, int64_t channels);
  Buffer *makeBias(const ConvolutionOp &op, int64_t shift,
                   const ConvolutionShape &windows);
  Buffer *computeBias(const ConvolutionOp &op, Buffer *sums, int64_t shift);
  Buffer *subtract(Buffer *filter, Buffer *zeroPoint, unsigned dim,
                   const Instruction &user);
  Buffer *widen(Buffer *buffer, Buffer *zeroPoint, Instruction &before,
                unsigned dim = 0, std::vector<LoopBound> bounds = {});
  Buffer *createConstant(Tensor tensor, const Instruction &user) {
    return function.createConstant(
        user.getName(), std::make_shared<const Tensor>(std::move(tensor)));
  }
  Buffer *createScalars(int64_t value, DimsRef shape, const Instruction &user);

  IRFunction &function;
  const TargetDescription &target;
  ByteChooser chooser;
  FilterPacker packer;
};

/// Builds a scalar program.
class ProgramBuilder {
public:
  explicit ProgramBuilder(size_t numInputs) : next(unsigned(numInputs)) {}

  /// Appends a step without parameters; returns its value.
  unsigned add(ScalarOp op, llvm::ArrayRef<unsigned> args,
               ElemKind kind = ElemKind::Int32) {
    program.steps.push_back(
        {op, llvm::SmallVector<unsigned, 3>(args), {}, kind});
    return next++;
  }
  ScalarProgram take() { return std::move(program); }

private:
  unsigned next;
  ScalarProgram program;
};

} // namespace

/// \p buffer, of one element, for each element of \p shape.
static Buffer *broadcast(IRFunction &function, Buffer *buffer, DimsRef shape) {
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), Dims(shape.size(), 0));
}

/// An int32 for each element of \p shape.
Buffer *IntegerKernelSelector::createScalars(int64_t value, DimsRef shape,
                                             const Instruction &user) {
  Tensor scalar(Type(ElemKind::Int32, DimsRef()));
  scalar.data<int32_t>()[0] = int32_t(value);
  return broadcast(function, createConstant(std::move(scalar), user), shape);
}

//===- The input ----------------------------------------------------------===//

/// What is added to elements of \p from for them to be of \p to.
static int64_t getShift(ElemKind from, ElemKind to) {
  if (from == ElemKind::Int8 && to == ElemKind::UInt8)
    return 128;
  if (from == ElemKind::UInt8 && to == ElemKind::Int8)
    return -128;
  return 0;
}

/// The first \p count channels from \p first on of each group: \p image,
/// which has \p inGroup channels a group, as [N, H, W, group, channel].
static Buffer *viewGroups(IRFunction &function, Buffer *image, int64_t inGroup,
                          int64_t first, int64_t count) {
  Dims shape(image->getShape()), strides(image->getStrides());
  int64_t inner = strides[3];
  shape[3] /= inGroup;
  shape.push_back(count);
  strides[3] = inner * inGroup;
  strides.push_back(inner);
  return function.createView(image->getName(), image,
                             image->getType().withShape(shape),
                             image->getOffset() + first * inner, strides);
}

/// The input as \p kind, shifted if need be, with \p channels channels a group:
/// zeros follow its own.
Buffer *IntegerKernelSelector::makeInput(const ConvolutionOp &op, ElemKind kind,
                                         int64_t channels) {
  Dims shape(op.input->getShape());
  int64_t own = shape[3] / op.group;
  shape[3] = channels * op.group;
  llvm::StringRef name = op.instr.getName();
  Buffer *made = function.createActivation(name, Type(kind, shape));
  auto make = [&](InstrDraft draft) {
    limitToNeededRows(draft, op);
    function.create(name, std::move(draft), &op.instr);
    return made;
  };
  if (channels > own)
    make(FillInstr::draft(
        viewGroups(function, made, channels, own, channels - own), 0.0));
  Buffer *to = viewGroups(function, made, channels, 0, own);
  Buffer *from = viewGroups(function, op.input, own, 0, own);
  if (from->getType() == to->getType())
    return make(CopyInstr::draft(to, from));
  llvm::SmallVector<Buffer *, 2> inputs = {from};
  int64_t shift = getShift(from->getType().getKind(), kind);
  if (shift)
    inputs.push_back(createScalars(shift, to->getShape(), op.instr));
  ProgramBuilder program(inputs.size());
  unsigned value = 0;
  if (shift) {
    value = program.add(ScalarOp::Cast, {value});
    value = program.add(ScalarOp::Add, {value, 1});
  }
  program.add(ScalarOp::Cast, {value}, kind);
  return make(ElementWiseLoopInstr::draft(to, program.take(), inputs));
}

//===- The bias -----------------------------------------------------------===//

/// The sums of the filter's elements over each pair of \p ranges of taps:
/// [rows, columns, OC].
static Tensor sumTaps(const ConvolutionOp &op, const TapRanges &ranges) {
  const Tensor &filter = op.filter->getTensor();
  ConvolutionShape shape = op.getShape();
  const Dims &s = op.filterStrides;
  auto sumChannels = [&](int64_t tap) {
    int32_t sum = 0;
    for (int64_t c = 0; c < shape.getGroupChannels(); ++c)
      sum += getSmallInteger(filter, tap + c * s[3]);
    return sum;
  };
  Tensor sums(Type(ElemKind::Int32,
                   {int64_t(ranges.rows.size()), int64_t(ranges.columns.size()),
                    shape.outChannels}));
  size_t next = 0;
  for (const TapRanges::Range &rows : ranges.rows)
    for (const TapRanges::Range &columns : ranges.columns)
      for (int64_t channel = 0; channel < shape.outChannels; ++channel) {
        int64_t g = channel / shape.getGroupOutChannels();
        int64_t n = channel % shape.getGroupOutChannels();
        int32_t sum = 0;
        for (int64_t kh = rows.first; kh < rows.end; ++kh)
          for (int64_t kw = columns.first; kw < columns.end; ++kw)
            sum += sumChannels(g * s[0] + kh * s[1] + kw * s[2] + n * s[4]);
        sums.data<int32_t>()[next++] = sum;
      }
  return sums;
}

/// bias - (zero point + \p shift) * \p sums, while the program runs.
Buffer *IntegerKernelSelector::computeBias(const ConvolutionOp &op,
                                           Buffer *sums, int64_t shift) {
  DimsRef shape = sums->getShape();
  Buffer *zeroPoint = op.zeroPoint ? broadcast(function, op.zeroPoint, shape)
                                   : createScalars(0, shape, op.instr);
  Buffer *bias =
      op.bias ? function.createView(op.bias->getName(), op.bias,
                                    op.bias->getType().withShape(shape),
                                    op.bias->getOffset(),
                                    Dims{0, 0, op.bias->getInnerStride()})
              : createScalars(0, shape, op.instr);
  llvm::SmallVector<Buffer *, 4> inputs = {
      sums, zeroPoint, createScalars(shift, shape, op.instr), bias};
  ProgramBuilder program(inputs.size());
  unsigned zero = program.add(ScalarOp::Cast, {1});
  zero = program.add(ScalarOp::Add, {zero, 2});
  unsigned share = program.add(ScalarOp::Mul, {zero, 0});
  program.add(ScalarOp::Sub, {3, share});
  Buffer *result =
      function.createActivation(op.instr.getName(), sums->getType());
  function.create(op.instr.getName(),
                  ElementWiseLoopInstr::draft(result, program.take(), inputs),
                  &op.instr);
  return result;
}

/// The bias for inputs to which \p shift was added: null, [OC], or [rows,
/// columns, OC] of the TapRanges of \p windows.
Buffer *IntegerKernelSelector::makeBias(const ConvolutionOp &op, int64_t shift,
                                        const ConvolutionShape &windows) {
  bool isKnown = !op.zeroPoint || isConstant(*op.zeroPoint);
  int64_t zero = shift;
  if (op.zeroPoint && isKnown)
    zero += int64_t(op.zeroPoint->getTensor().getAsDouble(0));
  if (isKnown && zero == 0)
    return op.bias;
  Tensor table = sumTaps(op, TapRanges(windows));
  if (!isKnown || (op.bias && !isConstant(*op.bias)))
    return computeBias(op, createConstant(std::move(table), op.instr), shift);
  int64_t channels = table.getType().getShape().back();
  for (auto [i, value] : llvm::enumerate(table.data<int32_t>())) {
    int32_t bias = 0;
    if (op.bias)
      bias = op.bias->getTensor().data<int32_t>()[int64_t(i) % channels];
    // Sums wrap.
    value = int32_t(uint32_t(bias) - uint32_t(zero) * uint32_t(value));
  }
  return createConstant(std::move(table), op.instr);
}

//===- Kernels ------------------------------------------------------------===//

/// Calls \p visit with the number and the value of each element of constant
/// \p filter less constant \p zeroPoint, which may be null: one value, or one
/// for each index of dimension \p dim.
static void visitDifferences(const Buffer &filter, const Buffer *zeroPoint,
                             unsigned dim,
                             llvm::function_ref<void(int64_t, int32_t)> visit) {
  const Tensor &from = filter.getTensor();
  DimsRef shape = from.getType().getShape();
  int64_t inner = countElements(shape.drop_front(dim + 1));
  for (int64_t i = 0; i < from.getNumElements(); ++i) {
    int32_t value = getSmallInteger(from, i);
    if (zeroPoint) {
      const Tensor &zeros = zeroPoint->getTensor();
      value -= getSmallInteger(
          zeros, zeros.getNumElements() == 1 ? 0 : i / inner % shape[dim]);
    }
    visit(i, value);
  }
}

/// Whether there are differences that int8 has not.
static bool isWide(const Buffer &filter, const Buffer *zeroPoint,
                   unsigned dim) {
  bool found = false;
  visitDifferences(filter, zeroPoint, dim, [&](int64_t, int32_t value) {
    found |= !llvm::isInt<8>(value);
  });
  return found;
}

/// What a kernel is chosen for; none where no kernel of bytes applies.
static std::optional<ConvolutionProblem>
getProblem(const ConvolutionIntegerInstr &instr) {
  const Buffer *input = instr.getInput(), *filter = instr.getFilter();
  const Buffer *zeroPoint = instr.getFilterZeroPoint();
  if (!isConstant(*filter) || (zeroPoint && !isConstant(*zeroPoint)))
    return std::nullopt;
  return ConvolutionProblem{
      .shape = ConvolutionShape::get(
          input->getShape(), instr.getResult()->getShape(),
          filter->getShape().slice(1, 2), instr.getStrides(), instr.getPads(),
          instr.getDilations(), instr.getGroup()),
      .kind = input->getType().getKind(),
      .inputStrides = Dims(input->getStrides()),
      .isOfBytes = true,
      .hasWideFilter = isWide(*filter, zeroPoint, 0)};
}

static std::optional<ConvolutionProblem>
getProblem(const MatMulIntegerInstr &instr) {
  const Buffer *lhs = instr.getLhs(), *rhs = instr.getRhs();
  const Buffer *zeroPoint = instr.getRhsZeroPoint();
  if (!isConstant(*rhs) || rhs->getType().getRank() != 2 ||
      (zeroPoint && !isConstant(*zeroPoint)) || lhs->getType().getRank() > 4)
    return std::nullopt;
  bool isSingleRow = hasOneRow(*instr.getResult());
  ImageLayout input = getImageLayout(lhs, isSingleRow);
  ImageLayout result = getImageLayout(instr.getResult(), isSingleRow);
  return ConvolutionProblem{
      .shape = ConvolutionShape::get(input.shape, result.shape, {1, 1}, {1, 1},
                                     {0, 0, 0, 0}, {1, 1}, 1),
      .kind = lhs->getType().getKind(),
      .inputStrides = input.strides,
      .isOfBytes = true,
      .hasWideFilter = isWide(*rhs, zeroPoint, 1)};
}

void glowish::visitByteProblems(
    const IRFunction &function,
    llvm::function_ref<void(const ConvolutionProblem &)> visit) {
  for (const Instruction &instr : function.getInstrs()) {
    std::optional<ConvolutionProblem> problem;
    if (auto *convolution = llvm::dyn_cast<ConvolutionIntegerInstr>(&instr))
      problem = getProblem(*convolution);
    else if (auto *matmul = llvm::dyn_cast<MatMulIntegerInstr>(&instr))
      problem = getProblem(*matmul);
    if (problem && problem->shape.getTaps() > 0 && !isDepthwise(problem->shape))
      visit(*problem);
  }
}

/// Whether a kernel can read the input as lanes of \p elements.
static bool hasLanes(const ConvolutionOp &op, int64_t elements) {
  auto isWhole = [&](int64_t value) { return value % elements == 0; };
  const Buffer &input = *op.input;
  return isWhole(input.getShape()[3] / op.group) &&
         input.getInnerStride() == 1 && isWhole(input.getOffset()) &&
         llvm::all_of(input.getStrides().drop_back(), isWhole);
}

/// The algorithm for \p problem of \p instr, if there is a problem and one
/// applies.
std::optional<ConvolutionCandidate> IntegerKernelSelector::choose(
    const Instruction &instr,
    const std::optional<ConvolutionProblem> &problem) {
  std::optional<ConvolutionChoice> choice;
  if (problem && problem->shape.getTaps() > 0)
    choice = chooser(*problem);
  if (!choice) {
    logChoice(instr, problem ? "of int32, as none of bytes applies"
                             : "of int32, as its weights are not constant");
    return std::nullopt;
  }
  logChoice(instr, *choice);
  return choice->candidate;
}

/// \p shape with one window, which lies in the image with all its taps.
static ConvolutionShape getInnerWindow(ConvolutionShape shape) {
  shape.height = (shape.kernelH - 1) * shape.dilationH + 1;
  shape.width = (shape.kernelW - 1) * shape.dilationW + 1;
  shape.outHeight = shape.outWidth = 1;
  shape.padTop = shape.padLeft = 0;
  return shape;
}

/// Makes a CPUConvolution of \p op, computed by \p candidate.
void IntegerKernelSelector::replace(const ConvolutionOp &op,
                                    const ConvolutionCandidate &candidate) {
  ConvolutionShape shape = op.getShape();
  ElemKind own = op.input->getType().getKind();
  Buffer *input = op.input;
  int64_t shift = 0;
  if (auto taken = candidate.algorithm->getByteInput(candidate.parameters, own,
                                                     target)) {
    shift = getShift(own, taken->kind);
    if (taken->kind != own || !hasLanes(op, taken->multiple))
      input = makeInput(
          op, taken->kind,
          int64_t(llvm::alignTo(shape.getGroupChannels(), taken->multiple)));
  }
  ProgramInputs epilogue = {op.instr.getEpilogueProgram(), {nullptr}};
  epilogue.inputs.append(op.fused);
  if (prefersIntegers(target))
    requantizeInIntegers(epilogue, function, op.instr);
  PackedFilter packed =
      packer.getPacked(op.getFilterSource(function, target), candidate);
  using ZeroPointUse = ConvolutionAlgorithm::ZeroPointUse;
  ZeroPointUse use = candidate.algorithm->getZeroPointUse();
  Buffer *bias = op.bias;
  if (use == ZeroPointUse::Filling)
    bias = makeBias(op, getShift(own, ElemKind::Int8), getInnerWindow(shape));
  else if (use == ZeroPointUse::None)
    bias = makeBias(op, shift, shape);
  replaceByKernel(
      function, op, candidate,
      {.input = input,
       .filter = packed,
       .bias = bias,
       .zeroPoint = use == ZeroPointUse::None ? nullptr : op.zeroPoint,
       .fused = llvm::ArrayRef(epilogue.inputs).drop_front(),
       .epilogue = std::move(epilogue.program)});
}

/// What visitDifferences says, as int8 where that has the values, else as
/// int16.
Buffer *IntegerKernelSelector::subtract(Buffer *filter, Buffer *zeroPoint,
                                        unsigned dim, const Instruction &user) {
  if (!zeroPoint)
    return filter;
  bool isOfInt16 = isWide(*filter, zeroPoint, dim);
  Tensor difference(Type(isOfInt16 ? ElemKind::Int16 : ElemKind::Int8,
                         filter->getTensor().getType().getShape()));
  visitDifferences(*filter, zeroPoint, dim, [&](int64_t i, int32_t value) {
    if (isOfInt16)
      difference.data<int16_t>()[size_t(i)] = int16_t(value);
    else
      difference.data<int8_t>()[size_t(i)] = int8_t(value);
  });
  return createConstant(std::move(difference), user);
}

/// \p buffer minus \p zeroPoint, which may be null, as int32: one value, or one
/// for each index of dimension \p dim. \p bounds: of what is needed.
Buffer *IntegerKernelSelector::widen(Buffer *buffer, Buffer *zeroPoint,
                                     Instruction &before, unsigned dim,
                                     std::vector<LoopBound> bounds) {
  Type type = buffer->getType().withKind(ElemKind::Int32);
  Buffer *wide = function.createActivation(buffer->getName(), type);
  llvm::SmallVector<Buffer *, 2> inputs = {buffer};
  if (zeroPoint) {
    Dims strides(type.getRank(), 0);
    if (zeroPoint->getType().getNumElements() != 1)
      strides[dim] = zeroPoint->getInnerStride();
    inputs.push_back(
        function.createView(zeroPoint->getName(), zeroPoint,
                            zeroPoint->getType().withShape(type.getShape()),
                            zeroPoint->getOffset(), strides));
  }
  ProgramBuilder program(inputs.size());
  unsigned value = program.add(ScalarOp::Cast, {0});
  if (zeroPoint)
    program.add(ScalarOp::Sub, {value, program.add(ScalarOp::Cast, {1})});
  InstrDraft draft = ElementWiseLoopInstr::draft(wide, program.take(), inputs);
  draft.bounds = std::move(bounds);
  function.create(buffer->getName(), std::move(draft), &before);
  return wide;
}

/// Returns the bounds of the left side of \p instr, of which a run needs the
/// rows and matrices that it needs of the result.
static std::vector<LoopBound> getRowBounds(const MatMulIntegerInstr &instr) {
  DimsRef rows = instr.getLhs()->getShape().drop_back();
  DimsRef result = instr.getResult()->getShape().drop_back();
  std::vector<LoopBound> bounds;
  if (rows == result)
    bounds = getResultBounds(instr, instr.getResult()->getShape());
  llvm::erase_if(
      bounds, [&](const LoopBound &bound) { return bound.dim >= rows.size(); });
  return bounds;
}

void IntegerKernelSelector::select(ConvolutionIntegerInstr &instr) {
  Buffer *filter = instr.getFilter(), *zeroPoint = instr.getFilterZeroPoint();
  if (auto candidate = choose(instr, getProblem(instr))) {
    ConvolutionOp op = describeConvolution(instr);
    op.zeroPoint = instr.getZeroPoint();
    op.filter = subtract(filter, zeroPoint, 0, instr);
    return replace(op, *candidate);
  }
  function.replace(
      &instr, ConvolutionInstr::draft(
                  instr.getResult(),
                  widen(instr.getInput(), instr.getZeroPoint(), instr),
                  widen(filter, zeroPoint, instr), instr.getBias(),
                  instr.getStrides(), instr.getPads(), instr.getDilations(),
                  instr.getGroup(), instr.getFused(), instr.getEpilogue()));
}

void IntegerKernelSelector::select(MatMulIntegerInstr &instr) {
  Buffer *lhs = instr.getLhs(), *rhs = instr.getRhs();
  Buffer *zeroPoint = instr.getRhsZeroPoint();
  if (auto candidate = choose(instr, getProblem(instr))) {
    ConvolutionOp op = describeMatMul(function, instr);
    op.filter = subtract(rhs, zeroPoint, 1, instr);
    return replace(op, *candidate);
  }
  function.replace(
      &instr, MatMulInstr::draft(
                  instr.getResult(),
                  widen(lhs, nullptr, instr, /*dim=*/0, getRowBounds(instr)),
                  widen(rhs, zeroPoint, instr, rhs->getType().getRank() - 1),
                  instr.getFused(), instr.getEpilogue()));
}

bool glowish::prepareIntegerKernels(IRFunction &function,
                                    const TargetDescription &target,
                                    ByteChooser choose) {
  IntegerKernelSelector selector(function, target, choose);
  bool changed = false;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end() && !isCancelled();) {
    Instruction &instr = *it++;
    auto *convolution = llvm::dyn_cast<ConvolutionIntegerInstr>(&instr);
    auto *matmul = llvm::dyn_cast<MatMulIntegerInstr>(&instr);
    changed |= convolution || matmul;
    if (convolution)
      selector.select(*convolution);
    else if (matmul)
      selector.select(*matmul);
  }
  if (changed)
    llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}
