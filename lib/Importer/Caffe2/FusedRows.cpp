//===- FusedRows.cpp - Row-wise quantized embedding tables ----------------===//

#include "glowish/Importer/FusedRows.h"

using namespace glowish;

static constexpr FusedRows allFusedRows[] = {
    {"UInt8FusedQ", "ui8fused", 8, ElemKind::Float},
    {"UInt8FusedFP16Q", "ui8fusedfp16", 8, ElemKind::Float16},
    {"UInt4FusedFP16Q", "ui4fusedfp16", 4, ElemKind::Float16},
    {"UInt4FusedQ", "ui4fused", 4, ElemKind::Float},
};

llvm::ArrayRef<FusedRows> glowish::getFusedRows() { return allFusedRows; }

const FusedRows *glowish::findFusedRows(llvm::StringRef name) {
  for (const FusedRows &rows : allFusedRows)
    if (name == rows.name || name == rows.shortName)
      return &rows;
  return nullptr;
}
