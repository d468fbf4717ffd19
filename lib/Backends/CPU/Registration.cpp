//===- Registration.cpp - The CPU back end by its name --------------------===//

#include "glowish/Backends/BackendRegistry.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

/// The options that \p target comes from, as they were written.
static std::string formatTarget(const TargetOptions &target) {
  std::vector<std::string> options;
  auto add = [&](llvm::StringRef name, const std::string &value) {
    if (!value.empty())
      options.push_back(nameSetting(name, value));
  };
  add("target", target.triple);
  add("march", target.architecture);
  add("mcpu", target.cpu);
  add("mattr", llvm::join(target.attributes, ","));
  add("mabi", target.abi);
  return llvm::join(options, " ");
}

llvm::Expected<std::unique_ptr<CPUBackend>>
CPUBackend::createLocal(const TargetOptions &target) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(target));
  std::string options = formatTarget(target);
  // What is made for the host by default runs on it.
  if (options.empty())
    return backend;
  if (llvm::Error error = backend->checkRunsHere())
    return makeError("{0}: {1}; accepted: what runs here, or "
                     "«backend=Interpreter»",
                     options, llvm::toString(std::move(error)));
  return backend;
}

template <auto make>
static llvm::Expected<std::unique_ptr<Backend>>
create(const TargetOptions &target) {
  return make(target);
}

static const BackendRegistration
    registration({.name = "CPU",
                  .description = "native code, made by LLVM",
                  .create = create<&CPUBackend::create>,
                  .createLocal = create<&CPUBackend::createLocal>});
