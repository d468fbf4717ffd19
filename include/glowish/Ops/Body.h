//===- Body.h - Programs inside an operator ---------------------*- C++ -*-===//

#ifndef GLOWISH_OPS_BODY_H
#define GLOWISH_OPS_BODY_H

#include "glowish/Base/Type.h"
#include <memory>

namespace glowish {

using TypeList = llvm::SmallVector<Type, 1>;

/// The program that a node or an instruction runs as a part of its own work: a
/// branch of an If, the body of a Loop. It is isolated: what it needs from
/// outside are operands of the operator and parameters of the body. A node's
/// is a FunctionBody (Graph/Module.h), an instruction's an IRBody (IR/IR.h).
class Body {
public:
  virtual ~Body();
  virtual TypeList getParameterTypes() const = 0;
  virtual TypeList getResultTypes() const = 0;
};

} // namespace glowish

#endif // GLOWISH_OPS_BODY_H
