//===- JIT.cpp - Running an object in this process ------------------------===//

#include "JIT.h"
#include "Bundle/glowish_threads.h"
#include "ModuleEmitter.h"
#include "glowish/Backends/RunErrors.h"
#include "glowish/Plugin/ExternalFunction.h"
#include "glowish/Support/Error.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/TargetParser/Host.h"

using namespace glowish;
using llvm::orc::ExecutorAddr;

namespace {

/// A loaded object. Args: the type of the clock, where the program is timed.
template <typename... Args> class JITProgram final : public Executable {
public:
  JITProgram(std::unique_ptr<llvm::orc::LLJIT> jit, ExecutorAddr entry,
             Args... args)
      : jit(std::move(jit)), entry(entry.toPtr<Entry>()), args(args...) {}

  llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                  uint8_t *activations) const override {
    int status = std::apply(
        entry,
        std::tuple_cat(std::tuple(constants, mutables, activations), args));
    if (status == int(EntryStatus::TripCount))
      return makeTripCountError();
    if (status == int(EntryStatus::Function))
      return makeFunctionError();
    if (status != int(EntryStatus::Success))
      return makeError("the compiled program returned status {0}", status);
    return llvm::Error::success();
  }

private:
  using Entry = int (*)(const uint8_t *, uint8_t *, uint8_t *, Args...);
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Entry entry;
  std::tuple<Args...> args;
};

} // namespace

static void markTime(InstrClock *clock) { clock->mark(); }

/// Gives objects the functions of this process that they call.
static llvm::Error defineFunctions(llvm::orc::LLJIT &jit) {
  auto flags = llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable;
  llvm::orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {ExecutorAddr::fromPtr(function),
                                          flags};
  };
  define(parallelForName, &glowish_parallel_for);
  define(markName, &markTime);
  forEachExternalFunction([&](const ExternalFunction &function) {
    define(function.name, function.kernel);
  });
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
}

llvm::Expected<std::unique_ptr<Executable>>
glowish::loadObject(llvm::ArrayRef<char> object, InstrClock *clock) {
  // Only objects are loaded. Stating a target keeps LLJIT from detecting the
  // features of the processor, which would take most of the time.
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(
      llvm::Triple(llvm::sys::getProcessTriple())));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::orc::LLJIT> jit,
                           builder.create());
  GLOWISH_RETURN_IF_ERROR(defineFunctions(*jit));
  GLOWISH_RETURN_IF_ERROR(
      jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
          llvm::StringRef(object.data(), object.size()), "glowish")));
  GLOWISH_ASSIGN_OR_RETURN(ExecutorAddr entry, jit->lookup(jitEntryName));
  if (clock)
    return std::make_unique<JITProgram<InstrClock *>>(std::move(jit), entry,
                                                      clock);
  return std::make_unique<JITProgram<>>(std::move(jit), entry);
}
