//===- ElemKinds.h - Caffe2 element types -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_ELEMKINDS_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_ELEMKINDS_H

#include "Caffe2/NetOp.h"

namespace glowish::caffe2 {

/// Returns the element kind given by the argument \p name, a number or name of
/// Caffe2's TensorProto.DataType, or \p otherwise if the argument is absent.
llvm::Expected<ElemKind> readKind(NetOp &op, llvm::StringRef name,
                                  ElemKind otherwise);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_ELEMKINDS_H
