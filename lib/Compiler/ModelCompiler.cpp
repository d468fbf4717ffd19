//===- ModelCompiler.cpp - From settings to what is compiled --------------===//

#include "glowish/Compiler/ModelCompiler.h"
#include "BundleChecks.h"
#include "glowish/Importer/ModelFormat.h"

using namespace glowish;

//===- The model ----------------------------------------------------------===//

llvm::Expected<bool> glowish::hasSecondFile(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  return format && format->hasSecondFile;
}

/// Returns the names of the formats whose models may be two files.
static std::string getSecondFileFormats() {
  return joinFormatNames([](auto &each) { return each.hasSecondFile; });
}

/// Returns whether \p paths are the two files of one model.
static llvm::Expected<bool> arePartsOfModel(llvm::ArrayRef<std::string> paths) {
  if (paths.size() != 2)
    return false;
  GLOWISH_ASSIGN_OR_RETURN(bool isFirst, hasSecondFile(paths[0]));
  if (!isFirst)
    return false;
  return hasSecondFile(paths[1]);
}

/// Refuses several models.
static llvm::Error checkOneModel(llvm::ArrayRef<std::string> paths) {
  assert(!paths.empty() && "there is a model");
  if (paths.size() == 1)
    return llvm::Error::success();
  if (paths.size() > 2)
    return makeError("«model» is given {0} times; accepted: once, twice with "
                     "the two files of a {1} model, or once for each function "
                     "of a bundle",
                     paths.size(), getSecondFileFormats());
  for (const std::string &path : paths) {
    GLOWISH_ASSIGN_OR_RETURN(bool isOne, hasSecondFile(path));
    if (!isOne)
      return makeError("«model» is given twice, and '{0}' is no file of a {1} "
                       "model; accepted: its two files, or once for each "
                       "function of a bundle",
                       path, getSecondFileFormats());
  }
  return llvm::Error::success();
}

llvm::Error glowish::checkSymbols(llvm::ArrayRef<SymbolValues> several,
                                  const ImportOptions &importOptions,
                                  SymbolForm form) {
  if (!several.empty() && form != SymbolForm::Values)
    return makeError("«define-symbol»: '{0}' has several values; "
                     "accepted: one{1}",
                     several.front().name,
                     form == SymbolForm::Value ? "" : ", or a range");
  if (!importOptions.symbolRanges.empty() && form == SymbolForm::Value)
    return makeError("«define-symbol»: '{0}' has a range; accepted: one "
                     "value",
                     importOptions.symbolRanges.begin()->first);
  return llvm::Error::success();
}

llvm::Expected<ImportOptions>
ModelCompiler::readImportOptions(std::vector<SymbolValues> &symbols) {
  const std::string &path = source.paths.front();
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  GLOWISH_ASSIGN_OR_RETURN(
      ImportOptions options,
      settings.model.getImportOptions(path, format, symbols));
  GLOWISH_RETURN_IF_ERROR(checkOneModel(source.paths));
  if (source.paths.size() > 1)
    options.secondFile = source.paths.back();
  options.warn = source.warn;
  return options;
}

llvm::Expected<std::vector<FunctionSource>>
ModelCompiler::readFunctions(std::vector<SymbolValues> &symbols) {
  std::vector<FunctionSource> functions;
  GLOWISH_ASSIGN_OR_RETURN(bool isOneModel, arePartsOfModel(source.paths));
  if (!isOneModel)
    GLOWISH_ASSIGN_OR_RETURN(
        functions, settings.model.getFunctions(source.paths, symbols));
  for (FunctionSource &function : functions)
    function.importOptions.warn = source.warn;
  return functions;
}

//===- The compilation ----------------------------------------------------===//

llvm::Error ModelCompiler::readOptions(PreparedCompilation &prepared) {
  CompilationOptions &options = prepared.options;
  prepared.path = source.paths.front();
  options = developer.options;
  options.function = settings.model.getFunctionName().str();
  GLOWISH_RETURN_IF_ERROR(settings.compilation.apply(options));
  GLOWISH_RETURN_IF_ERROR(settings.quantization.apply(options));
  options.rematerialization = settings.training.getRematerialization();
  return llvm::Error::success();
}

