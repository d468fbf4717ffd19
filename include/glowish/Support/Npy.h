//===- Npy.h - NumPy array files --------------------------------*- C++ -*-===//
//
// Reader and writer of the .npy format of numpy.lib.format, versions 1.0 to
// 3.0.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_SUPPORT_NPY_H
#define GLOWISH_SUPPORT_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace glowish {

/// An array, converted to row-major order and little-endian elements.
struct NpyArray {
  /// Kind and size in bytes of an element: "f4", "i8", "u1", "b1".
  std::string element;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// Parses \p file, the contents of a .npy file. Big-endian elements are
/// byte-swapped and column-major arrays transposed. Structured and object
/// arrays are refused, as are files with more or fewer bytes than the shape
/// needs.
llvm::Expected<NpyArray> parseNpy(llvm::StringRef file);

/// Reads and parses the file \p path; errors name it.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Writes version 1.0 of the format, with the data aligned to 64 bytes.
/// \p bytes are row-major and little-endian.
void writeNpy(llvm::raw_ostream &os, llvm::StringRef element,
              llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> bytes);

} // namespace glowish

#endif // GLOWISH_SUPPORT_NPY_H
