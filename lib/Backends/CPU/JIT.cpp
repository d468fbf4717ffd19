//===- JIT.cpp - Running an object in this process ------------------------===//

#include "JIT.h"
#include "ModuleEmitter.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Distributed/AllReduce.h"
#include "glowish/Plugin/ExternalFunction.h"
#include "glowish/Support/Error.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <array>
#include <utility>

using namespace glowish;
using llvm::orc::ExecutorAddr;

namespace {

/// Code that is loaded, and its entry.
struct LoadedObject {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  ExecutorAddr entry;
  /// Null where the entry doesn't tell what failed.
  const char *failureMessages = nullptr;
};

/// The error of an entry of \p object that returned \p status.
llvm::Error makeStatusError(const LoadedObject &object, int status) {
  if (status == int(EntryStatus::Success))
    return llvm::Error::success();
  int number = status >> failureNumberShift;
  if (number == 0 || !object.failureMessages)
    return makeError("the compiled program returned status {0}", status);
  llvm::StringRef message(object.failureMessages);
  while (--number > 0)
    message = llvm::StringRef(message.end() + 1);
  return makeError("{0}", message);
}

/// An object whose entry has the regions alone.
class LoadedFunction final : public Executable {
public:
  explicit LoadedFunction(LoadedObject object)
      : object(std::move(object)), entry(this->object.entry.toPtr<Entry>()) {}

  llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                  uint8_t *activations, uint8_t *const *bound) const override {
    assert(!bound && "the entry binds no placeholders");
    return makeStatusError(object, entry(constants, mutables, activations));
  }

private:
  using Entry = int (*)(const uint8_t *, uint8_t *, uint8_t *);
  LoadedObject object;
  Entry entry;
};

/// A loaded program. Clock: the type of the clock, where it is timed.
template <typename... Clock> class JITProgram final : public Executable {
public:
  JITProgram(LoadedObject object, Clock... clock)
      : object(std::move(object)), entry(this->object.entry.toPtr<Entry>()),
        clock(clock...) {}

  llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                  uint8_t *activations, uint8_t *const *bound) const override {
    return makeStatusError(
        object, std::apply(entry, std::tuple_cat(std::tuple(constants, mutables,
                                                            activations, bound),
                                                 clock)));
  }

private:
  using Entry = int (*)(const uint8_t *, uint8_t *, uint8_t *, uint8_t *const *,
                        Clock...);
  LoadedObject object;
  Entry entry;
  std::tuple<Clock...> clock;
};

} // namespace

static void markTime(InstrClock *clock) { clock->mark(); }

/// Gives objects the functions of this process that they call.
static llvm::Error defineFunctions(llvm::orc::LLJIT &jit,
                                   ParallelForFn parallelFor) {
  auto flags = llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable;
  llvm::orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {ExecutorAddr::fromPtr(function),
                                          flags};
  };
  define(parallelForName, parallelFor);
  define(markName, &markTime);
  define(startAllReduceName, &glowish_start_all_reduce);
  define(finishAllReduceName, &glowish_finish_all_reduce);
  forEachExternalFunction([&](const ExternalFunction &function) {
    define(function.name, function.kernel);
  });
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
}

static llvm::Expected<LoadedObject>
load(llvm::ArrayRef<char> object,
     ParallelForFn parallelFor = &glowish_parallel_for) {
  // Only objects are loaded. Stating a target keeps LLJIT from detecting the
  // features of the processor, which would take most of the time.
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(
      llvm::Triple(llvm::sys::getProcessTriple())));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::orc::LLJIT> jit,
                           builder.create());
  GLOWISH_RETURN_IF_ERROR(defineFunctions(*jit, parallelFor));
  GLOWISH_RETURN_IF_ERROR(
      jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
          llvm::StringRef(object.data(), object.size()), "glowish")));
  GLOWISH_ASSIGN_OR_RETURN(ExecutorAddr entry, jit->lookup(jitEntryName));
  return LoadedObject{std::move(jit), entry};
}

llvm::Expected<std::unique_ptr<Executable>>
glowish::loadObject(llvm::ArrayRef<char> object) {
  GLOWISH_ASSIGN_OR_RETURN(LoadedObject loaded, load(object));
  return std::make_unique<LoadedFunction>(std::move(loaded));
}

template <int NumThreads>
static void runOnThreads(void (*task)(void *arguments, int64_t begin,
                                      int64_t end),
                         void *arguments, int64_t count) {
  glowish_parallel_for_on(NumThreads, task, arguments, count);
}

template <int... Before>
static std::array<ParallelForFn, sizeof...(Before)>
listParallelFor(std::integer_sequence<int, Before...>) {
  return {&runOnThreads<Before + 1>...};
}

ParallelForFn glowish::getParallelFor(int64_t numThreads) {
  // The function that a program calls is not told which program it is.
  static const auto functions =
      listParallelFor(std::make_integer_sequence<int, maxThreads>());
  return functions[size_t(std::clamp<int64_t>(numThreads, 1, maxThreads) - 1)];
}

llvm::Expected<std::unique_ptr<Executable>>
glowish::loadProgram(llvm::ArrayRef<char> object, InstrClock *clock,
                     ParallelForFn parallelFor) {
  GLOWISH_ASSIGN_OR_RETURN(LoadedObject loaded, load(object, parallelFor));
  GLOWISH_ASSIGN_OR_RETURN(ExecutorAddr messages,
                           loaded.jit->lookup(failureMessagesName));
  loaded.failureMessages = messages.toPtr<const char *>();
  if (clock)
    return std::make_unique<JITProgram<InstrClock *>>(std::move(loaded), clock);
  return std::make_unique<JITProgram<>>(std::move(loaded));
}
