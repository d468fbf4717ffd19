//===- Schemas.cpp - Queries of ONNX's schemas ----------------------------===//

#include "ONNX/OpContext.h"
#include <algorithm>
#include <onnx/defs/schema.h>

using namespace glowish;
using namespace glowish::onnximport;
using onnx::OpSchemaRegistry;

/// The newest opset whose operators are known here. The ONNX library may be
/// older.
static constexpr int newestReadOpset = 28;

int onnximport::getNewestKnownOpset() {
  const auto &ranges = OpSchemaRegistry::DomainToVersionRange::Instance();
  auto range = ranges.Map().find("");
  return range == ranges.Map().end()
             ? newestReadOpset
             : std::max(newestReadOpset, range->second.second);
}

bool onnximport::isUnknownAttribute(llvm::StringRef domain,
                                    llvm::StringRef name,
                                    llvm::StringRef attribute, int opset) {
  std::string key = normalizeDomain(domain);
  const auto &ranges = OpSchemaRegistry::DomainToVersionRange::Instance();
  auto range = ranges.Map().find(key);
  if (range == ranges.Map().end() || opset > range->second.second)
    return false;
  bool isKnownOperator = false;
  // A schema states the version that introduced it; the preceding one is found
  // below that.
  for (int version = range->second.second; version >= 1;) {
    const onnx::OpSchema *schema =
        OpSchemaRegistry::Schema(name.str(), version, key);
    if (!schema)
      break;
    isKnownOperator = true;
    if (schema->attributes().count(attribute.str()))
      return false;
    version = schema->since_version() - 1;
  }
  return isKnownOperator;
}
