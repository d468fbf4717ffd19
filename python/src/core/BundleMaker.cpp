//===- BundleMaker.cpp - Bundles and reports ------------------------------===//

#include "core/BundleMaker.h"
#include "core/Checksum.h"
#include "core/Expected.h"
#include "core/SettingGroups.h"
#include "core/Tensors.h"
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
  std::vector<ValueInfo> infos;
  if (std::unique_ptr<ParsedModel> model = take(parseModel(path)))
    for (const auto &value : model->getDeclaredInputs())
      infos.push_back({value.name, value.kind, std::nullopt});
  return infos;
}

BundleMakerResult
glowish::python::makeBundle(Settings settings,
                            const BundleMakerRequest &request) {
  BundleMakerResult result;
  ModelCompiler compiler =
      createCompiler(settings, request.paths, result.warnings);
  BundleRequest own =
      take(compiler.prepareBundle(request.folder), Failure::Kind::Value);
  for (const auto &[name, view] : request.types)
    own.importOptions.givenTypes.emplace(name, getType(view));
  result.networkName = own.bundle.networkName;
  own.report.hasTimes = request.reportsTimes;
  if (request.wantsReport)
    own.report.write = [&](const Report &report) -> llvm::Error {
      llvm::raw_string_ostream os(result.report);
      report.print(os);
      return llvm::Error::success();
    };
  check(glowish::makeBundle(std::move(own)));
  return result;
}
