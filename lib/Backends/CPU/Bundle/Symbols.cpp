//===- Symbols.cpp - The placeholders as a bundle shows them --------------===//

#include "Symbols.h"

using namespace glowish;

std::vector<BundleSymbol> glowish::getBundleSymbols(const IRFunction &function,
                                                    const MemoryPlan &plan) {
  std::vector<BundleSymbol> symbols;
  llvm::DenseMap<const Buffer *, unsigned> numbers;
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    bool isInArena = plan.isInArena(buffer.get());
    ArenaPlace place = isInArena ? plan.getArenaPlace(buffer.get())
                                 : ArenaPlace{0, plan.getOffset(buffer.get())};
    symbols.push_back(
        {buffer->getModelName().str(), /*identifier=*/"", buffer->getType(),
         unsigned(buffer->isInput()) | unsigned(buffer->isOutput()) << 1,
         isInArena, place.region, place.offset, std::nullopt,
         buffer->getInputExtents(), buffer->getClassNames().vec()});
    numbers[buffer.get()] = symbols.size() - 1;
  }
  for (auto [buffer, number] : numbers)
    if (const Buffer *extents = buffer->getExtents())
      symbols[number].extents = numbers.lookup(extents);
  return symbols;
}

std::vector<BundleConstant>
glowish::getBundleConstants(const IRFunction &function,
                            const MemoryPlan &plan) {
  std::vector<BundleConstant> constants;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const auto &buffer : each.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Constant)
        constants.push_back({buffer->getName().str(), buffer->getType(),
                             plan.getOffset(buffer.get())});
  });
  return constants;
}
