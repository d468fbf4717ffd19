//===- Sequences.cpp - Sequences and optionals ----------------------------===//
//
// Sequences and optionals exist during import only.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/GraphScope.h"
#include "ONNX/ModelFile.h"
#include "ONNX/Ops/Concat.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Sequences ----------------------------------------------------------===//

/// Sets output 0 to a sequence. Elements have one kind; their shapes may
/// differ.
static llvm::Error setSequence(OpContext &op, Sequence sequence) {
  for (NodeValue element : sequence.elements)
    if (element.getElemKind() != sequence.elements[0].getElemKind())
      return makeError("elements are {0} and {1}; accepted: one element kind",
                       sequence.elements[0].getType().str(),
                       element.getType().str());
  op.setSequence(std::move(sequence));
  return llvm::Error::success();
}

static llvm::Error importSequenceConstruct(OpContext &op) {
  op.keepExtents();
  Sequence sequence;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue element, op.getInput(i));
    sequence.elements.push_back(element);
  }
  return setSequence(op, std::move(sequence));
}

static llvm::Error importSequenceEmpty(OpContext &op) {
  int64_t type = op.getInt("dtype", onnx::TensorProto::FLOAT);
  if (llvm::Error error = getElemKind(type).takeError())
    return error;
  return setSequence(op, {});
}

/// Reads the position in input \p index, which may count from the end of
/// \p count positions; the default if the input is absent.
static llvm::Expected<int64_t> readPosition(const OpContext &op, unsigned index,
                                            int64_t count,
                                            int64_t defaultPosition) {
  int64_t position = defaultPosition;
  if (op.hasInput(index)) {
    GLOWISH_ASSIGN_OR_RETURN(position, op.getConstantInt(index));
  }
  int64_t wrapped = position < 0 ? position + count : position;
  if (wrapped < 0 || wrapped >= count)
    return makeError("the position is {0}; accepted: {1} to {2}", position,
                     -count, count - 1);
  return wrapped;
}

static llvm::Error importSequenceInsert(OpContext &op) {
  op.keepExtents();
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *given, op.getSequence(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue element, op.getInput(1));
  Sequence sequence = *given;
  int64_t length = sequence.elements.size();
  // Negative positions count from the end; the end itself is a valid position.
  int64_t position = length;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t stated, op.getConstantInt(2));
    position = stated < 0 ? stated + length : stated;
    if (position < 0 || position > length)
      return makeError("the position is {0}; accepted: {1} to {2}", stated,
                       -length, length);
  }
  sequence.elements.insert(sequence.elements.begin() + position, element);
  return setSequence(op, std::move(sequence));
}

static llvm::Error importSequenceErase(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *given, op.getSequence(0));
  Sequence sequence = *given;
  int64_t length = sequence.elements.size();
  GLOWISH_ASSIGN_OR_RETURN(int64_t position,
                           readPosition(op, 1, length, length - 1));
  sequence.elements.erase(sequence.elements.begin() + position);
  return setSequence(op, std::move(sequence));
}

static llvm::Error importSequenceAt(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *sequence, op.getSequence(0));
  if (!op.hasInput(1))
    return makeError("input 1 is missing");
  GLOWISH_ASSIGN_OR_RETURN(int64_t position,
                           readPosition(op, 1, sequence->elements.size(), 0));
  return op.setOutput(0, sequence->elements[position]);
}

static llvm::Error importSequenceLength(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *sequence, op.getSequence(0));
  return op.setOutput(0, op.createConstant(Tensor::fromValues<int64_t>(
                             Type(ElemKind::Int64, Dims()),
                             {int64_t(sequence->elements.size())})));
}

/// Each part becomes a node.
static constexpr int64_t maxParts = 1 << 16;

/// Returns the extents of the parts: the elements of input 1, or that many
/// elements each (the last part may be smaller), or 1 each without input 1.
static llvm::Expected<std::vector<int64_t>> readParts(OpContext &op,
                                                      int64_t extent) {
  std::vector<int64_t> parts;
  bool isScalar = true;
  int64_t size = 1;
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(const Tensor *stated, op.getConstant(1));
    GLOWISH_ASSIGN_OR_RETURN(parts, op.getConstantInts(1));
    isScalar = stated->getType().getRank() == 0;
    if (isScalar)
      size = parts[0];
  }
  if (isScalar) {
    if (size < 1)
      return makeError("the size of the parts is {0}; accepted: at least 1",
                       size);
    if ((extent - 1) / size >= maxParts)
      return makeError(
          "{0} elements in parts of {1}; accepted: up to {2} parts", extent,
          size, maxParts);
    parts.clear();
    for (int64_t start = 0; start < extent; start += std::min(size, extent))
      parts.push_back(std::min(size, extent - start));
  }
  CheckedInt total = 0;
  for (int64_t part : parts) {
    total += part;
    if (part < 0 || !total.get())
      return makeError("a part has the size {0}", part);
  }
  if (total.get() != extent)
    return makeError("the parts have {0} elements in all; the dimension has "
                     "{1}",
                     *total.get(), extent);
  return parts;
}

static llvm::Error importSplitToSequence(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 0, input.getShape().size()));
  GLOWISH_RETURN_IF_ERROR(
      refuseExtents(input, 0, {axis},
                    "it is split; accepted: such extents of other dimensions"));
  int64_t keepDims = op.getInt("keepdims", 1);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> parts,
                           readParts(op, input.getShape()[axis]));
  Sequence sequence;
  int64_t start = 0;
  for (int64_t part : parts) {
    NodeValue element = op.slice(input, axis, start, part);
    // With given part sizes the dimension is kept.
    if (!keepDims && !op.hasInput(1) && element) {
      Dims shape(element.getShape());
      shape.erase(shape.begin() + axis);
      element = op.reshape(element, shape);
    }
    GLOWISH_ASSIGN_OR_RETURN(element, op.finish(element));
    sequence.elements.push_back(element);
    start += part;
  }
  return setSequence(op, std::move(sequence));
}

