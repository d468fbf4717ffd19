//===- Npy.h - NumPy's array files ----------------------------*- C++ -*-===//
//
// The .npy format of numpy.lib.format, versions 1.0 to 3.0.
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

/// An array as a file has it: row-major and little-endian once read.
struct NpyArray {
  /// Kind and bytes of an element: "f4", "i8", "u1", "b1".
  std::string element;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// The array in \p file, the bytes of a .npy file. Big-endian elements are
/// swapped, column-major arrays put in rows; structured and object arrays, and
/// files with more or fewer bytes than the shape needs, are refused.
llvm::Expected<NpyArray> parseNpy(llvm::StringRef file);

/// parseNpy() of the file \p path, which errors name.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Writes version 1.0, the data aligned to 64 bytes. \p bytes are row-major
/// and little-endian.
void writeNpy(llvm::raw_ostream &os, llvm::StringRef element,
              llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> bytes);

} // namespace glowish

#endif // GLOWISH_SUPPORT_NPY_H
