//===- ByteOperands.cpp - Operands of kernels of bytes --------------------===//
//
// The kernels multiply the input as it is stored, perhaps shifted to the range
// that their instruction takes. The zero point and that shift add a number to a
// sum that depends on the filter, and on the taps that lie in the image, only:
// it is taken from the bias.
//
//===----------------------------------------------------------------------===//

#include "Selection/ByteOperands.h"
#include "Kernels/Convolution/Window.h"
#include "Selection/Requantization.h"
#include "glowish/IR/LoopBounds.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

namespace {

/// Makes the operands of the kernel that replaces an instruction of bytes,
/// before it.
class OperandMaker {
public:
  OperandMaker(IRFunction &function, Instruction &instr,
               const ConvolutionOp &op)
      : function(function), instr(instr), op(op) {}

  Buffer *makeInput(Buffer *input, ElemKind kind, int64_t channels);
  Buffer *makeBias(int64_t shift, const ConvolutionShape &windows);
  Buffer *subtractZeroPoint();

private:
  Buffer *createConstant(Tensor tensor) {
    return function.createConstant(
        instr.getName(), std::make_shared<const Tensor>(std::move(tensor)));
  }
  Buffer *createScalars(int64_t value, DimsRef shape);
  Buffer *computeBias(Buffer *sums, int64_t shift);

  IRFunction &function;
  Instruction &instr;
  const ConvolutionOp &op;
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

/// Returns \p buffer, of one element, for each element of \p shape.
static Buffer *broadcast(IRFunction &function, Buffer *buffer, DimsRef shape) {
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), Dims(shape.size(), 0));
}

/// Returns an int32 for each element of \p shape.
Buffer *OperandMaker::createScalars(int64_t value, DimsRef shape) {
  Tensor scalar(Type(ElemKind::Int32, DimsRef()));
  scalar.data<int32_t>()[0] = int32_t(value);
  return broadcast(function, createConstant(std::move(scalar)), shape);
}

//===- The input ----------------------------------------------------------===//

/// Returns the number that makes elements of \p from ones of \p to.
static int64_t getShift(ElemKind from, ElemKind to) {
  if (from == ElemKind::Int8 && to == ElemKind::UInt8)
    return 128;
  if (from == ElemKind::UInt8 && to == ElemKind::Int8)
    return -128;
  return 0;
}

/// Returns \p count channels from \p first on of each group: \p image, which
/// has \p inGroup channels a group, as [N, H, W, group, channel].
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