static llvm::Error importConcatFromSequence(OpContext &op) {
  op.keepExtents();
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *sequence, op.getSequence(0));
  int64_t isNew = op.getInt("new_axis", 0);
  if (!op.hasAttr("axis"))
    return makeError("attribute 'axis' is missing");
  std::vector<NodeValue> parts = sequence->elements;
  if (parts.empty())
    return makeError("the sequence has no elements; accepted: at least one");
  unsigned rank = parts[0].getShape().size() + (isNew ? 1 : 0);
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 0, rank));
  if (isNew)
    for (NodeValue &part : parts) {
      if (part.getShape().size() + 1 != rank)
        return makeError("elements are {0} and {1}; accepted: one shape",
                         parts[0].getType().str(), part.getType().str());
      part = op.unsqueeze(part, axis);
    }
  GLOWISH_RETURN_IF_ERROR(alignParts(op, parts, axis));
  return op.setOutput(0, op.concat(parts, axis));
}

/// Imports the subgraph for each element of the first sequence. Other inputs
/// are sequences of the same length, or tensors that are passed to all.
static llvm::Error importSequenceMap(OpContext &op) {
  op.keepExtents();
  GLOWISH_ASSIGN_OR_RETURN(const onnx::GraphProto *graph, op.getGraph("body"));
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *first, op.getSequence(0));
  size_t length = first->elements.size();
  std::vector<Sequence> outputs(graph->output_size());
  for (size_t i = 0; i < length; ++i) {
    std::vector<GraphValue> inputs;
    for (unsigned k = 0; k < op.getNumInputs(); ++k) {
      if (!op.hasSequence(k)) {
        GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor, op.getInput(k));
        inputs.push_back({.tensor = tensor});
        continue;
      }
      GLOWISH_ASSIGN_OR_RETURN(const Sequence *sequence, op.getSequence(k));
      if (sequence->elements.size() != length)
        return makeError("the sequences have {0} and {1} elements; accepted: "
                         "equal numbers",
                         length, sequence->elements.size());
      inputs.push_back({.tensor = sequence->elements[i]});
    }
    GraphScope scope(*graph, op.getScope());
    GLOWISH_ASSIGN_OR_RETURN(std::vector<GraphValue> values,
                             scope.importValues(inputs));
    for (auto [k, value] : llvm::enumerate(values)) {
      if (value.sequence)
        return makeError("the output {0} of the graph {1} is a sequence or an "
                         "optional; accepted: a tensor",
                         quote(graph->output(k).name()), quote(graph->name()));
      outputs[k].elements.push_back(value.tensor);
    }
  }
  for (auto [k, output] : llvm::enumerate(outputs))
    op.setSequence(std::move(output), k);
  return llvm::Error::success();
}

//===- Optionals ----------------------------------------------------------===//

/// An optional with a value is represented by that value.
static llvm::Error forwardOptional(OpContext &op) {
  if (!op.hasSequence(0))
    return op.setOutput(0, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(const Sequence *value, op.getSequence(0));
  op.setSequence(*value);
  return llvm::Error::success();
}

static llvm::Error importOptional(OpContext &op) {
  op.keepExtents();
  op.ignoreAttrs({"type"});
  if (op.hasInput(0) || op.hasSequence(0))
    return forwardOptional(op);
  op.setSequence({.elements = {}, .isAbsent = true});
  return llvm::Error::success();
}

static llvm::Error importOptionalHasElement(OpContext &op) {
  op.keepExtents();
  bool isPresent = op.hasInput(0);
  if (isPresent)
    op.ignoreInput(0);
  if (op.hasSequence(0)) {
    GLOWISH_ASSIGN_OR_RETURN(const Sequence *value, op.getSequence(0));
    isPresent = !value->isAbsent;
  }
  return op.setOutput(0, op.scalar(ElemKind::Bool, isPresent));
}

static llvm::Error importOptionalGetElement(OpContext &op) {
  op.keepExtents();
  if (op.hasSequence(0)) {
    GLOWISH_ASSIGN_OR_RETURN(const Sequence *value, op.getSequence(0));
    if (value->isAbsent)
      return makeError("input 0 is an optional without a value");
  }
  return forwardOptional(op);
}

static OnnxOperator sequenceConstructOp("SequenceConstruct", 11,
                                        importSequenceConstruct);
static OnnxOperator sequenceEmptyOp("SequenceEmpty", 11, importSequenceEmpty);
static OnnxOperator sequenceInsertOp("SequenceInsert", 11,
                                     importSequenceInsert);
static OnnxOperator sequenceEraseOp("SequenceErase", 11, importSequenceErase);
static OnnxOperator sequenceAtOp("SequenceAt", 11, importSequenceAt);
static OnnxOperator sequenceLengthOp("SequenceLength", 11,
                                     importSequenceLength);
static OnnxOperator splitToSequenceOp("SplitToSequence", 11,
                                      withExtents<importSplitToSequence>);
static OnnxOperator concatFromSequenceOp("ConcatFromSequence", 11,
                                         importConcatFromSequence);
static OnnxOperator optionalOp("Optional", 15, importOptional);
static OnnxOperator optionalHasElementOp("OptionalHasElement", 15,
                                         importOptionalHasElement);
static OnnxOperator optionalGetElementOp("OptionalGetElement", 15,
                                         importOptionalGetElement);
static OnnxOperator sequenceMapOp("SequenceMap", 17, importSequenceMap);
