//===- Opsets.cpp - Opset versions ----------------------------------------===//

#include "ONNX/Opsets.h"
#include "glowish/Support/Error.h"
#include <algorithm>

using namespace glowish;

/// Larger than any version in the foreseeable future, and safe to convert to
/// int.
static constexpr int64_t maxVersion = 1000;

std::string glowish::normalizeDomain(llvm::StringRef domain) {
  return domain == "ai.onnx" ? "" : domain.str();
}

llvm::Expected<Opsets> Opsets::read(const Imports &imports,
                                    const Opsets &outer) {
  Opsets opsets = outer;
  for (const onnx::OperatorSetIdProto &import : imports) {
    std::string domain = normalizeDomain(import.domain());
    int64_t version = import.version();
    if (domain.empty() && (version < 1 || version > maxVersion))
      return makeError("opset {0} does not exist", version);
    // Other domains may use any version numbers.
    opsets.versions[domain] = int(std::clamp<int64_t>(version, 0, maxVersion));
  }
  return opsets;
}

int Opsets::getVersion(llvm::StringRef domain) const {
  auto found = versions.find(normalizeDomain(domain));
  return found == versions.end() ? 1 : found->second;
}
