//===- BundleCompilation.h - From a model to a bundle -----------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_BUNDLECOMPILATION_H
#define GLOWISH_COMPILER_BUNDLECOMPILATION_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Backends/Backend.h"
#include "glowish/Backends/Bundle.h"
#include "glowish/Backends/KernelTuner.h"
#include "glowish/Driver/ModelFunctions.h"
#include "glowish/Driver/ModelVariants.h"

namespace glowish {

class Report;

/// A model, and all that decides about its programs. It owns its back end and
/// tuner, so that another thread may go on with it; what `options` and
/// `importOptions.warn` refer to outlives it.
struct PreparedCompilation {
  std::unique_ptr<Backend> backend;
  /// The tuner of the kernels; null where that is not asked for.
  std::unique_ptr<KernelTuner> tuner;
  /// See Compilation::import.
  std::string path;
  ImportOptions importOptions;
  /// See ModelVariants::open.
  std::vector<SymbolValues> symbols;
  /// With the tuner.
  CompilationOptions options;
};

/// A report about a compilation.
struct ReportRequest {
  /// Called with the report when it is complete, while the programs are there.
  /// Null: there is no report.
  std::function<llvm::Error(const Report &)> write = nullptr;
  /// See Report.
  bool hasTimes = true;
};

/// How a bundle learns.
struct TrainingRequest {
  TrainingConfig config;
  /// Values of symbolic dimensions in the step, where they differ from
  /// inference.
  std::map<std::string, int64_t> stepSymbols;
  /// See TrainingCompilation::compile.
  bool hasExternalGradients = false;
};

/// A model, and the bundle that is made of it.
struct BundleRequest : PreparedCompilation {
  /// Without a folder nothing is written. makeBundle sets the model's hash.
  BundleOptions bundle;
  /// Where there is no folder: generate the code for what the back end prints
  /// of it.
  bool printsCode = false;
  std::optional<TrainingRequest> training = std::nullopt;
  /// The functions of a bundle that has several, each with an entry; path and
  /// importOptions are not read then.
  std::vector<FunctionSource> functions = {};
  /// Prove the memory plans before anything is written; where this is not
  /// empty, write their certificate to this file.
  std::optional<std::string> certificate = std::nullopt;
  ReportRequest report = {};
};

/// Compiles the model and writes its bundle: all files, or none. Where
/// options.stopAfter comes before the code, nothing is written.
llvm::Error makeBundle(BundleRequest request);

/// Creates the report that \p request asks for, whose first table says what
/// compiles the model, and for what, and makes it the observer of \p prepared;
/// null where there is to be none.
std::unique_ptr<Report> createReport(PreparedCompilation &prepared,
                                     const ReportRequest &request);

} // namespace glowish

#endif // GLOWISH_COMPILER_BUNDLECOMPILATION_H
