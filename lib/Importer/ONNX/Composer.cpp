//===- Composer.cpp - Decomposition of operators --------------------------===//

#include "ONNX/Composer.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<int64_t> onnximport::readConstantInt(const OpContext &op,
                                                    unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values,
                           op.getConstantInts(index));
  if (values.size() != 1)
    return makeError("input {0} has {1} elements; accepted: 1", index,
                     values.size());
  return values[0];
}
