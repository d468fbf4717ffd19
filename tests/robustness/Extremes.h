//===- Extremes.h - Integers at the borders in models -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_EXTREMES_H
#define GLOWISH_TESTS_ROBUSTNESS_EXTREMES_H

#include "TorchArchives.h"
#include "glowish/Support/Random.h"
#include "llvm/ADT/ArrayRef.h"
#include <google/protobuf/message.h>
#include <string>

namespace glowish::robustness {

/// The limits of int64_t and int32_t, numbers next to them, and powers of two
/// whose sums and products leave them.
llvm::ArrayRef<int64_t> getExtremes();
int64_t pickExtreme(Random &random);

// Each of these gives one integer of a model an extreme value, as what it is:
// others than those that tell how the file is to be read (kinds of elements,
// versions, offsets). Without an integer nothing happens.

/// An attribute, an argument, an extent, or an element of a tensor of integers.
void setExtreme(google::protobuf::Message &model, Random &random);
/// A number of a program in a language: of a text form, of TorchScript's code.
void setExtremeInText(std::string &text, Random &random);
/// An argument, an extent or a bound of a .pt2 archive's JSON.
void setExtremeInJson(std::string &text, Random &random);
/// An option of an operator, an extent, a zero point, or an element of a tensor
/// of integers of a TensorFlow Lite model, which must be a good one.
void setExtremeInTFLite(std::string &bytes, Random &random);
/// An integer of the archive's JSON, code or pickles.
void setExtremeInArchive(ArchiveEntries &entries, Random &random);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_EXTREMES_H
