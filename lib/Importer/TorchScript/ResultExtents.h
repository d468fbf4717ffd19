//===- ResultExtents.h - Checked extents of results -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_RESULTEXTENTS_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_RESULTEXTENTS_H

#include "Aten/AtenOp.h"

namespace glowish::torchscript {

/// Does what aten::importAtenOperator() does. A program of TorchScript states
/// no types of results: where a run decides extents of \p arguments, the
/// results must have the extents that \p op gives them for some values of the
/// symbols.
llvm::Expected<aten::AtenValue::List>
importChecked(const aten::RegisteredAtenOp &op, Function &function,
              llvm::StringRef name, const aten::AtenValue::List &arguments,
              aten::AtenContext &context);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_RESULTEXTENTS_H
