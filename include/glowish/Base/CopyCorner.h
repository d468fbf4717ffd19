//===- CopyCorner.h - Copy what two tensors both have -----------*- C++ -*-===//

#ifndef GLOWISH_BASE_COPYCORNER_H
#define GLOWISH_BASE_COPYCORNER_H

#include "glowish/Base/Tensor.h"

namespace glowish {

/// Copies the elements whose indices \p from and \p to, tensors of one kind and
/// rank, both have.
void copyCorner(const Tensor &from, Tensor &to);

} // namespace glowish

#endif // GLOWISH_BASE_COPYCORNER_H
