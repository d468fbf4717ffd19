//===- BundleBindings.cpp - Bundles and reports ---------------------------===//

#include "bindings/Arrays.h"
#include "bindings/Bindings.h"
#include "bindings/Watch.h"
#include "core/BundleMaker.h"
#include "core/Failure.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace glowish;
using namespace glowish::python;

/// The kind that a dtype or one of our names stands for.
static ElemKind parseKind(const std::string &name) {
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  if (name == SPELLING || name == getTypeName(ElemKind::ENUM))                 \
    return ElemKind::ENUM;
#include "glowish/Base/ElemKinds.def"
  throw Failure{Failure::Kind::Value, "there is no element type '" + name +
                                          "'; accepted: float32, int64, ..."};
}

static py::tuple makeBundleOf(const std::vector<std::string> &paths,
                              const std::string &folder,
                              const py::list &options, const py::dict &types,
                              bool wantsReport, bool reportsTimes,
                              const py::object &progress) {
  BundleMakerRequest request;
  request.paths = paths;
  request.folder = folder;
  request.wantsReport = wantsReport;
  request.reportsTimes = reportsTimes;
  for (auto [name, type] : types) {
    auto [kind, shape] =
        type.cast<std::pair<std::string, std::vector<int64_t>>>();
    request.types[name.cast<std::string>()] = {parseKind(kind), shape, nullptr};
  }
  Settings settings = makeSettings(SettingUse::Compile, options);
  BundleMakerResult result;
  watch(progress, [&] { result = makeBundle(std::move(settings), request); });
  showWarnings(result.warnings);
  return py::make_tuple(result.networkName, result.report);
}

static py::list listDeclaredInputs(const std::string &path) {
  py::list result;
  for (const ValueInfo &info : readDeclaredInputs(path))
    result.append(makeValue(info));
  return result;
}

void glowish::python::addBundleBindings(py::module_ &module) {
  module.def("make_bundle", makeBundleOf, py::arg("paths"), py::arg("folder"),
             py::arg("options"), py::arg("types"), py::arg("report"),
             py::arg("report_times"), py::arg("progress") = py::none(),
             "Compiles the model at paths. Returns the network's name and the "
             "page about the compilation.");
  module.def("declared_inputs", listDeclaredInputs, py::arg("path"),
             "The inputs that the model declares, by name and kind.");
}
