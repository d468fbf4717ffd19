//===- DataMovement.cpp - Type rules of data movement ---------------------===//

#include "glowish/Base/CheckedInt.h"
#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Error;
using llvm::Twine;

//===- Concat -------------------------------------------------------------===//

/// Input \p index against input 0.
static Error checkConcatInput(const ConcatView &op, unsigned index) {
  const Type &first = op.getInputs(0), &type = op.getInputs(index);
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, index, 0));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, index, first.getRank()));
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, index));
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (d != op.getAxis() && type.getDim(d) != first.getDim(d))
      return op.operandError(index, "expected extent " +
                                        Twine(first.getDim(d)) +
                                        " in dimension " + Twine(d));
  if (type.isQuantized() && type.getQuantParams() != first.getQuantParams())
    return op.operandError(index,
                           "expected scale and offset of " + first.str());
  return Error::success();
}

llvm::Expected<TypeList> glowish::inferConcat(const OpView &view) {
  ConcatView op(view);
  if (op.getNumInputs() == 0)
    return makeError("at least one input is needed");
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), 0));
  CheckedInt extent = 0;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_RETURN_IF_ERROR(checkConcatInput(op, i));
    extent += op.getInputs(i).getDim(op.getAxis());
    if (!extent.get())
      return op.operandError(i, "the sum of the extents is too large");
  }
  Dims shape(op.getInputs(0).getShape());
  shape[op.getAxis()] = *extent.get();
  return makeResult(op.getInputs(0).withShape(shape));
}

//===- Slice --------------------------------------------------------------===//

/// Checks that dimension \p d of a slice is inside the input, and that the
/// stride of its view does not overflow.
static Error checkSliceDim(const SliceView &op, unsigned d,
                           int64_t denseStride) {
  int64_t extent = op.getInput().getDim(d);
  int64_t start = op.getStarts()[d], size = op.getSizes()[d];
  int64_t step = op.getSteps()[d];
  if (step == 0)
    return op.attrError("steps", "0 in dimension " + Twine(d));
  if (!(CheckedInt(step) * denseStride).get())
    return op.attrError("steps", Twine(step) + " in dimension " + Twine(d) +
                                     " is too large");
  auto outside = [&](llvm::StringRef what, int64_t index) {
    return op.operandError(op.inputIdx, what + " index " + Twine(index) +
                                            " of dimension " + Twine(d) +
                                            " is outside");
  };
  bool isEmpty = size == 0;
  if (start < 0 || start > extent - (isEmpty ? 0 : 1))
    return outside("first", start);
  if (isEmpty)
    return Error::success();
  std::optional<int64_t> last = (CheckedInt(size - 1) * step + start).get();
  if (!last)
    return op.attrError("sizes", Twine(size) + " in dimension " + Twine(d) +
                                     " is too large");
  if (*last < 0 || *last >= extent)
    return outside("last", *last);
  return Error::success();
}

llvm::Expected<TypeList> glowish::inferSlice(const OpView &view) {
  SliceView op(view);
  const Type &input = op.getInput();
  unsigned rank = input.getRank();
  GLOWISH_RETURN_IF_ERROR(checkLength(op, "starts", op.getStarts(), rank));
  GLOWISH_RETURN_IF_ERROR(checkValues(op, "sizes", op.getSizes(), rank, 0));
  GLOWISH_RETURN_IF_ERROR(checkLength(op, "steps", op.getSteps(), rank));
  Dims strides = getDenseStrides(input.getShape());
  for (unsigned d = 0; d < rank; ++d)
    GLOWISH_RETURN_IF_ERROR(checkSliceDim(op, d, strides[d]));
  GLOWISH_RETURN_IF_ERROR(checkShape(input.getKind(), op.getSizes()));
  if (!input.isQuantized() || input.getQuantParams().axis < 0)
    return makeResult(input.withShape(op.getSizes()));
  // The scales of a dimension are sliced with it.
  const QuantParams &all = input.getQuantParams();
  QuantParams params;
  params.axis = all.axis;
  for (int64_t i = 0; i < op.getSizes()[all.axis]; ++i) {
    int64_t index = op.getStarts()[all.axis] + i * op.getSteps()[all.axis];
    params.scales.push_back(all.scales[index]);
    params.offsets.push_back(all.offsets[index]);
  }
  return makeResult(Type(input.getKind(), op.getSizes(), std::move(params)));
}

//===- Transpose and reshape ----------------------------------------------===//

llvm::Expected<TypeList> glowish::inferTranspose(const OpView &view) {
  TransposeView op(view);
  const Type &input = op.getInput();
  llvm::ArrayRef<int64_t> permutation = op.getPermutation();
  GLOWISH_RETURN_IF_ERROR(
      checkLength(op, "permutation", permutation, input.getRank()));
  std::vector<bool> taken(input.getRank(), false);
  Dims shape;
  for (int64_t dim : permutation) {
    GLOWISH_RETURN_IF_ERROR(checkAxis(op, "permutation", dim, op.inputIdx));
    if (taken[dim])
      return op.attrError("permutation", Twine(dim) + " comes twice");
    taken[dim] = true;
    shape.push_back(input.getDim(dim));
  }
  if (!input.isQuantized() || input.getQuantParams().axis < 0)
    return makeResult(input.withShape(shape));
  QuantParams params = input.getQuantParams();
  params.axis = llvm::find(permutation, params.axis) - permutation.begin();
  return makeResult(Type(input.getKind(), shape, std::move(params)));
}

