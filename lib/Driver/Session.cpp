//===- Session.cpp - Running a compiled model in this process -------------===//

#include "glowish/Driver/Session.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

static Tensor makeRegion(uint64_t size) {
  return Tensor(Type(ElemKind::UInt8, {int64_t(size)}));
}

llvm::Expected<std::unique_ptr<Session>>
Session::create(Compilation &compilation, InstrClock *clock) {
  std::unique_ptr<Session> session(new Session(compilation));
  const IRFunction &ir = compilation.getIR();
  const MemoryPlan &plan = compilation.getPlan();
  GLOWISH_TRY(session->executable,
              compilation.getBackend().compile(ir, plan, clock));
  session->constants = makeConstantRegion(ir, plan);
  session->mutables = makeRegion(plan.mutableSize);
  session->activations = makeRegion(plan.activationSize);
  for (const auto &buffer : ir.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      session->placeholders.push_back(buffer.get());
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

llvm::Error Session::setInput(const Buffer *placeholder,
                              const Tensor &tensor) {
  if (tensor.getType() != placeholder->getType())
    return makeError("input '{0}' is {1}, not {2}",
                     placeholder->getModelName(),
                     placeholder->getType().str(), tensor.getType().str());
  Tensor target = getTensor(placeholder);
  llvm::copy(tensor.getByteRange(), static_cast<uint8_t *>(target.getBytes()));
  return llvm::Error::success();
}

Tensor Session::getTensor(const Buffer *placeholder) const {
  auto *base = static_cast<uint8_t *>(const_cast<void *>(mutables.getBytes()));
  return Tensor::borrow(placeholder->getType(),
                        base + compilation.getPlan().getOffset(placeholder));
}

llvm::Error Session::run() {
  return executable->run(constants.data<uint8_t>().data(),
                         mutables.data<uint8_t>().data(),
                         activations.data<uint8_t>().data());
}
