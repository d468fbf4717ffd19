//===- JIT.cpp - Running an object in this process ------------------------===//

#include "JIT.h"
#include "Bundle/glowish_threads.h"
#include "ModuleEmitter.h"
#include "glowish/Support/Error.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace glowish;

namespace {

class JITProgram final : public Executable {
public:
  using Entry = int (*)(const uint8_t *, uint8_t *, uint8_t *);
  JITProgram(std::unique_ptr<llvm::orc::LLJIT> jit, Entry entry)
      : jit(std::move(jit)), entry(entry) {}

  llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                  uint8_t *activations) const override {
    int status = entry(constants, mutables, activations);
    if (status != int(EntryStatus::Success))
      return makeError("the compiled program returned status {0}", status);
    return llvm::Error::success();
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Entry entry;
};

} // namespace

llvm::Expected<std::unique_ptr<Executable>>
glowish::loadObject(llvm::ArrayRef<char> object) {
  GLOWISH_TRY(std::unique_ptr<llvm::orc::LLJIT> jit,
              llvm::orc::LLJITBuilder().create());
  GLOWISH_CHECK(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object.data(), object.size()), "glowish")));
  GLOWISH_CHECK(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(
      {{jit->mangleAndIntern(parallelForName),
        {llvm::orc::ExecutorAddr::fromPtr(&glowish_parallel_for),
         llvm::JITSymbolFlags::Exported}}})));
  GLOWISH_TRY(llvm::orc::ExecutorAddr address, jit->lookup(jitEntryName));
  auto entry = address.toPtr<JITProgram::Entry>();
  return std::make_unique<JITProgram>(std::move(jit), entry);
}
