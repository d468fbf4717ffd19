//===- IRVerifier.cpp - Invariants of the IR ------------------------------===//

#include "InstrTypes.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/StridedLayout.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

static llvm::Error verifyView(const Buffer &view) {
  const Buffer &root = *view.getRoot();
  if (root.getType().getKind() != view.getType().getKind())
    return makeError("view '{0}' has another element kind than '{1}'",
                     view.getName(), root.getName());
  StridedLayout layout = StridedLayout::of(view);
  // Passes compute with the strides and offsets of views without elements, too.
  for (int64_t stride : layout.strides)
    if (stride < -maxTensorBytes || stride > maxTensorBytes)
      return makeError("view '{0}' has the stride {1}; accepted: {2} to {3}",
                       view.getName(), stride, -maxTensorBytes, maxTensorBytes);
  // Each dimension may add as many elements as there are.
  constexpr int64_t maxEmptyOffset = maxTensorBytes << 8;
  if (layout.isEmpty() && layout.offset >= 0 && layout.offset <= maxEmptyOffset)
    return llvm::Error::success();
  auto bounds = layout.getBounds();
  if (!bounds || bounds->first < 0 ||
      bounds->second >= root.getType().getNumElements())
    return makeError("view '{0}' reaches outside of '{1}'", view.getName(),
                     root.getName());
  return llvm::Error::success();
}

static std::string describe(const Instruction &instr) {
  return llvm::formatv("{0} '{1}': ", instr.getKindName(), instr.getName());
}

static llvm::Error verifyOperand(const Instruction &instr, unsigned index) {
  const Buffer *buffer = instr.getOperand(index);
  const OperandInfo &info = instr.getOperandInfo(index);
  if (!buffer)
    return llvm::Error::success();
  if (!info.isStrided && !buffer->isDense())
    return makeError("operand '{0}' is a strided view ('{1}'); it must be "
                     "dense",
                     info.name, buffer->getName());
  if (!instr.writes(index))
    return llvm::Error::success();
  if (buffer->getRoot()->getKind() == Buffer::Kind::Constant)
    return makeError("operand '{0}' writes to the constant '{1}'", info.name,
                     buffer->getRoot()->getName());
  if (!StridedLayout::of(*buffer).isInjective())
    return makeError("operand '{0}' writes through '{1}', which may show an "
                     "element twice",
                     info.name, buffer->getName());
  return llvm::Error::success();
}

/// Instructions move the integers of quantized kinds and ignore scales, which a
/// view cannot have for a dimension.
static bool holdsSame(const Type &a, const Type &b) {
  return a.getKind() == b.getKind() && a.getShape() == b.getShape();
}

/// An operand shares elements with an operand that is written only where the
/// record allows it, and then each with its own index. It may be another part
/// of the same buffer.
static llvm::Error verifyAliases(const Instruction &instr, unsigned out) {
  const Buffer *target = instr.getOperand(out);
  for (unsigned in = 0; in < instr.getNumOperands(); ++in) {
    const Buffer *other = instr.getOperand(in);
    if (in == out || !other || other->getRoot() != target->getRoot())
      continue;
    StridedLayout written = StridedLayout::of(*target),
                  read = StridedLayout::of(*other);
    bool isInPlace = instr.getOperandInfo(in).isInPlace &&
                     holdsSame(other->getType(), target->getType()) &&
                     isSame(written, read);
    if (!isInPlace && !areDisjoint(written, read))
      return makeError("operand '{0}' ('{1}') overlaps '{2}', which is written",
                       instr.getOperandInfo(in).name, other->getName(),
                       target->getName());
  }
  return llvm::Error::success();
}

