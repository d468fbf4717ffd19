//===- ConstantPool.cpp - Constants shared by programs --------------------===//

#include "glowish/IR/ConstantPool.h"
#include "glowish/IR/Instrs.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

const ConstantPool::Entry &
ConstantPool::findOrAdd(const std::shared_ptr<const Tensor> &payload) {
  auto known = byPayload.find(payload.get());
  if (known != byPayload.end())
    return entries[known->second];
  std::vector<size_t> &candidates = bySize[payload->getSizeInBytes()];
  std::optional<uint64_t> fingerprint;
  if (!candidates.empty())
    fingerprint = payload->getFingerprint();
  for (size_t candidate : candidates) {
    Entry &entry = entries[candidate];
    if (!entry.fingerprint)
      entry.fingerprint = entry.payload->getFingerprint();
    if (entry.fingerprint == fingerprint &&
        entry.payload->isBitwiseEqual(*payload))
      return entry;
  }
  candidates.push_back(entries.size());
  byPayload[payload.get()] = entries.size();
  entries.push_back({payload, size, fingerprint});
  size = llvm::alignTo(size + payload->getSizeInBytes(), alignment);
  return entries.back();
}

static void moveUses(Buffer *from, Buffer *to) {
  while (!from->getUsers().empty()) {
    Instruction *user = from->getUsers().front();
    for (unsigned i = 0; i < user->getNumOperands(); ++i)
      if (user->getOperand(i) == from)
        user->setOperand(i, to);
  }
}

/// Puts a constant with \p payload, which is equal to its own, in the place of
/// \p old.
static void replaceConstant(IRFunction &function, Buffer *old,
                            std::shared_ptr<const Tensor> payload) {
  Buffer *fresh = function.createConstant(old->getName(), std::move(payload));
  while (!old->getViews().empty()) {
    Buffer *view = old->getViews().front();
    moveUses(view, function.createView(view->getName(), fresh, view->getType(),
                                       view->getOffset(), view->getStrides()));
    function.eraseBuffer(view);
  }
  moveUses(old, fresh);
  function.eraseBuffer(old);
}

void ConstantPool::share(IRFunction &function) {
  for (IRFunction *body : getNested(function))
    share(*body);
  std::vector<Buffer *> constants;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Constant)
      constants.push_back(buffer.get());
  for (Buffer *buffer : constants) {
    const Entry &entry = findOrAdd(buffer->getPayload());
    sizeUnshared = llvm::alignTo(
        sizeUnshared + buffer->getType().getSizeInBytes(), alignment);
    if (entry.payload != buffer->getPayload())
      replaceConstant(function, buffer, entry.payload);
  }
}

void ConstantPool::place(const IRFunction &function, MemoryPlan &plan) const {
  forEachFunction(function, [&](const IRFunction &each) {
    for (const auto &buffer : each.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Constant)
        plan.offsets[buffer.get()] =
            entries[byPayload.find(&buffer->getTensor())->second].offset;
  });
  plan.constantSize = size;
}

Tensor ConstantPool::makeRegion() const {
  Tensor region(Type(ElemKind::UInt8, {int64_t(size)}));
  for (const Entry &entry : entries)
    placeConstant(*entry.payload, region, entry.offset);
  return region;
}
