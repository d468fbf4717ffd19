//===- ModelCompiler.h - From settings to what is compiled ------*- C++ -*-===//
//
// The tools, the Python module and the C interface are views of this: what they
// are given becomes settings and a source, and all that can't be together is
// refused here.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_COMPILER_MODELCOMPILER_H
#define GLOWISH_COMPILER_MODELCOMPILER_H

#include "glowish/Compiler/CompilerSettings.h"
#include "glowish/Exporter/MLIR.h"

namespace glowish {

/// The files of a model, and the receiver of warnings about it.
struct ModelSource {
  /// The model; of a model of two files both; of a bundle with several
  /// functions one model for each. Not empty.
  std::vector<std::string> paths;
  /// Gets warnings about the model and the target; null: nothing does.
  std::function<void(llvm::StringRef)> warn = nullptr;
};

/// Returns whether the model \p path may be one of two files that are one
/// model.
llvm::Expected<bool> hasSecondFile(llvm::StringRef path);

/// Options for looking at and testing a compilation, which are no settings.
struct DeveloperOptions {
  /// Members that settings state, too, are replaced by these.
  CompilationOptions options;
  /// See TargetOptions.
  bool dumpsLLVM = false, dumpsAssembly = false;
  TestingOptions testing;

  /// Returns the target that \p target states, with these options.
  TargetOptions getTarget(const TargetSettings &target) const;
};

/// The values of a symbolic dimension that a use of a model can have.
enum class SymbolForm { Value, ValueOrRange, Values };

/// Refuses symbols that have other values than \p form allows. \p several:
/// those with several values.
llvm::Error checkSymbols(llvm::ArrayRef<SymbolValues> several,
                         const ImportOptions &importOptions, SymbolForm form);

/// A compilation for training in this process.
struct PreparedTraining : PreparedCompilation {
  /// The configuration, without kind and shape of the label.
  TrainingConfig config;
};

/// A request to write a model in another format instead of compiling it.
struct ExportRequest {
  /// The option that asks for it, as messages name it: "-emit-onnx".
  std::string name;
  std::string file;
  /// The dialect of MLIR; none for ONNX.
  std::optional<MlirDialect> dialect;
  ReportRequest report = {};
};

/// Compiles a model as settings state. An error of a function that prepares
/// something names the settings that are refused; nothing has been compiled
/// then.
class ModelCompiler {
public:
  /// \p settings outlive this.
  ModelCompiler(CompilerSettings &settings, ModelSource source,
                DeveloperOptions developer = {})
      : settings(settings), source(std::move(source)),
        developer(std::move(developer)) {}

  const DeveloperOptions &getDeveloperOptions() const { return developer; }

  /// Prepares the bundle that goes to \p folder; without one nothing is
  /// written.
  llvm::Expected<BundleRequest> prepareBundle(llvm::StringRef folder);
  /// Prepares programs for this machine, unless the compilation stops before
  /// there is code.
  llvm::Expected<PreparedCompilation> prepareProgram(SymbolForm form);
  llvm::Expected<PreparedTraining> prepareTraining();
  /// Imports the model, runs the phases up to options.stopAfter, which is
  /// Lower at most, and writes what they leave: all files, or none. Without
  /// stopAfter ONNX is written as it was imported, and MLIR after Optimize.
  llvm::Error exportModel(const ExportRequest &request);

private:
  llvm::Expected<ImportOptions>
  readImportOptions(std::vector<SymbolValues> &symbols);
  llvm::Error readOptions(PreparedCompilation &prepared);
  llvm::Error createBackend(PreparedCompilation &prepared, bool isLocal);
  llvm::Expected<std::vector<FunctionSource>>
  readFunctions(std::vector<SymbolValues> &symbols);
  llvm::Error prepareHere(PreparedCompilation &prepared, CompilationUse use,
                          SymbolForm form);

  CompilerSettings &settings;
  ModelSource source;
  DeveloperOptions developer;
};

} // namespace glowish

#endif // GLOWISH_COMPILER_MODELCOMPILER_H
