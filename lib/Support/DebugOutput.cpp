//===- DebugOutput.cpp - Debugging output by type -------------------------===//

#include "glowish/Support/DebugOutput.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Debug.h"

using namespace glowish;

llvm::ArrayRef<DebugType> glowish::getDebugTypes() {
  static constexpr DebugType types[] = {
      {"phases", "phases and variants as they begin"},
      {"passes", "passes as they end"},
      {"patches", "computation in patches, for -max-activation-bytes"},
      {"constants", "constants that variants share"}};
  return types;
}

llvm::Error glowish::enableDebugOutput(llvm::ArrayRef<std::string> types) {
  auto names = llvm::map_to_vector(
      getDebugTypes(), [](const DebugType &type) { return type.name; });
  llvm::SmallVector<const char *> enabled;
  for (const std::string &type : types) {
    if (!llvm::is_contained(names, type))
      return makeError("there is no debugging output of type '{0}'; accepted: "
                       "{1}",
                       type, llvm::join(names, ", "));
    enabled.push_back(type.c_str());
  }
  // An empty list would mean all types.
  if (enabled.empty())
    return llvm::Error::success();
  // Without assertions in glowish this is a macro.
  using namespace llvm;
  setCurrentDebugTypes(enabled.data(), unsigned(enabled.size()));
  DebugFlag = true;
  return llvm::Error::success();
}
