//===- RunValues.h - What a run is given and leaves -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RUNVALUES_H
#define GLOWISH_TESTS_FUZZ_RUNVALUES_H

#include "TestCase.h"

namespace glowish::fuzz {

/// Outputs by their names in the model.
using Outputs = std::map<std::string, Tensor>;

/// What the input \p name of \p type is given in a run that states \p values:
/// an extent, or the elements of its name (Values.h). Elements beyond the
/// actual extents are NaN or the largest integers: they must not matter.
Tensor makeInput(llvm::StringRef name, const Type &type,
                 const InputExtents &extents, const RunExtents &values);

/// Which part of an output a run leaves there.
struct OutputPart {
  std::string name;
  /// The output that has its actual extents; empty if there is none.
  std::string extents;
  /// InputExtents::next.
  ExtentList next;
};
std::vector<OutputPart> getOutputParts(const Module &module);

/// The actual parts of \p outputs after a run that stated \p values, without
/// the outputs that have extents. It is an error if extents are larger than the
/// type.
llvm::Expected<Outputs> takeParts(llvm::ArrayRef<OutputPart> parts,
                                  const Outputs &outputs,
                                  const RunExtents &values);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RUNVALUES_H
