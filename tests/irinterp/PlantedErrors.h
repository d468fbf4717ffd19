//===- PlantedErrors.h - Wrong LLVM IR on purpose ---------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_IRINTERP_PLANTEDERRORS_H
#define GLOWISH_TESTS_IRINTERP_PLANTEDERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"

namespace glowish::irinterp {

/// A kind of error that a pass could make.
struct PlantedError {
  llvm::StringLiteral name;
  /// Plants it into the instruction; false where it does not apply.
  bool (*plant)(llvm::Instruction &instr);
};

llvm::ArrayRef<PlantedError> getPlantedErrors();

/// Plants \p error into the place of \p module with this number; false where
/// there are fewer. \p place describes it.
bool plantError(llvm::Module &module, const PlantedError &error,
                unsigned number, std::string &place);

} // namespace glowish::irinterp

#endif // GLOWISH_TESTS_IRINTERP_PLANTEDERRORS_H
