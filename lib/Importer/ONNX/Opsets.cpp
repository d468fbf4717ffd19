//===- Opsets.cpp - Opset versions ----------------------------------------===//

#include "ONNX/Opsets.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include <algorithm>

using namespace glowish;
using namespace glowish::onnximport;

/// Larger than any version in the foreseeable future, and safe to convert to
/// int.
static constexpr int64_t maxVersion = 1000;

std::string onnximport::normalizeDomain(llvm::StringRef domain) {
  return domain == "ai.onnx" ? "" : domain.str();
}

llvm::Expected<Opsets> Opsets::read(const onnx::ModelProto &model) {
  if (!model.opset_import().empty())
    return read(model.opset_import(), Opsets());
  if (model.ir_version() < 1 || model.ir_version() > 2)
    return makeError("opset_import is missing in a model of IR version {0}; "
                     "accepted: one, or IR version 1 or 2, whose opset is 1",
                     model.ir_version());
  Opsets opsets;
  opsets.versions[""] = 1;
  return opsets;
}

llvm::Expected<Opsets> Opsets::read(const Imports &imports,
                                    const Opsets &outer) {
  Opsets opsets = outer;
  std::map<std::string, int64_t> stated;
  for (const onnx::OperatorSetIdProto &import : imports) {
    std::string domain = normalizeDomain(import.domain());
    int64_t version = import.version();
    if (domain.empty() && (version < 1 || version > maxVersion))
      return makeError("opset {0} does not exist", version);
    auto [first, isFirst] = stated.emplace(domain, version);
    if (!isFirst && first->second != version)
      return makeError("opset_import has versions {0} and {1} of domain {2}; "
                       "accepted: one of each domain",
                       first->second, version,
                       quote(domain.empty() ? "ai.onnx" : domain));
    // Other domains may use any version numbers.
    opsets.versions[domain] = int(std::clamp<int64_t>(version, 0, maxVersion));
  }
  return opsets;
}

bool Opsets::has(llvm::StringRef domain) const {
  return versions.count(normalizeDomain(domain));
}

int Opsets::getVersion(llvm::StringRef domain) const {
  auto found = versions.find(normalizeDomain(domain));
  return found == versions.end() ? 1 : found->second;
}

int64_t onnximport::getNewestImportedOpset(const onnx::ModelProto &model) {
  int64_t newest = 0;
  auto add = [&](const Opsets::Imports &imports) {
    for (const onnx::OperatorSetIdProto &import : imports)
      if (normalizeDomain(import.domain()).empty())
        newest = std::max<int64_t>(newest, import.version());
  };
  add(model.opset_import());
  for (const onnx::FunctionProto &function : model.functions())
    add(function.opset_import());
  return newest;
}
