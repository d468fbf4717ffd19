//===- BundleCompilation.cpp - From a model to a bundle -------------------===//

#include "glowish/Compiler/BundleCompilation.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Report/Report.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Path.h"

using namespace glowish;

std::unique_ptr<Report> glowish::createReport(llvm::StringRef path,
                                              const Backend &backend,
                                              bool hasTimes) {
  auto report =
      std::make_unique<Report>(llvm::sys::path::filename(path).str(), hasTimes);
  report->addFact("compiler", "glowish " GLOWISH_VERSION);
  report->addFact("back end", backend.getName().str());
  if (backend.getName() == "CPU") {
    const auto &cpu = static_cast<const CPUBackend &>(backend);
    report->addFact("target", cpu.getTargetMachine().getTargetTriple().str());
    report->addFact("processor", cpu.getTarget().cpu);
    report->addFact("threads", std::to_string(cpu.getTarget().numThreads));
  }
  return report;
}

/// Of the model's file, or of the two of a Caffe2 model.
static llvm::Expected<uint64_t> hashModel(const BundleRequest &request) {
  std::vector<std::string> files = {request.path};
  if (isCaffe2Path(request.path)) {
    GLOWISH_ASSIGN_OR_RETURN(
        files, findCaffe2Files(request.path, request.importOptions.secondFile));
  }
  uint64_t hash = 0;
  for (const std::string &file : files) {
    GLOWISH_ASSIGN_OR_RETURN(auto model, readFile(file));
    llvm::StringRef bytes = model->getBuffer();
    hash ^= checksum64(
        llvm::ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.bytes_end()));
  }
  return hash;
}

/// Refuses what a bundle that learns can't have.
static llvm::Error checkTraining(const BundleRequest &request) {
  if (!request.symbols.empty())
    return makeError("-train takes one value of '{0}'; another one in the step "
                     "is stated with -train-define-symbol",
                     request.symbols.front().name);
  if (request.options.placesIOInArena)
    return makeError("-io-in-activations: a bundle that learns keeps its "
                     "placeholders between calls; accepted: without -train");
  if (!request.options.arenaRegions.empty())
    return makeError("-memory-regions: the programs of a bundle that learns "
                     "share one region of activations; accepted: without "
                     "-train");
  return llvm::Error::success();
}

/// \p writer may be null where no folder is given.
static llvm::Error makeTrainingBundle(BundleRequest &request,
                                      BundleWriter *writer) {
  GLOWISH_RETURN_IF_ERROR(checkTraining(request));
  ImportOptions step = request.importOptions;
  // Warnings would be repeated.
  step.warn = nullptr;
  for (const auto &[name, value] : request.training->stepSymbols)
    step.symbols[name] = value;
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<TrainingCompilation> model,
      TrainingCompilation::compile(request.backend, request.path,
                                   request.importOptions, step,
                                   request.training->config, request.options,
                                   request.training->hasExternalGradients));
  if (model && !request.options.stopAfter && !request.bundle.folder.empty())
    GLOWISH_RETURN_IF_ERROR(
        writer->writeTraining(model->getPrograms(), request.bundle));
  if (!request.report)
    return llvm::Error::success();
  request.report->setProgramTitle(0, "inference");
  bool isExternal = request.training->hasExternalGradients;
  request.report->setProgramTitle(1,
                                  isExternal ? "gradients" : "training step");
  if (isExternal)
    request.report->setProgramTitle(2, "update");
  return request.writeReport ? request.writeReport() : llvm::Error::success();
}

/// \p writer may be null where there is neither a folder nor code to print.
static llvm::Error makeInferenceBundle(BundleRequest &request,
                                       BundleWriter *writer) {
  const CompilationOptions &options = request.options;
  ModelVariants model(request.backend, options);
  GLOWISH_RETURN_IF_ERROR(
      model.open(request.path, request.importOptions, request.symbols));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<CompiledVariants> compiled,
                           model.compile());
  bool hasFolder = !request.bundle.folder.empty();
  if (compiled && !options.stopAfter && hasFolder) {
    if (options.timer)
      options.timer->begin("codegen");
    CodeSizes sizes;
    request.bundle.codeSizes = request.report ? &sizes : nullptr;
    GLOWISH_RETURN_IF_ERROR(
        writer->write(compiled->getVariants(), request.bundle));
    if (request.report)
      request.report->setCodeSizes(std::move(sizes));
  }
  if (compiled && !options.stopAfter && !hasFolder && request.printsCode)
    GLOWISH_RETURN_IF_ERROR(
        writer->printCode(compiled->getVariants(), request.bundle.entryName));
  if (!request.report)
    return llvm::Error::success();
  for (size_t i = 0; i < model.getNumVariants(); ++i)
    request.report->setProgramTitle(i, model.describe(i));
  return request.writeReport ? request.writeReport() : llvm::Error::success();
}

llvm::Error glowish::makeBundle(BundleRequest request) {
  std::unique_ptr<BundleWriter> writer = request.backend.createBundleWriter();
  if (!writer && request.bundle.folder.empty() && request.printsCode)
    return makeError("-backend={0} has no code to print; -backend=CPU has",
                     request.backend.getName());
  if (!writer && !request.bundle.folder.empty())
    return makeError("-backend={0} cannot write a bundle; -backend=CPU can",
                     request.backend.getName());
  if (!request.bundle.folder.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(request.bundle.modelHash, hashModel(request));
  }
  request.options.observer = request.report;
  return request.training ? makeTrainingBundle(request, writer.get())
                          : makeInferenceBundle(request, writer.get());
}
