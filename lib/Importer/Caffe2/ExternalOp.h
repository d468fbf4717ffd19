//===- ExternalOp.h - External operators in Caffe2 nets ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_EXTERNALOP_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_EXTERNALOP_H

#include "Caffe2/NetOp.h"

namespace glowish::caffe2 {

/// The domain of external operators of Caffe2, which has none itself.
inline constexpr llvm::StringLiteral caffe2Domain = "caffe2";

/// Imports an operator that \p options declare as an external one.
llvm::Error importExternalNetOp(NetOp &op);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_EXTERNALOP_H
