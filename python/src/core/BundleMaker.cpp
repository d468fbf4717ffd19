//===- BundleMaker.cpp - Bundles and reports ------------------------------===//

#include "core/BundleMaker.h"
#include "core/Checksum.h"
#include "core/Expected.h"
#include "core/SettingGroups.h"
#include "core/Tensors.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Report/Report.h"
#include "glowish/Support/Checksum.h"

using namespace glowish;
using namespace glowish::python;

uint64_t glowish::python::computeChecksum(const void *bytes, size_t size) {
  return checksum64(
      llvm::ArrayRef<uint8_t>(static_cast<const uint8_t *>(bytes), size));
}

std::vector<ValueInfo>
glowish::python::readDeclaredInputs(const std::string &path) {
  if (isTextForm(path) || getModelFormat(path).isPath)
    return {};
  std::vector<ValueInfo> infos;
  for (const auto &value : take(OnnxModel::read(path)).getDeclaredInputs())
    infos.push_back({value.name, value.kind, std::nullopt});
  return infos;
}

BundleMakerResult
glowish::python::makeBundle(Settings settings,
                            const BundleMakerRequest &request) {
  SettingGroups &groups = settings.getGroups();
  BundleMakerResult result;
  StatedCompilation compilation =
      readRequest(settings, request.path, result.warnings,
                  /*takesFunctions=*/true);
  compilation.importOptions.secondFile = request.secondPath;
  for (const auto &[name, view] : request.types)
    compilation.importOptions.givenTypes.emplace(name, getType(view));
  std::optional<TrainingRequest> training =
      take(groups.trainingBundle.getRequest(groups.training, groups.bundle),
           Failure::Kind::Value);
  auto [backend, tuner] = take(createTunedBackend(groups, /*isLocal=*/false));
  compilation.options.tuner = tuner.get();
  BundleOptions bundle =
      take(groups.bundle.getOptions(request.folder, request.path));
  result.networkName = bundle.networkName;
  std::unique_ptr<Report> report;
  if (request.wantsReport)
    report = createReport(request.path, *backend, request.reportsTimes);
  BundleRequest own = {*backend,
                       request.path,
                       std::move(compilation.importOptions),
                       std::move(compilation.symbols),
                       std::move(compilation.options),
                       std::move(bundle)};
  own.training = std::move(training);
  own.certificate = groups.bundle.getCertificate();
  own.functions = std::move(compilation.functions);
  own.report = report.get();
  own.writeReport = [&]() -> llvm::Error {
    llvm::raw_string_ostream os(result.report);
    report->print(os);
    return llvm::Error::success();
  };
  check(checkBundleRequest(own), Failure::Kind::Value);
  check(glowish::makeBundle(std::move(own)));
  return result;
}
