//===- CompilationSettings.h - What a model is compiled to ------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_COMPILATIONSETTINGS_H
#define GLOWISH_COMPILER_COMPILATIONSETTINGS_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// The back end that a model is compiled by, and the memory that its program
/// may need.
class CompilationSettings : public SettingGroup {
public:
  /// Adds what is stated to \p options.
  llvm::Error apply(CompilationOptions &options) const;
  /// Loads what -load names, once for the process: it registers back ends and
  /// passes, which other settings may name.
  llvm::Error loadPlugins() const;
  /// The back end \p name, which -\p option has been given, of those that there
  /// are after loadPlugins(). \p target is used by "CPU". Where \p isLocal, one
  /// that runs what it compiles: the error says why this machine can't run code
  /// for \p target.
  llvm::Expected<std::unique_ptr<Backend>>
  createBackend(llvm::StringRef option, llvm::StringRef name,
                const TargetOptions &target, bool isLocal) const;
  llvm::StringRef getBackendName() const { return backend; }

private:
  NumberSetting<uint64_t> maxActivationBytes{
      *this, "max-activation-bytes", "bytes",
      "The most memory for activations: where the model needs more, layers "
      "with large images are computed in patches, which takes longer; an error "
      "if that is not enough",
      0};
  TextSetting memoryRegions{
      *this, "memory-regions", "name:bytes[K|M],...",
      "The memories that activations are divided among, the fastest first, "
      "each with its most bytes; what is accessed most goes into the first "
      "ones, and a bundle's entry has a pointer for each"};
  SwitchSetting placesIOInArena{
      *this, "io-in-activations",
      "Inputs and outputs have their places in the memory for activations and "
      "share it: a run destroys the inputs"};
  TextSetting backend{*this, "backend", "name",
                      "CPU or Interpreter, or one that «load» brings", "CPU"};
  ListSetting plugins{
      *this, "load", "file",
      "Load a shared library that brings back ends, passes or formats of "
      "models (may be repeated)"};
};

} // namespace glowish

#endif // GLOWISH_COMPILER_COMPILATIONSETTINGS_H
