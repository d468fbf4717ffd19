//===- OperatorList.h - Lists supported operators ---------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_OPERATORLIST_H
#define GLOWISH_DRIVER_OPERATORLIST_H

#include "llvm/Support/raw_ostream.h"

namespace glowish {

/// Prints docs/onnx-operators.md: all ONNX operators that can be imported, in
/// Markdown, with their opsets, the element types on each back end, and limits.
void printOnnxOperatorList(llvm::raw_ostream &os);
/// Prints docs/caffe2-operators.md: all Caffe2 operators that can be imported.
void printCaffe2OperatorList(llvm::raw_ostream &os);
/// The same for TensorFlow Lite.
void printTFLiteOperatorList(llvm::raw_ostream &os);
/// The same of PyTorch's operators.
void printAtenOperatorList(llvm::raw_ostream &os);

} // namespace glowish

#endif // GLOWISH_DRIVER_OPERATORLIST_H