TargetOptions DeveloperOptions::getTarget(const TargetSettings &target) const {
  TargetOptions options = target.getOptions();
  options.dumpsLLVM = dumpsLLVM;
  options.dumpsAssembly = dumpsAssembly;
  options.testing = testing;
  return options;
}

/// Creates the back end and its tuner; where \p isLocal, it runs what it
/// compiles.
llvm::Error ModelCompiler::createBackend(PreparedCompilation &prepared,
                                         bool isLocal) {
  GLOWISH_ASSIGN_OR_RETURN(prepared.backend,
                           settings.compilation.createBackend(
                               "backend", settings.compilation.getBackendName(),
                               developer.getTarget(settings.target), isLocal));
  GLOWISH_ASSIGN_OR_RETURN(prepared.tuner, prepared.backend->createTuner());
  prepared.options.tuner = prepared.tuner.get();
  return llvm::Error::success();
}

llvm::Expected<BundleRequest>
ModelCompiler::prepareBundle(llvm::StringRef folder) {
  GLOWISH_RETURN_IF_ERROR(settings.compilation.loadPlugins());
  BundleRequest request;
  GLOWISH_ASSIGN_OR_RETURN(
      request.training,
      settings.trainingBundle.getRequest(settings.training, settings.bundle));
  GLOWISH_ASSIGN_OR_RETURN(request.functions, readFunctions(request.symbols));
  if (request.functions.empty())
    GLOWISH_ASSIGN_OR_RETURN(request.importOptions,
                             readImportOptions(request.symbols));
  GLOWISH_RETURN_IF_ERROR(readOptions(request));
  GLOWISH_RETURN_IF_ERROR(createBackend(request, /*isLocal=*/false));
  GLOWISH_ASSIGN_OR_RETURN(request.bundle,
                           settings.bundle.getOptions(folder, request.path));
  request.certificate = settings.bundle.getCertificate();
  request.printsCode = developer.dumpsLLVM || developer.dumpsAssembly;
  GLOWISH_RETURN_IF_ERROR(checkBundleRequest(request));
  return request;
}

/// Prepares what runs in this process, with the plug-ins that are loaded.
llvm::Error ModelCompiler::prepareHere(PreparedCompilation &prepared,
                                       CompilationUse use, SymbolForm form) {
  GLOWISH_RETURN_IF_ERROR(settings.checkUse(use));
  GLOWISH_ASSIGN_OR_RETURN(prepared.importOptions,
                           readImportOptions(prepared.symbols));
  GLOWISH_RETURN_IF_ERROR(
      checkSymbols(prepared.symbols, prepared.importOptions, form));
  GLOWISH_RETURN_IF_ERROR(readOptions(prepared));
  return createBackend(prepared, !prepared.options.stopAfter);
}

llvm::Expected<PreparedCompilation>
ModelCompiler::prepareProgram(SymbolForm form) {
  GLOWISH_RETURN_IF_ERROR(settings.compilation.loadPlugins());
  PreparedCompilation prepared;
  GLOWISH_RETURN_IF_ERROR(prepareHere(prepared, CompilationUse::Program, form));
  return prepared;
}

/// Refuses a model whose trained weights have no file to go to.
static llvm::Error checkTrainable(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  if (format && format->openWeights)
    return llvm::Error::success();
  return makeError("'{0}' is a {1}, and trained weights go to an ONNX file; "
                   "`model-compiler -emit-onnx=FILE` makes one of it",
                   path, format ? format->name.str() + " model" : "text form");
}

llvm::Expected<PreparedTraining> ModelCompiler::prepareTraining() {
  GLOWISH_RETURN_IF_ERROR(settings.compilation.loadPlugins());
  GLOWISH_RETURN_IF_ERROR(checkTrainable(source.paths.front()));
  PreparedTraining prepared;
  GLOWISH_ASSIGN_OR_RETURN(prepared.config, settings.training.getConfig());
  GLOWISH_RETURN_IF_ERROR(
      prepareHere(prepared, CompilationUse::Training, SymbolForm::Value));
  return prepared;
}
