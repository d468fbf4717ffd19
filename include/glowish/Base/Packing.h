//===- Packing.h - Elements as files have them ------------------*- C++ -*-===//
//
// In memory an element has one byte or several. Files have elements of fewer
// than 8 bits side by side in a byte, the first in the lowest bits, as ONNX
// does; the last byte is filled with zeros.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BASE_PACKING_H
#define GLOWISH_BASE_PACKING_H

#include "glowish/Base/Tensor.h"
#include <string>

namespace glowish {

/// Whether files have several elements of \p kind in a byte.
bool isPacked(ElemKind kind);

/// The size in bytes of a tensor of \p type in a file.
int64_t getPackedSize(const Type &type);

/// The tensor of \p type that has the getPackedSize(type) bytes \p packed in a
/// file; little-endian, as are all hosts. Not all of them are there where this
/// thread's task is cancelled.
Tensor unpackElements(const Type &type, llvm::ArrayRef<uint8_t> packed);

/// The inverse of unpackElements.
std::string packElements(const Tensor &tensor);

} // namespace glowish

#endif // GLOWISH_BASE_PACKING_H
