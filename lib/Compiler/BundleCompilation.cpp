//===- BundleCompilation.cpp - From a model to a bundle -------------------===//

#include "glowish/Compiler/BundleCompilation.h"
#include "PlanCertificate.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Report/Report.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <set>

using namespace glowish;

/// The name of \p backend, and what it compiles for.
static std::vector<std::pair<std::string, std::string>>
getFacts(const Backend &backend) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"back end", backend.getName().str()}};
  llvm::append_range(facts, backend.getTargetFacts());
  return facts;
}

std::unique_ptr<Report> glowish::createReport(PreparedCompilation &prepared,
                                              const ReportRequest &request) {
  if (!request.write)
    return nullptr;
  auto report = std::make_unique<Report>(
      llvm::sys::path::filename(prepared.path).str(), request.hasTimes);
  report->addFact("compiler", "glowish " GLOWISH_VERSION);
  for (auto &[name, value] : getFacts(*prepared.backend))
    report->addFact(name, value);
  prepared.options.observer = report.get();
  return report;
}

/// Opens the files of the model, or of all models that functions are of.
static llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
openFiles(const BundleRequest &request) {
  if (request.functions.empty())
    return openModelFiles(request.path, request.importOptions);
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> all;
  std::set<std::string> paths;
  for (const FunctionSource &function : request.functions) {
    if (!paths.insert(function.path).second)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(
        auto files, openModelFiles(function.path, function.importOptions));
    llvm::move(files, std::back_inserter(all));
  }
  return all;
}

/// Returns XXH3 of the contents of the model's file or, where it has several,
/// external weights among them, that of all their hashes. Files that are mapped
/// are read once, and not copied.
static llvm::Expected<uint64_t> hashModel(const BundleRequest &request) {
  GLOWISH_ASSIGN_OR_RETURN(auto files, openFiles(request));
  std::vector<uint8_t> hashes(files.size() * sizeof(uint64_t));
  for (auto [i, file] : llvm::enumerate(files))
    llvm::support::endian::write64le(
        &hashes[i * sizeof(uint64_t)],
        llvm::xxh3_64bits(llvm::arrayRefFromStringRef(file->getBuffer())));
  if (files.size() == 1)
    return llvm::support::endian::read64le(hashes.data());
  return llvm::xxh3_64bits(hashes);
}

/// Sets the hash of the model if something is written that has it: after the
/// import, whose errors say more.
static llvm::Error setModelHash(BundleRequest &request) {
  if (!request.bundle.folder.empty() || request.certificate)
    GLOWISH_ASSIGN_OR_RETURN(request.bundle.modelHash, hashModel(request));
  return llvm::Error::success();
}

/// Proves the plans of \p programs, which are arguments of
/// PlanCertificate::prove, if \p request asks for it; writes their
/// certificate to \p files, which are to be committed with the bundle.
template <typename... Programs>
static llvm::Error provePlans(const BundleRequest &request, OutputFiles &files,
                              const Programs &...programs) {
  if (!request.certificate)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(
      PlanCertificate certificate,
      addContext(PlanCertificate::prove(programs...), "«verify-plan»: "));
  if (request.certificate.value_or("").empty())
    return llvm::Error::success();
  llvm::Expected<llvm::raw_pwrite_stream &> file =
      files.add(*request.certificate);
  if (!file)
    return file.takeError();
  certificate.print(*file, request.bundle.modelHash,
                    getFacts(*request.backend));
  return llvm::Error::success();
}

/// \p writer may be null where no folder is given, \p report where none is
/// asked for.
static llvm::Error makeTrainingBundle(BundleRequest &request,
                                      BundleWriter *writer, Report *report) {
  ImportOptions step = request.importOptions;
  // Warnings would be repeated.
  step.isRepeated = true;
  for (const auto &[name, value] : request.training->stepSymbols)
    step.symbols[name] = value;
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<TrainingCompilation> model,
      TrainingCompilation::compile(*request.backend, request.path,
                                   request.importOptions, step,
                                   request.training->config, request.options,
                                   request.training->hasExternalGradients));
  GLOWISH_RETURN_IF_ERROR(setModelHash(request));
  OutputFiles certificate;
  if (model)
    GLOWISH_RETURN_IF_ERROR(
        provePlans(request, certificate, model->getPrograms()));
  if (model && !request.options.stopAfter && !request.bundle.folder.empty())
    GLOWISH_RETURN_IF_ERROR(
        writer->writeTraining(model->getPrograms(), request.bundle));
  GLOWISH_RETURN_IF_ERROR(certificate.commit());
  if (!report)
    return llvm::Error::success();
  report->setProgramTitle(0, "inference");
  bool isExternal = request.training->hasExternalGradients;
  report->setProgramTitle(1, isExternal ? "gradients" : "training step");
  if (isExternal)
    report->setProgramTitle(2, "update");
  return request.report.write(*report);
}