llvm::Expected<TypeList> glowish::inferReshape(const OpView &view) {
  ReshapeView op(view);
  const Type &input = op.getInput();
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  if (Error refused = checkShape(input.getKind(), op.getShape()))
    return op.attrError("shape", llvm::toString(std::move(refused)));
  Type result = input.withShape(op.getShape());
  if (result.getNumElements() != input.getNumElements())
    return op.attrError("shape", formatShape(op.getShape()) + " has " +
                                     Twine(result.getNumElements()) +
                                     " elements, the input " +
                                     Twine(input.getNumElements()));
  return TypeList{result};
}

//===- Repetition ---------------------------------------------------------===//

llvm::Expected<TypeList> glowish::inferBroadcast(const OpView &view) {
  BroadcastView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  if (Error refused = checkShape(op.getInput().getKind(), op.getShape()))
    return op.attrError("shape", llvm::toString(std::move(refused)));
  GLOWISH_RETURN_IF_ERROR(checkBroadcastsTo(op, op.inputIdx, op.getShape()));
  return TypeList{op.getInput().withShape(op.getShape())};
}

llvm::Expected<TypeList> glowish::inferTile(const OpView &view) {
  TileView op(view);
  const Type &input = op.getInput();
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(
      checkValues(op, "repeats", op.getRepeats(), input.getRank(), 0));
  Dims shape;
  for (unsigned d = 0; d < input.getRank(); ++d) {
    CheckedInt extent = CheckedInt(input.getDim(d)) * op.getRepeats()[d];
    if (!extent.get())
      return op.attrError("repeats", Twine(op.getRepeats()[d]) +
                                         " in dimension " + Twine(d) +
                                         " is too large");
    shape.push_back(*extent.get());
  }
  return makeResult(input.withShape(shape));
}

//===- Pad ----------------------------------------------------------------===//

/// The extent of dimension \p d with its pads.
static llvm::Expected<int64_t> getPaddedExtent(const PadView &op, unsigned d) {
  int64_t extent = op.getInput().getDim(d);
  int64_t before = op.getPads()[d];
  int64_t after = op.getPads()[op.getInput().getRank() + d];
  auto wrong = [&](const Twine &what) {
    return op.attrError("pads", Twine(before) + " and " + Twine(after) +
                                    " in dimension " + Twine(d) + ": " + what);
  };
  if (op.getMode() != "constant") {
    if (before < 0 || after < 0)
      return wrong("only mode constant takes negative pads");
    // A reflection doesn't repeat the edge, so that it has one element less.
    int64_t most = op.getMode() == "reflect" ? std::max<int64_t>(extent - 1, 0)
                   : extent == 0             ? 0
                                 : std::numeric_limits<int64_t>::max();
    if (std::max(before, after) > most)
      return wrong("extent " + Twine(extent) + " is too small for mode " +
                   op.getMode());
  }
  // Cropping comes before padding: it must not exceed the extent.
  CheckedInt kept = CheckedInt(extent) + std::min<int64_t>(before, 0) +
                    std::min<int64_t>(after, 0);
  if (!kept.isBetween(0, extent))
    return wrong("they crop more than the extent " + Twine(extent));
  CheckedInt padded =
      kept + std::max<int64_t>(before, 0) + std::max<int64_t>(after, 0);
  if (!padded.get())
    return wrong("the result is too large");
  return *padded.get();
}

llvm::Expected<TypeList> glowish::inferPad(const OpView &view) {
  PadView op(view);
  const Type &input = op.getInput();
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(
      checkLength(op, "pads", op.getPads(), 2 * input.getRank()));
  if (op.getMode() == "constant")
    GLOWISH_RETURN_IF_ERROR(
        checkRepresentable(op, "value", op.getValue(), input.getKind()));
  Dims shape;
  for (unsigned d = 0; d < input.getRank(); ++d) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t extent, getPaddedExtent(op, d));
    shape.push_back(extent);
  }
  return makeResult(input.withShape(shape));
}

//===- Gather -------------------------------------------------------------===//

llvm::Expected<TypeList> glowish::inferGather(const OpView &view) {
  GatherView op(view);
  const Type &input = op.getInput(), &indices = op.getIndices();
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  if (indices.getKind() != ElemKind::Int32 &&
      indices.getKind() != ElemKind::Int64)
    return op.operandError(op.indicesIdx, "expected int32 or int64");
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  DimsRef shape = input.getShape();
  Dims result(shape.take_front(op.getAxis()));
  llvm::append_range(result, indices.getShape());
  llvm::append_range(result, shape.drop_front(op.getAxis() + 1));
  GLOWISH_RETURN_IF_ERROR(checkShape(input.getKind(), result));
  Type type = input.withShape(result);
  if (shape[op.getAxis()] == 0 && type.getNumElements() != 0)
    return op.operandError(op.inputIdx,
                           "there is nothing to pick along dimension " +
                               Twine(op.getAxis()));
  return TypeList{type};
}
