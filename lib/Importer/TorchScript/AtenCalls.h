//===- AtenCalls.h - Calls of operators of the table ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_ATENCALLS_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_ATENCALLS_H

#include "TorchScript/Interpreter.h"

namespace glowish::torchscript {

/// A call of an operator of the table.
struct AtenCall {
  const ProgramNode &node;
  const aten::RegisteredAtenOp &op;
  /// The inputs by the positions of the table's arguments; null where the
  /// program states none.
  std::vector<const ScriptValue *> inputs;

  const ScriptValue *find(llvm::StringRef argument) const {
    std::optional<unsigned> index = op.schema.findArgument(argument);
    return index ? inputs[*index] : nullptr;
  }
};

/// Finds the inputs of \p node, by the names that the archive's schema has for
/// them, for those of the table's.
llvm::Expected<AtenCall> matchInputs(const Program &program,
                                     const ProgramNode &node,
                                     const aten::RegisteredAtenOp &op,
                                     llvm::ArrayRef<ScriptValue> inputs);

/// Returns the arguments of \p call as the table's operator takes them.
llvm::Expected<aten::AtenValue::List> convertInputs(ScriptInterpreter &in,
                                                    const AtenCall &call);

/// Returns the operator of the table for "aten::add" and its overload, or null;
/// with \p isInPlace, for "aten::add_", the operator that returns the result.
const aten::RegisteredAtenOp *findOperator(const ProgramNode &node,
                                           bool isInPlace);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_ATENCALLS_H
