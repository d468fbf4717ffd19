//===- ImportOptions.cpp - Options of the importers -----------------------===//

#include "glowish/Importer/ImportOptions.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error ImportOptions::report(llvm::StringRef line) const {
  if (isStrict)
    return makeError("{0}", line);
  if (warn)
    warn(line);
  return llvm::Error::success();
}