/// Of all variants of \p model.
static std::vector<std::string> getTitles(const ModelVariants &model) {
  std::vector<std::string> titles;
  for (size_t i = 0; i < model.getNumVariants(); ++i)
    titles.push_back(model.describe(i));
  return titles;
}

/// Writes the bundle of \p programs, called \p titles, or prints its code; null
/// where the compilation has stopped before. \p writer may be null where there
/// is neither a folder nor code to print, \p report where none is asked for.
static llvm::Error writePrograms(BundleRequest &request, BundleWriter *writer,
                                 Report *report, const Variants *programs,
                                 llvm::ArrayRef<std::string> titles) {
  const CompilationOptions &options = request.options;
  GLOWISH_RETURN_IF_ERROR(setModelHash(request));
  OutputFiles certificate;
  if (programs)
    GLOWISH_RETURN_IF_ERROR(
        provePlans(request, certificate, *programs, titles));
  bool hasFolder = !request.bundle.folder.empty();
  if (programs && !options.stopAfter && hasFolder) {
    if (options.timer)
      options.timer->begin("codegen");
    CodeSizes sizes;
    request.bundle.codeSizes = report ? &sizes : nullptr;
    GLOWISH_RETURN_IF_ERROR(writer->write(*programs, request.bundle));
    if (report)
      report->setCodeSizes(std::move(sizes));
  }
  if (programs && !options.stopAfter && !hasFolder && request.printsCode)
    GLOWISH_RETURN_IF_ERROR(
        writer->printCode(*programs, request.bundle.entryName));
  GLOWISH_RETURN_IF_ERROR(certificate.commit());
  if (!report)
    return llvm::Error::success();
  for (auto [i, title] : llvm::enumerate(titles))
    report->setProgramTitle(i, title);
  return request.report.write(*report);
}

/// See writePrograms.
static llvm::Error makeInferenceBundle(BundleRequest &request,
                                       BundleWriter *writer, Report *report) {
  ModelVariants model(*request.backend, request.options);
  GLOWISH_RETURN_IF_ERROR(
      model.open(request.path, request.importOptions, request.symbols));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<CompiledVariants> compiled,
                           model.compile());
  Variants programs = compiled ? compiled->getVariants() : Variants();
  return writePrograms(request, writer, report, compiled ? &programs : nullptr,
                       getTitles(model));
}

/// Makes a bundle whose functions have entries of their own.
static llvm::Error makeFunctionsBundle(BundleRequest &request,
                                       BundleWriter *writer, Report *report) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<CompiledFunctions> compiled,
      compileFunctions(*request.backend, request.options, request.functions));
  Variants programs = compiled ? compiled->getVariants() : Variants();
  std::vector<std::string> titles;
  for (const FunctionSource &function : request.functions)
    titles.push_back(function.name);
  return writePrograms(request, writer, report, compiled ? &programs : nullptr,
                       titles);
}

llvm::Error glowish::makeBundle(BundleRequest request) {
  std::unique_ptr<BundleWriter> writer = request.backend->createBundleWriter();
  std::unique_ptr<Report> report = createReport(request, request.report);
  std::string warning = writer ? writer->getWarning() : "";
  if (!warning.empty() && request.importOptions.warn)
    request.importOptions.warn(warning);
  std::unique_ptr<PhaseTimer> timer = makeTimerForLog(request.options.timer);
  if (!request.functions.empty())
    return makeFunctionsBundle(request, writer.get(), report.get());
  return request.training
             ? makeTrainingBundle(request, writer.get(), report.get())
             : makeInferenceBundle(request, writer.get(), report.get());
}
