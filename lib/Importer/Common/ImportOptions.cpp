//===- ImportOptions.cpp - Options of the importers -----------------------===//

#include "glowish/Importer/ImportOptions.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Log.h"

using namespace glowish;

FormatOptions::~FormatOptions() = default;

bool ImportOptions::hasWarnings() const {
  return isStrict || (!isRepeated && (warn || isLogged(0, __FILE__)));
}

void ImportOptions::tell(llvm::StringRef line) const {
  if (isRepeated)
    return;
  GLOWISH_WARN("{0}", line);
  if (warn)
    warn(line);
}

llvm::Error ImportOptions::report(llvm::StringRef line) const {
  if (isStrict)
    return makeError("{0}", line);
  tell(line);
  return llvm::Error::success();
}
