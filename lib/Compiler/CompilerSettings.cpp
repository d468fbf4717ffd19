//===- CompilerSettings.cpp - All that can be stated ----------------------===//

#include "glowish/Compiler/CompilerSettings.h"

using namespace glowish;

std::vector<const SettingGroup *> CompilerSettings::getGroups() const {
  return {&model,  &compilation, &target,        &quantization,
          &bundle, &training,    &trainingBundle};
}

std::vector<Setting *> CompilerSettings::getSettings() const {
  std::vector<Setting *> settings;
  for (const SettingGroup *group : getGroups())
    llvm::append_range(settings, group->getSettings());
  return settings;
}

Setting *CompilerSettings::find(llvm::StringRef name) const {
  for (const SettingGroup *group : getGroups())
    if (Setting *setting = group->find(name))
      return setting;
  return nullptr;
}

llvm::Error CompilerSettings::set(llvm::StringRef name, llvm::StringRef text) {
  if (Setting *setting = find(name))
    return setting->set(text);
  llvm::StringRef nearest;
  unsigned best = unsigned(name.size() + 1) / 2;
  for (const Setting *setting : getSettings()) {
    unsigned distance = setting->getName().edit_distance(name, true, best);
    if (distance < best) {
      best = distance;
      nearest = setting->getName();
    }
  }
  return makeError("there is no option '{0}'{1}", name,
                   nearest.empty() ? "" : " ('" + nearest.str() + "' is)");
}

llvm::Expected<StatedCompilation>
glowish::readCompilation(CompilerSettings &settings, llvm::StringRef path,
                         std::function<void(llvm::StringRef)> warn,
                         bool takesFunctions) {
  StatedCompilation result;
  if (takesFunctions)
    GLOWISH_ASSIGN_OR_RETURN(
        result.functions,
        settings.model.getFunctions({path.str()}, result.symbols));
  for (FunctionSource &function : result.functions)
    function.importOptions.warn = warn;
  if (result.functions.empty())
    GLOWISH_ASSIGN_OR_RETURN(result.importOptions,
                             settings.model.getImportOptions(
                                 path, isTextForm(path), result.symbols));
  result.importOptions.warn = std::move(warn);
  result.options.function = settings.model.getFunctionName().str();
  GLOWISH_RETURN_IF_ERROR(settings.compilation.apply(result.options));
  GLOWISH_RETURN_IF_ERROR(settings.quantization.apply(result.options));
  result.options.rematerialization = settings.training.getRematerialization();
  return result;
}

llvm::Expected<TunedBackend>
glowish::createTunedBackend(const CompilerSettings &settings, bool isLocal,
                            const TestingOptions &testing) {
  TunedBackend result;
  TargetOptions target = settings.target.getOptions();
  target.testing = testing;
  GLOWISH_ASSIGN_OR_RETURN(
      result.backend,
      settings.compilation.createBackend(
          "backend", settings.compilation.getBackendName(), target, isLocal));
  GLOWISH_ASSIGN_OR_RETURN(result.tuner, result.backend->createTuner());
  return result;
}

/// For the model at \p path. Where \p isLocal, the back end runs what it
/// compiles.
static llvm::Expected<PreparedCompilation>
prepareCompilation(CompilerSettings &settings, llvm::StringRef path,
                   bool isLocal, std::function<void(llvm::StringRef)> warn) {
  GLOWISH_ASSIGN_OR_RETURN(StatedCompilation stated,
                           readCompilation(settings, path, std::move(warn),
                                           /*takesFunctions=*/!isLocal));
  GLOWISH_ASSIGN_OR_RETURN(TunedBackend tuned,
                           createTunedBackend(settings, isLocal));
  stated.options.tuner = tuned.tuner.get();
  return PreparedCompilation{std::move(stated), std::move(tuned)};
}

/// Refuses settings of bundles.
static llvm::Error checkProgramSettings(const CompilerSettings &settings) {
  for (const SettingGroup *group : std::initializer_list<const SettingGroup *>{
           &settings.bundle, &settings.trainingBundle, &settings.training})
    for (const Setting *setting : group->getSettings())
      if (setting->isGiven())
        return makeError("-{0} has no effect on a program; accepted: of a "
                         "bundle",
                         setting->getName());
  return llvm::Error::success();
}

llvm::Expected<PreparedCompilation>
glowish::prepareProgram(CompilerSettings &settings, llvm::StringRef path,
                        std::function<void(llvm::StringRef)> warn) {
  GLOWISH_RETURN_IF_ERROR(checkProgramSettings(settings));
  GLOWISH_ASSIGN_OR_RETURN(
      PreparedCompilation prepared,
      prepareCompilation(settings, path, /*isLocal=*/true, std::move(warn)));
  if (!prepared.symbols.empty())
    return makeError("-onnx-define-symbol: '{0}' has several values; accepted "
                     "of a program: one value, or one range",
                     prepared.symbols.front().name);
  return prepared;
}

llvm::Expected<PreparedBundle>
glowish::prepareBundle(CompilerSettings &settings, llvm::StringRef path,
                       llvm::StringRef folder,
                       std::function<void(llvm::StringRef)> warn) {
  if (folder.empty())
    return makeError("no folder is stated for the bundle");
  GLOWISH_ASSIGN_OR_RETURN(
      PreparedCompilation prepared,
      prepareCompilation(settings, path, /*isLocal=*/false, std::move(warn)));
  GLOWISH_ASSIGN_OR_RETURN(BundleOptions bundle,
                           settings.bundle.getOptions(folder, path));
  BundleRequest request = {*prepared.backend,
                           path.str(),
                           std::move(prepared.importOptions),
                           std::move(prepared.symbols),
                           std::move(prepared.options),
                           std::move(bundle)};
  GLOWISH_ASSIGN_OR_RETURN(
      request.training,
      settings.trainingBundle.getRequest(settings.training, settings.bundle));
  request.certificate = settings.bundle.getCertificate();
  request.functions = std::move(prepared.functions);
  return PreparedBundle{std::move(prepared), std::move(request)};
}
