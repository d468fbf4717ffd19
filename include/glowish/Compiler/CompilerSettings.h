//===- CompilerSettings.h - All that can be stated --------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_COMPILERSETTINGS_H
#define GLOWISH_COMPILER_COMPILERSETTINGS_H

#include "glowish/Compiler/BundleCompilation.h"
#include "glowish/Compiler/BundleSettings.h"
#include "glowish/Compiler/CompilationSettings.h"
#include "glowish/Compiler/ModelSettings.h"
#include "glowish/Compiler/QuantizationSettings.h"
#include "glowish/Compiler/TargetSettings.h"
#include "glowish/Compiler/TrainingSettings.h"

namespace glowish {

/// All settings of one compilation, for what finds them by name. They have the
/// names of model-compiler's options. One thread at a time.
class CompilerSettings {
public:
  /// In the order of their groups.
  std::vector<Setting *> getSettings() const;
  /// Null if no setting is called \p name.
  Setting *find(llvm::StringRef name) const;
  /// Setting::set of the setting \p name. The error names the setting that
  /// looks most like a name which there is not.
  llvm::Error set(llvm::StringRef name, llvm::StringRef text);

  ModelSettings model;
  CompilationSettings compilation;
  TargetSettings target;
  QuantizationSettings quantization;
  BundleSettings bundle;
  TrainingSettings training;
  TrainingBundleSettings trainingBundle;

private:
  std::vector<const SettingGroup *> getGroups() const;
};

/// What settings say of the compilation of a model.
struct StatedCompilation {
  ImportOptions importOptions;
  /// Symbols with several values or ranges and values.
  std::vector<SymbolValues> symbols;
  /// Without a tuner.
  CompilationOptions options;
  /// The functions of a bundle that has several; each has import options of its
  /// own then.
  std::vector<FunctionSource> functions = {};
};

/// For the model at \p path. Messages of the importer go to \p warn; null:
/// nowhere. \p takesFunctions: settings may name several functions, as those of
/// a bundle.
llvm::Expected<StatedCompilation>
readCompilation(CompilerSettings &settings, llvm::StringRef path,
                std::function<void(llvm::StringRef)> warn,
                bool takesFunctions = false);

/// A back end, and what tunes its kernels; null where the settings do not ask
/// for that.
struct TunedBackend {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<KernelTuner> tuner;
};

/// Where \p isLocal, the back end runs what it compiles.
llvm::Expected<TunedBackend>
createTunedBackend(const CompilerSettings &settings, bool isLocal,
                   const TestingOptions &testing = {});

/// Both together. The back end is the caller's to keep.
struct PreparedCompilation : StatedCompilation, TunedBackend {};

/// For a program that runs here, of the model at \p path. An error names a
/// setting that is one of bundles alone. Messages of the importer go to
/// \p warn; null: nowhere.
llvm::Expected<PreparedCompilation>
prepareProgram(CompilerSettings &settings, llvm::StringRef path,
               std::function<void(llvm::StringRef)> warn);

/// What is to be made, and the back end that makes it.
struct PreparedBundle : TunedBackend {
  BundleRequest request;
};

/// For the model at \p path and its bundle in \p folder, as model-compiler does
/// with -emit-bundle. Messages of the importer and about the target go to
/// \p warn; null: nowhere.
llvm::Expected<PreparedBundle>
prepareBundle(CompilerSettings &settings, llvm::StringRef path,
              llvm::StringRef folder,
              std::function<void(llvm::StringRef)> warn);

} // namespace glowish

#endif // GLOWISH_COMPILER_COMPILERSETTINGS_H