static llvm::Error verifyTypes(const Instruction &instr) {
  const OpInfo &info = instr.getInfo();
  llvm::SmallVector<bool, 4> present;
  for (const Buffer *buffer : instr.getRecordOperands())
    present.push_back(buffer);
  GLOWISH_RETURN_IF_ERROR(checkStructure(info, present, instr.getAttrs()));
  InstrTypes operands(instr);
  GLOWISH_ASSIGN_OR_RETURN(TypeList types, info.inferTypes(operands.getView()));
  for (unsigned i = 0; i < types.size(); ++i)
    if (!holdsSame(types[i], *operands.outputs[i]))
      return makeError("result is {0}; the operands make it {1}",
                       operands.outputs[i]->str(), types[i].str());
  const Buffer *predicate = instr.getPredicate();
  return predicate ? checkPredicate(info, predicate->getType(), types)
                   : llvm::Error::success();
}

namespace {

/// Follows the activations through the instructions.
class LifetimeVerifier {
public:
  llvm::Error visit(const Instruction &instr);
  llvm::Error finish(const IRFunction &function, IRFault &fault) const;

private:
  llvm::DenseSet<const Buffer *> live, written, ended;
};

} // namespace

llvm::Error LifetimeVerifier::visit(const Instruction &instr) {
  if (auto *alloc = llvm::dyn_cast<AllocInstr>(&instr)) {
    const Buffer *buffer = alloc->getBuffer();
    if (buffer->getKind() != Buffer::Kind::Activation)
      return makeError("'{0}' is no activation", buffer->getName());
    if (ended.count(buffer) || !live.insert(buffer).second)
      return makeError("'{0}' is allocated twice", buffer->getName());
    return llvm::Error::success();
  }
  if (auto *dealloc = llvm::dyn_cast<DeallocInstr>(&instr)) {
    const Buffer *buffer = dealloc->getBuffer();
    if (!live.erase(buffer))
      return makeError("'{0}' is not live", buffer->getName());
    ended.insert(buffer);
    return llvm::Error::success();
  }
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    if (!instr.getOperand(i))
      continue;
    const Buffer *root = instr.getOperand(i)->getRoot();
    if (root->getKind() != Buffer::Kind::Activation)
      continue;
    if (!live.count(root))
      return makeError("'{0}' is used outside of its lifetime",
                       root->getName());
    if (instr.reads(i) && instr.getOperand(i)->getType().getNumElements() &&
        !written.count(root))
      return makeError("'{0}' is read before it is written", root->getName());
  }
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (instr.getOperand(i) && instr.writes(i))
      written.insert(instr.getOperand(i)->getRoot());
  return llvm::Error::success();
}

llvm::Error LifetimeVerifier::finish(const IRFunction &function,
                                     IRFault &fault) const {
  for (const auto &buffer : function.getBuffers())
    if (live.count(buffer.get())) {
      fault.buffer = buffer.get();
      return makeError("'{0}' is never deallocated", buffer->getName());
    }
  return llvm::Error::success();
}

/// A body's storage is a parameter, which it only reads, or a result, which it
/// only writes.
static llvm::Error verifyBody(const IRFunction &body, IRFault &fault) {
  for (const auto &buffer : body.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable &&
        buffer->isInput() == buffer->isOutput()) {
      fault.buffer = buffer.get();
      return makeError("'{0}' is neither a parameter nor a result of the body",
                       buffer->getName());
    }
  llvm::DenseSet<const Buffer *> written;
  for (const Instruction &instr : body.getInstrs())
    for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
      const Buffer *buffer = instr.getOperand(i);
      if (!buffer || buffer->getRoot()->getKind() != Buffer::Kind::Mutable)
        continue;
      const Buffer *root = buffer->getRoot();
      if (instr.writes(i) && root->isInput()) {
        fault.instr = &instr;
        return makeError("the parameter '{0}' of the body is written",
                         root->getName());
      }
      if (instr.writes(i))
        written.insert(root);
    }
  for (const Buffer *result : body.getOutputs())
    if (!written.count(result) && result->getType().getNumElements()) {
      fault.buffer = result;
      return makeError("the result '{0}' of the body is not written",
                       result->getName());
    }
  return verify(body, fault);
}

