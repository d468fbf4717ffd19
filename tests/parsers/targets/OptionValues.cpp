//===- OptionValues.cpp - Values of options -------------------------------===//

#include "MemoryRegions.h"
#include "glowish/Base/DimExpression.h"
#include "glowish/Base/Extent.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Driver/ModelVariants.h"
#include "parsers/Fuzzing.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::parsers;

/// The text as the value of each option that has a syntax of its own, and as an
/// expression of symbolic dimensions.
GLOWISH_PARSER_FUZZER(options) {
  // What a user types is trusted: messages repeat it as it is.
  if (!llvm::all_of(input, llvm::isPrint))
    return;
  accept(parseInputType(input));
  accept(parseMemoryRegions(input));
  accept(parseSymbolValues(input));
  accept(evaluateDim(input, {{"N", 3}, {"length", INT64_MAX}}));
  accept(boundDim(input, {{"N", {1, 7}}, {"length", {0, INT64_MAX}}}));
  Extent::parse(input, [](llvm::StringRef symbol) {
    return symbol == "N" ? std::optional(Extent(2)) : std::nullopt;
  });
  getDimSymbols(input);
}
