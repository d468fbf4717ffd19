//===- ElemKinds.h - Caffe2's element types ---------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_ELEMKINDS_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_ELEMKINDS_H

#include "Caffe2/NetOp.h"

namespace glowish {

/// The element kind that the argument \p name states, as a number of Caffe2's
/// TensorProto.DataType or a name of it; \p otherwise without the argument.
llvm::Expected<ElemKind> readKind(NetOp &op, llvm::StringRef name,
                                  ElemKind otherwise);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_ELEMKINDS_H