/// Extents are an output of their own: one number a dimension.
static llvm::Error verifyExtents(const Buffer &buffer) {
  const Buffer *extents = buffer.getExtents();
  Type type(ElemKind::Int64, {int64_t(buffer.getType().getRank())});
  if (!extents ||
      (extents->getType() == type && extents->isOutput() && buffer.isOutput()))
    return llvm::Error::success();
  return makeError(
      "the extents '{0}' of '{1}' are {2}; accepted: an output {3} "
      "of an output",
      extents->getName(), buffer.getName(), extents->getType().str(),
      type.str());
}

static llvm::Error verifyBuffer(const Buffer &buffer) {
  GLOWISH_RETURN_IF_ERROR(verifyExtents(buffer));
  return buffer.isView() ? verifyView(buffer) : llvm::Error::success();
}

/// \p symbols: those that the function's inputs state.
static llvm::Error verifyLoopBounds(const Instruction &instr,
                                    const SymbolRanges &symbols) {
  for (const LoopBound &bound : instr.getLoopBounds()) {
    const Buffer *operand = instr.getOperand(bound.operand);
    int64_t extent = operand->getType().getDim(bound.dim);
    if (symbols.isAtMost(0, bound.extent) != Certainty::Yes ||
        symbols.isAtMost(bound.extent, extent) != Certainty::Yes)
      return makeError("the bound of dimension {0} of operand '{1}' is not "
                       "between 0 and {2} for all inputs",
                       bound.dim, instr.getOperandInfo(bound.operand).name,
                       extent);
  }
  return llvm::Error::success();
}

static llvm::Error verifyInstr(const Instruction &instr,
                               const SymbolRanges &symbols,
                               LifetimeVerifier &lifetimes, IRFault &fault) {
  if (!instr.isLifetimeMarker()) {
    GLOWISH_RETURN_IF_ERROR(verifyTypes(instr));
    for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
      GLOWISH_RETURN_IF_ERROR(verifyOperand(instr, i));
      if (instr.getOperand(i) && instr.writes(i))
        GLOWISH_RETURN_IF_ERROR(verifyAliases(instr, i));
    }
  }
  GLOWISH_RETURN_IF_ERROR(verifyLoopBounds(instr, symbols));
  GLOWISH_RETURN_IF_ERROR(lifetimes.visit(instr));
  for (const IRFunction *body : getBodies(instr))
    GLOWISH_RETURN_IF_ERROR(verifyBody(*body, fault));
  return llvm::Error::success();
}

/// Also fills \p symbols.
static llvm::Error verifyInputs(const IRFunction &function,
                                SymbolRanges &symbols) {
  std::vector<PlaceholderExtents> extents;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      extents.push_back({buffer->getName(), buffer->getType(),
                         buffer->isInput(), buffer->isOutput(),
                         buffer->getInputExtents()});
  symbols = getSymbolRanges(extents);
  return verifyInputExtents(extents);
}

llvm::Error glowish::verify(const IRFunction &function, IRFault &fault) {
  for (const auto &buffer : function.getBuffers())
    if (llvm::Error error = verifyBuffer(*buffer)) {
      fault.buffer = buffer.get();
      return error;
    }
  SymbolRanges symbols;
  GLOWISH_RETURN_IF_ERROR(verifyInputs(function, symbols));
  LifetimeVerifier lifetimes;
  for (const Instruction &instr : function.getInstrs())
    if (llvm::Error error = verifyInstr(instr, symbols, lifetimes, fault)) {
      if (!fault.instr && !fault.buffer)
        fault.instr = &instr;
      return addContext(std::move(error), describe(instr));
    }
  return lifetimes.finish(function, fault);
}

llvm::Error glowish::verify(const IRFunction &function) {
  IRFault fault;
  return verify(function, fault);
}
