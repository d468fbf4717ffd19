//===- BundleCompilation.h - From a model to a bundle -----------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_BUNDLECOMPILATION_H
#define GLOWISH_COMPILER_BUNDLECOMPILATION_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Backends/Bundle.h"
#include "glowish/Driver/ModelFunctions.h"
#include "glowish/Driver/ModelVariants.h"

namespace glowish {

class Report;

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
struct BundleRequest {
  Backend &backend;
  /// See Compilation::import.
  std::string path;
  ImportOptions importOptions;
  /// See ModelVariants::open.
  std::vector<SymbolValues> symbols;
  CompilationOptions options;
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
  /// Records the compilation; may be null.
  Report *report = nullptr;
  /// Called when the report is complete, while the programs are there. May be
  /// null.
  std::function<llvm::Error()> writeReport = nullptr;
};

/// Refuses what can't be together in \p request, by the names of the settings
/// that state it. Nothing is read or compiled.
llvm::Error checkBundleRequest(const BundleRequest &request);

/// Compiles the model and writes its bundle: all files, or none. Where
/// options.stopAfter comes before the code, nothing is written. An error of
/// checkBundleRequest is the first one.
llvm::Error makeBundle(BundleRequest request);

/// A report whose first table says what compiles the model at \p path, and for
/// what. \p hasTimes: see Report.
std::unique_ptr<Report> createReport(llvm::StringRef path,
                                     const Backend &backend, bool hasTimes);

} // namespace glowish

#endif // GLOWISH_COMPILER_BUNDLECOMPILATION_H
