//===- Session.cpp - Running a compiled model in this process -------------===//

#include "glowish/Driver/Session.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <set>

using namespace glowish;

static Tensor makeRegion(uint64_t size) {
  return Tensor(Type(ElemKind::UInt8, {int64_t(size)}));
}

/// Checks that the system has the memory for \p plan. A model may declare any
/// extents: an excess is an error of the input, and must not abort.
static llvm::Error checkMemory(const MemoryPlan &plan) {
  uint64_t size = plan.constantSize + plan.mutableSize + plan.activationSize;
  // The compiler would remove an allocation that is not used.
  void *volatile memory = std::calloc(size + Tensor::alignment, 1);
  if (!memory)
    return makeError("there is no memory for the model: {0} bytes of weights, "
                     "{1} of inputs and outputs and {2} of activations",
                     plan.constantSize, plan.mutableSize, plan.activationSize);
  std::free(memory);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Session>>
Session::create(Backend &backend, const IRFunction &function,
                const MemoryPlan &plan, InstrClock *clock,
                std::shared_ptr<const Tensor> constants) {
  std::unique_ptr<Session> session(new Session(plan));
  GLOWISH_RETURN_IF_ERROR(checkMemory(plan));
  GLOWISH_ASSIGN_OR_RETURN(session->executable,
                           backend.compile(function, plan, clock));
  if (!constants)
    constants =
        std::make_shared<const Tensor>(makeConstantRegion(function, plan));
  session->constants = std::move(constants);
  session->mutables = makeRegion(plan.mutableSize);
  session->activations = makeRegion(plan.activationSize);
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    session->placeholders.push_back(buffer.get());
    if (buffer->isInput() && plan.isInArena(buffer.get()))
      session->arenaInputs.insert({buffer.get(), Tensor(buffer->getType())});
  }
  return session;
}

llvm::Expected<const Buffer *>
Session::findPlaceholder(llvm::StringRef name) const {
  std::vector<std::string> names;
  for (const Buffer *buffer : placeholders) {
    if (buffer->getModelName() == name)
      return buffer;
    names.push_back(("'" + buffer->getModelName() + "'").str());
  }
  return makeError("the model has no input or output '{0}'; it has {1}", name,
                   llvm::join(names, ", "));
}

llvm::Error Session::setInput(const Buffer *placeholder, const Tensor &tensor) {
  if (tensor.getType() != placeholder->getType())
    return makeError("input '{0}' is {1}, not {2}", placeholder->getModelName(),
                     placeholder->getType().str(), tensor.getType().str());
  Tensor target = getTensor(placeholder);
  llvm::copy(tensor.getByteRange(), static_cast<uint8_t *>(target.getBytes()));
  return llvm::Error::success();
}

uint8_t *Session::getAddress(const Buffer *placeholder) const {
  const Tensor &region = plan.isInArena(placeholder) ? activations : mutables;
  auto *base = static_cast<uint8_t *>(const_cast<void *>(region.getBytes()));
  return base + plan.getOffset(placeholder);
}

Tensor Session::getTensor(const Buffer *placeholder) const {
  auto input = arenaInputs.find(placeholder);
  uint8_t *bytes = input == arenaInputs.end()
                       ? getAddress(placeholder)
                       : static_cast<uint8_t *>(
                             const_cast<void *>(input->second.getBytes()));
  return Tensor::borrow(placeholder->getType(), bytes);
}

std::vector<const Buffer *> Session::getOutputs() const {
  std::set<const Buffer *> extents;
  for (const Buffer *buffer : placeholders)
    extents.insert(buffer->getExtents());
  std::vector<const Buffer *> outputs;
  for (const Buffer *buffer : placeholders)
    if (buffer->isOutput() && !extents.count(buffer))
      outputs.push_back(buffer);
  return outputs;
}

/// The elements of \p tensor below \p shape.
static Tensor cut(const Tensor &tensor, DimsRef shape) {
  Tensor result(tensor.getType().withShape(shape));
  int64_t size = getElemSize(tensor.getType().getKind());
  Dims strides = getDenseStrides(tensor.getType().getShape());
  Dims ownStrides = getDenseStrides(shape);
  auto *to = static_cast<uint8_t *>(result.getBytes());
  auto *from = static_cast<const uint8_t *>(tensor.getBytes());
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    int64_t source = 0;
    for (unsigned d = 0; d < shape.size(); ++d)
      source += i / ownStrides[d] % shape[d] * strides[d];
    std::copy_n(from + source * size, size, to + i * size);
  }
  return result;
}

Tensor Session::getOutput(const Buffer *placeholder) const {
  Tensor whole = getTensor(placeholder);
  if (!placeholder->getExtents())
    return whole;
  Tensor extents = getTensor(placeholder->getExtents());
  Dims shape;
  for (auto [d, bound] : llvm::enumerate(placeholder->getShape()))
    shape.push_back(std::clamp<int64_t>(extents.getAsInt(d), 0, bound));
  return cut(whole, shape);
}

llvm::Error Session::run() {
  for (const auto &[buffer, tensor] : arenaInputs)
    llvm::copy(tensor.getByteRange(), getAddress(buffer));
  return executable->run(constants->data<uint8_t>().data(),
                         mutables.data<uint8_t>().data(),
                         activations.data<uint8_t>().data());
}
