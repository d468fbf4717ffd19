//===- FilterPacker.cpp - Packing of weights for kernels ------------------===//

#include "Selection/FilterPacker.h"
#include "Selection/ConvolutionAlgorithm.h"
#include "Selection/PackedConstant.h"

using namespace glowish;

Buffer *FilterSource::createConstant(Tensor tensor) const {
  return function.createConstant(
      filter->getName(), std::make_shared<const Tensor>(std::move(tensor)));
}

Buffer *FilterSource::createPacked(
    const Type &type, llvm::StringLiteral layout, llvm::ArrayRef<int64_t> key,
    std::function<void(const Tensor &, uint8_t *)> pack) const {
  return createConstant(
      packLater(type, filter->getPayload(), layout, key, std::move(pack)));
}

std::vector<int64_t> FilterSource::getKey() const {
  std::vector<int64_t> key = {shape.group, shape.kernelH, shape.kernelW,
                              shape.getGroupChannels(),
                              shape.getGroupOutChannels()};
  llvm::append_range(key, strides);
  return key;
}

Buffer *FilterSource::createActivation(const Type &type) const {
  return function.createActivation(filter->getName(), type);
}

Buffer *FilterSource::createView(DimsRef extents, int64_t offset,
                                 DimsRef viewStrides) const {
  return function.createView(filter->getName(), filter,
                             filter->getType().withShape(extents),
                             filter->getOffset() + offset, viewStrides);
}

void FilterSource::forEachWeight(
    llvm::function_ref<void(const WeightIndex &, int64_t)> fn) const {
  const Dims &s = strides;
  for (int64_t g = 0; g < shape.group; ++g)
    for (int64_t n = 0; n < shape.getGroupOutChannels(); ++n)
      for (int64_t kh = 0; kh < shape.kernelH; ++kh)
        for (int64_t kw = 0; kw < shape.kernelW; ++kw)
          for (int64_t c = 0; c < shape.getGroupChannels(); ++c)
            fn({g, n, kh, kw, c},
               g * s[0] + kh * s[1] + kw * s[2] + c * s[3] + n * s[4]);
}

void FilterSource::createInstr(InstrDraft draft) const {
  function.create(filter->getName(), std::move(draft), &before);
}

PackedFilter FilterPacker::getPacked(const FilterSource &source,
                                     const ConvolutionCandidate &candidate) {
  const ConvolutionAlgorithm *algorithm = candidate.algorithm;
  PackedFilter &packed =
      packings[source.filter->getRoot()][source.filter]
          .filters[{algorithm, algorithm->getPackingKey(candidate.parameters),
                    source.shape.group}];
  if (!packed.filter)
    packed = algorithm->pack(source, candidate.parameters);
  return packed;
}

/// Puts \p draft, a copy of \p buffer for \p user, before that.
static Instruction *createCopy(IRFunction &function, const Buffer *buffer,
                               InstrDraft draft, Instruction &user,
                               llvm::ArrayRef<LoopBound> bounds) {
  draft.bounds = bounds.vec();
  return function.create(buffer->getName(), std::move(draft), &user);
}

/// Returns the result of \p copy for a user with \p bounds; all of it is made
/// if users differ.
static Buffer *share(Instruction &copy, llvm::ArrayRef<LoopBound> bounds) {
  if (copy.getLoopBounds() != bounds)
    copy.setLoopBounds({});
  return copy.getOperand(0);
}

Buffer *FilterPacker::getDense(Buffer *buffer, Instruction &user,
                               llvm::ArrayRef<LoopBound> bounds) {
  Instruction *&copy = packings[buffer->getRoot()][buffer].dense;
  if (!copy) {
    Buffer *dense =
        function.createActivation(buffer->getName(), buffer->getType());
    copy = createCopy(function, buffer, CopyInstr::draft(dense, buffer), user,
                      bounds);
  }
  return share(*copy, bounds);
}

Buffer *FilterPacker::getFloats(Buffer *buffer, Instruction &user,
                                llvm::ArrayRef<LoopBound> bounds) {
  Instruction *&copy = packings[buffer->getRoot()][buffer].floats;
  if (!copy) {
    Buffer *floats = function.createActivation(
        buffer->getName(), buffer->getType().withKind(ElemKind::Float));
    ScalarProgram program;
    program.steps.push_back({ScalarOp::Cast, {0}, {}, ElemKind::Float});
    copy = createCopy(
        function, buffer,
        ElementWiseLoopInstr::draft(floats, std::move(program), {buffer}), user,
        bounds);
  }
  return share(*copy, bounds);
}

void FilterPacker::invalidate(const Instruction &instr) {
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (const Buffer *buffer = instr.getOperand(i); buffer && instr.writes(i))
      packings.erase(buffer->getRoot());
}
