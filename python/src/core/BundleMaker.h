//===- BundleMaker.h - Bundles and reports ----------------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_BUNDLEMAKER_H
#define GLOWISH_PYTHON_CORE_BUNDLEMAKER_H

#include "core/Settings.h"
#include "core/Values.h"
#include <map>

namespace glowish::python {

struct BundleMakerRequest {
  /// See ModelSource.
  std::vector<std::string> paths;
  /// Empty: the model is compiled for a report alone.
  std::string folder;
  /// Types of inputs that bind open dimensions; the views have no elements.
  std::map<std::string, TensorView> types;
  bool wantsReport = false;
  bool reportsTimes = true;
};

struct BundleMakerResult {
  std::string networkName;
  /// The page about the compilation; empty where none was asked for.
  std::string report;
  std::vector<std::string> warnings;
};

/// Compiles a model as model-compiler does.
BundleMakerResult makeBundle(Settings settings,
                             const BundleMakerRequest &request);

/// The types of the inputs that a model declares: for shapes that are stated
/// without one. Empty for formats that declare nothing.
std::vector<ValueInfo> readDeclaredInputs(const std::string &path);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_BUNDLEMAKER_H
