//===- ParserSeeds.h - First inputs of the fuzzers --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PARSERS_PARSERSEEDS_H
#define GLOWISH_TESTS_PARSERS_PARSERSEEDS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace glowish::parsers {

/// Names and bytes.
using ParserSeeds = std::vector<std::pair<std::string, std::string>>;

/// Good inputs of the fuzzer \p name, the same in every process; none for those
/// whose seeds are files alone (tests/parsers/archive_parts.py).
ParserSeeds makeParserSeeds(llvm::StringRef name);

/// The dictionary of the fuzzer \p name in libFuzzer's format: operators and
/// fields as they are registered, and the keywords of its grammar. Empty where
/// there are none.
std::string makeDictionary(llvm::StringRef name);

} // namespace glowish::parsers

#endif // GLOWISH_TESTS_PARSERS_PARSERSEEDS_H
