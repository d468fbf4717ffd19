//===- GraphTexts.h - Modules as text for tests -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_GRAPHTEXTS_H
#define GLOWISH_TESTS_UNIT_GRAPHTEXTS_H

#include "glowish/Graph/GraphText.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace glowish {

/// The text form of \p module, with its constants.
inline std::string print(const Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printModule(os, module, /*sideFile=*/nullptr);
  return text;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_GRAPHTEXTS_H
