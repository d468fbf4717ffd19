//===- TuningRecord.h - Choices that were measured --------------*- C++ -*-===//
//
// The record of which candidates for convolutions were the fastest, and its
// file. The file is text. Its first line is
//
//   glowish-tuning 1
//
// and each other line states a choice for a target and a shape:
//
//   TARGET KIND NxHxWxC -> HxWxC kernel HxW stride HxW pad TOPxLEFT \
//     dilation HxW group G winograd LIMIT input STRIDES: CHOICE # NOTE
//
// (in one line, with single spaces). TARGET is getTuningTarget's; KIND the
// kind of elements, or, where 8-bit integers are multiplied and added as int32,
// `uint8xint8`: the input's and the filter's, which is int16 where it has
// values that int8 has not; the first extents are the input's, the second the
// result's. Matmuls with a constant matrix are convolutions with a 1x1 kernel
// over one image of 1 row. LIMIT is the largest F(m) that -winograd allows, 0
// where none applies. STRIDES is `dense`, or the input's in elements as
// NxHxWxC. CHOICE is a candidate as ConvolutionCandidate::str() has it.
//
// NOTE, which may be absent, is for people. Lines are sorted; a target and
// shape has one.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TUNING_TUNINGRECORD_H
#define GLOWISH_LIB_BACKENDS_CPU_TUNING_TUNINGRECORD_H

#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <map>

namespace glowish {

/// The parameters that, with the target, determine a convolution's candidates.
struct TuningKey {
  /// Strides of dimensions of extent 1 are the dense ones: they don't matter.
  ConvolutionProblem problem;
  /// Of -winograd; 0 where Winograd's algorithm does not apply anyway.
  int64_t maxWinograd = 0;

  TuningKey() = default;
  TuningKey(ConvolutionProblem problem, int64_t maxWinograd);
  bool operator<(const TuningKey &other) const;
};

/// Describes \p key as a line of the file does, from KIND to STRIDES.
std::string describeKey(const TuningKey &key);

/// Choices by target and shape.
class TuningRecord {
public:
  struct Entry {
    ConvolutionCandidate candidate;
    std::string note;
  };

  /// Reads the text of a file; an error names \p path and the line, and says
  /// what is accepted there.
  static llvm::Expected<TuningRecord> parse(llvm::StringRef text,
                                            llvm::StringRef path);
  /// The text of the file. parse() of it gives the same record.
  std::string str() const;

  size_t size() const { return entries.size(); }
  /// Null where there is none.
  const Entry *find(llvm::StringRef target, const TuningKey &key) const;
  void set(llvm::StringRef target, const TuningKey &key, Entry entry);

private:
  std::map<std::pair<std::string, TuningKey>, Entry> entries;
};

/// A word for what code is made for: the architecture, the CPU, and the
/// features that are stated beside, as a checksum if they are many:
/// `x86_64-x86-64-v3`, `x86_64-sapphirerapids-1f0c83b2a4d59e67`.
std::string getTuningTarget(const llvm::Triple &triple,
                            const TargetDescription &target);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TUNING_TUNINGRECORD_H
