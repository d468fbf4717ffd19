//===- ProgramImages.h - Programs as they are kept --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_PROGRAMIMAGES_H
#define GLOWISH_LIB_DRIVER_PROGRAMIMAGES_H

#include "glowish/Driver/RunnableProgram.h"
#include "glowish/Support/KeyHasher.h"
#include "llvm/Support/MemoryBuffer.h"

namespace glowish {

/// What is needed to run a program, without code that is loaded.
struct ProgramImage {
  /// Of \p program, without its code.
  explicit ProgramImage(const PlannedProgram &program);
  ProgramImage() = default;

  /// RunnableModel::Program::title.
  std::string title;
  /// A function with the placeholders alone, and a plan with the places of
  /// these and the sizes of the regions.
  std::shared_ptr<const IRFunction> placeholders;
  std::shared_ptr<const MemoryPlan> plan;
  /// Of CodeSerializer::serialize().
  llvm::SmallVector<char, 0> code;
};

/// The programs of a model, and what its import has told.
struct ProgramImages {
  std::vector<ProgramImage> programs;
  /// The region of all of them.
  std::shared_ptr<const Tensor> constants;
  /// What ImportOptions::warn was called with.
  std::vector<std::string> warnings;
  std::vector<SequenceOutput> sequences;
};

/// Writes \p images as a file with the key \p key:
///
///   bytes     what
///   16        "glowish program\n"
///   32        BLAKE3 of all that follows
///   32        the key
///   8, 8      the bytes of the constants, and of the rest
///   32        zeros
///             the constants; the rest
///
/// Numbers are little-endian. The format may change with any build, which is in
/// the key.
void writeImages(llvm::raw_ostream &os, const ProgramImages &images,
                 const KeyHasher::Digest &key);

/// The bytes of such a file.
uint64_t getFileSize(const ProgramImages &images);

/// Reads \p file, which is aligned to Tensor::alignment and belongs to the
/// constants of the result. Null unless it is just what writeImages() wrote
/// with \p key.
std::unique_ptr<ProgramImages>
readImages(std::shared_ptr<llvm::MemoryBuffer> file,
           const KeyHasher::Digest &key);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_PROGRAMIMAGES_H
