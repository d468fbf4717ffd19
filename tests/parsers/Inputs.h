//===- Inputs.h - Forms of inputs -------------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PARSERS_INPUTS_H
#define GLOWISH_TESTS_PARSERS_INPUTS_H

#include "glowish/Importer/ImportOptions.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <string>
#include <utility>
#include <vector>

namespace glowish::parsers {

/// Parts of an input that stands for several files: names and contents. In the
/// input a part begins with a line `=== NAME`; the first may go without, and
/// has an empty name then. So archives and pairs of files are text as far as
/// their contents are.
using Parts = std::vector<std::pair<std::string, std::string>>;
Parts splitParts(llvm::StringRef input);
std::string joinParts(const Parts &parts);
/// The contents of the part \p name; empty where there is none.
llvm::StringRef findPart(const Parts &parts, llvm::StringRef name);

/// The side file of a text form.
std::shared_ptr<llvm::MemoryBuffer> makeSideFile(llvm::StringRef bytes);

/// The options that models are imported with. \p inputTypes: lines as
/// -model-input takes them.
ImportOptions getImportOptions(llvm::StringRef inputTypes = "");

/// A folder with the file `weights` of the seeds (tests/robustness/Seeds.h).
const std::string &getWeightsFolder();

} // namespace glowish::parsers

#endif // GLOWISH_TESTS_PARSERS_INPUTS_H