/// Makes the input, as images, of \p kind, shifted if need be, with \p channels
/// channels a group: zeros follow its own.
Buffer *OperandMaker::makeInput(Buffer *input, ElemKind kind,
                                int64_t channels) {
  Dims shape(input->getShape());
  int64_t own = shape[3] / op.group;
  shape[3] = channels * op.group;
  llvm::StringRef name = instr.getName();
  Buffer *made = function.createActivation(name, Type(kind, shape));
  auto make = [&](InstrDraft draft) {
    limitToNeededRows(draft, op);
    function.create(name, std::move(draft), &instr);
    return made;
  };
  if (channels > own)
    make(FillInstr::draft(
        viewGroups(function, made, channels, own, channels - own), 0.0));
  Buffer *to = viewGroups(function, made, channels, 0, own);
  Buffer *from = viewGroups(function, input, own, 0, own);
  if (from->getType() == to->getType())
    return make(CopyInstr::draft(to, from));
  llvm::SmallVector<Buffer *, 2> inputs = {from};
  int64_t shift = getShift(from->getType().getKind(), kind);
  if (shift)
    inputs.push_back(createScalars(shift, to->getShape()));
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

/// Sums the filter's elements over each pair of \p ranges of taps: [rows,
/// columns, OC].
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

/// Computes bias - (zero point + \p shift) * \p sums while the program runs.
Buffer *OperandMaker::computeBias(Buffer *sums, int64_t shift) {
  DimsRef shape = sums->getShape();
  Buffer *zeroPoint = op.zeroPoint ? broadcast(function, op.zeroPoint, shape)
                                   : createScalars(0, shape);
  Buffer *bias =
      op.bias ? function.createView(op.bias->getName(), op.bias,
                                    op.bias->getType().withShape(shape),
                                    op.bias->getOffset(),
                                    Dims{0, 0, op.bias->getInnerStride()})
              : createScalars(0, shape);
  llvm::SmallVector<Buffer *, 4> inputs = {sums, zeroPoint,
                                           createScalars(shift, shape), bias};
  ProgramBuilder program(inputs.size());
  unsigned zero = program.add(ScalarOp::Cast, {1});
  zero = program.add(ScalarOp::Add, {zero, 2});
  unsigned share = program.add(ScalarOp::Mul, {zero, 0});
  program.add(ScalarOp::Sub, {3, share});
  Buffer *result = function.createActivation(instr.getName(), sums->getType());
  function.create(instr.getName(),
                  ElementWiseLoopInstr::draft(result, program.take(), inputs),
                  &instr);
  return result;
}

/// Makes the bias for inputs to which \p shift was added: null, [OC], or
/// [rows, columns, OC] of the TapRanges of \p windows.
Buffer *OperandMaker::makeBias(int64_t shift, const ConvolutionShape &windows) {
  bool isKnown = !op.zeroPoint || isConstant(*op.zeroPoint);
  int64_t zero = shift;
  if (op.zeroPoint && isKnown)
    zero += int64_t(op.zeroPoint->getTensor().getAsDouble(0));
  if (isKnown && zero == 0)
    return op.bias;
  Tensor table = sumTaps(op, TapRanges(windows));
  if (!isKnown || (op.bias && !isConstant(*op.bias)))
    return computeBias(createConstant(std::move(table)), shift);
  int64_t channels = table.getType().getShape().back();
  for (auto [i, value] : llvm::enumerate(table.data<int32_t>())) {
    int32_t bias = 0;
    if (op.bias)
      bias = op.bias->getTensor().data<int32_t>()[int64_t(i) % channels];
    // Sums wrap.
    value = int32_t(uint32_t(bias) - uint32_t(zero) * uint32_t(value));
  }
  return createConstant(std::move(table));
}

//===- Kernels ------------------------------------------------------------===//

/// Calls \p visit with the number and the value of each element of the filter
/// less its zero point, if there is one: one value, or one for each output
/// channel.
static void visitDifferences(const ConvolutionOp &op,
                             llvm::function_ref<void(int64_t, int32_t)> visit) {
  const Tensor &from = op.filter->getTensor();
  const Buffer *zeroPoint = op.filterZeroPoint;
  DimsRef shape = from.getType().getShape();
  unsigned dim = op.outputDim;
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

bool glowish::hasWideDifferences(const ConvolutionOp &op) {
  bool found = false;
  visitDifferences(
      op, [&](int64_t, int32_t value) { found |= !llvm::isInt<8>(value); });
  return found;
}

/// Returns whether a kernel can read \p input, images with channels in
/// \p group groups, as lanes of \p elements.
static bool hasLanes(const Buffer &input, int64_t group, int64_t elements) {
  auto isWhole = [&](int64_t value) { return value % elements == 0; };
  return isWhole(input.getShape()[3] / group) && input.getInnerStride() == 1 &&
         isWhole(input.getOffset()) &&
         llvm::all_of(input.getStrides().drop_back(), isWhole);
}

/// Returns \p shape with one window, which lies in the image with all its taps.
static ConvolutionShape getInnerWindow(ConvolutionShape shape) {
  shape.height = (shape.kernelH - 1) * shape.dilationH + 1;
  shape.width = (shape.kernelW - 1) * shape.dilationW + 1;
  shape.outHeight = shape.outWidth = 1;
  shape.padTop = shape.padLeft = 0;
  return shape;
}

/// Returns the filter less its zero point, as int8 where that has the values,
/// else as int16.
Buffer *OperandMaker::subtractZeroPoint() {
  if (!op.filterZeroPoint)
    return op.filter;
  bool isOfInt16 = hasWideDifferences(op);
  Tensor difference(Type(isOfInt16 ? ElemKind::Int16 : ElemKind::Int8,
                         op.filter->getTensor().getType().getShape()));
  visitDifferences(op, [&](int64_t i, int32_t value) {
    if (isOfInt16)
      difference.data<int16_t>()[size_t(i)] = int16_t(value);
    else
      difference.data<int8_t>()[size_t(i)] = int8_t(value);
  });
  return createConstant(std::move(difference));
}

void glowish::replaceByByteKernel(IRFunction &function,
                                  const TargetDescription &target,
                                  FilterPacker &packer, Instruction &instr,
                                  ConvolutionOp op,
                                  const ConvolutionCandidate &candidate) {
  OperandMaker maker(function, instr, op);
  op.filter = maker.subtractZeroPoint();
  const ConvolutionAlgorithm &algorithm = *candidate.algorithm;
  ConvolutionShape shape = op.getShape();
  Buffer *input = op.viewImage(function, op.input);
  ElemKind own = input->getType().getKind();
  int64_t shift = 0;
  if (auto taken = algorithm.getByteInput(candidate.parameters, own, target)) {
    shift = getShift(own, taken->kind);
    if (taken->kind != own || !hasLanes(*input, op.group, taken->multiple))
      input = maker.makeInput(
          input, taken->kind,
          int64_t(llvm::alignTo(shape.getGroupChannels(), taken->multiple)));
  }
  ProgramInputs epilogue = {instr.getEpilogueProgram(), {nullptr}};
  epilogue.inputs.append(op.fused);
  if (prefersIntegers(target))
    requantizeInIntegers(epilogue, function, instr);
  PackedFilter packed =
      packer.getPacked(op.getFilterSource(function, target, instr), candidate);
  using ZeroPointUse = ConvolutionAlgorithm::ZeroPointUse;
  ZeroPointUse use = algorithm.getZeroPointUse();
  Buffer *bias = op.bias;
  if (use == ZeroPointUse::Filling)
    bias = maker.makeBias(getShift(own, ElemKind::Int8), getInnerWindow(shape));
  else if (use == ZeroPointUse::None)
    bias = maker.makeBias(shift, shape);
  replaceByKernel(
      function, instr, op, candidate,
      {.input = input,
       .filter = packed,
       .bias = bias,
       .zeroPoint = use == ZeroPointUse::None ? nullptr : op.zeroPoint,
       .fused = llvm::ArrayRef(epilogue.inputs).drop_front(),
       .epilogue = std::move(epilogue.program)});
}

//===- Integers of 32 bits ------------------------------------------------===//

/// Returns the bounds of the input of \p instr, of which a run needs the images
/// that it needs of the result.
static std::vector<LoopBound>
getImageBounds(const ConvolutionIntegerInstr &instr) {
  std::vector<LoopBound> bounds =
      getResultBounds(instr, instr.getResult()->getShape());
  llvm::erase_if(bounds, [](const LoopBound &bound) { return bound.dim > 0; });
  return bounds;
}

/// Makes \p buffer minus \p zeroPoint, which may be null, as int32: one value,
/// or one for each index of dimension \p dim. \p bounds: of what is needed.
static Buffer *widen(IRFunction &function, Buffer *buffer, Buffer *zeroPoint,
                     Instruction &before, unsigned dim = 0,
                     std::vector<LoopBound> bounds = {}) {
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

static InstrDraft makeWide(IRFunction &function,
                           ConvolutionIntegerInstr &instr) {
  return ConvolutionInstr::draft(
      instr.getResult(),
      widen(function, instr.getInput(), instr.getZeroPoint(), instr,
            /*dim=*/0, getImageBounds(instr)),
      widen(function, instr.getFilter(), instr.getFilterZeroPoint(), instr),
      instr.getBias(), instr.getStrides(), instr.getPads(),
      instr.getDilations(), instr.getGroup(), instr.getFused(),
      instr.getEpilogue());
}

static InstrDraft makeWide(IRFunction &function, MatMulIntegerInstr &instr) {
  Buffer *rhs = instr.getRhs();
  return MatMulInstr::draft(
      instr.getResult(),
      widen(function, instr.getLhs(), nullptr, instr,
            /*dim=*/0, getSideBounds(instr, instr.lhsIdx)),
      widen(function, rhs, instr.getRhsZeroPoint(), instr,
            rhs->getType().getRank() - 1, getSideBounds(instr, instr.rhsIdx)),
      instr.getFused(), instr.getEpilogue());
}

void glowish::replaceByWideInstr(IRFunction &function, Instruction &instr) {
  auto *convolution = llvm::dyn_cast<ConvolutionIntegerInstr>(&instr);
  function.replace(
      &instr, convolution
                  ? makeWide(function, *convolution)
                  : makeWide(function, llvm::cast<MatMulIntegerInstr>(instr)));
}
