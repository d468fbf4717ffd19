//===- SymbolInputs.cpp - Inputs with extents that runs decide ------------===//

#include "Common/SymbolInputs.h"

using namespace glowish;

Placeholder *glowish::createSymbol(Module &module, const std::string &name,
                                   SymbolRange range) {
  Placeholder *placeholder =
      module.createPlaceholder(name, Type(ElemKind::Int64, {}),
                               /*isInput=*/true, /*isOutput=*/false);
  module.stateSymbol(*placeholder, std::move(range));
  return placeholder;
}

/// Returns \p symbol, or a name with it that neither an input of the model nor
/// a placeholder has.
static std::string nameSymbol(const Module &module, std::string symbol,
                              llvm::ArrayRef<std::string> names) {
  while (llvm::is_contained(names, symbol) || module.findPlaceholder(symbol))
    symbol += ".extent";
  return symbol;
}

Placeholder *glowish::createInput(Module &module, const InputOfType &input,
                                  const SymbolRanges &ranges,
                                  llvm::ArrayRef<std::string> names) {
  for (const std::optional<Extent> &extent : input.type.getExtents())
    if (extent)
      for (const std::string &symbol : extent->getSymbols())
        if (!module.findStated(symbol))
          createSymbol(module, nameSymbol(module, symbol, names),
                       {symbol, *ranges.find(symbol)});
  return module.createPlaceholder(input.name, input.type, /*isInput=*/true,
                                  input.isOutput);
}
