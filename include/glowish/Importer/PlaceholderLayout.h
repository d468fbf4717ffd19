//===- PlaceholderLayout.h - Placeholders of several programs ---*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_PLACEHOLDERLAYOUT_H
#define GLOWISH_IMPORTER_PLACEHOLDERLAYOUT_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// The placeholders of an imported model. An import of the same model for fewer
/// values of its symbols can be given them (ImportOptions::layout): its own
/// values are then the corners of larger placeholders, and a program of either
/// module runs on the same memory.
class PlaceholderLayout {
public:
  explicit PlaceholderLayout(const Module &module);

  /// The extents of the placeholder \p modelName for values with the extents
  /// \p own, which are at least these. An error if there is none, or if it is
  /// of another rank, or smaller.
  llvm::Expected<Dims> findShape(llvm::StringRef modelName, DimsRef own) const;
  /// Whether the output \p modelName has an output with its extents.
  bool hasExtents(llvm::StringRef modelName) const;
  /// An error if \p module has other placeholders, or in another order.
  llvm::Error check(const Module &module) const;

private:
  struct Entry {
    std::string modelName;
    Dims shape;
    bool isInput, isOutput, hasExtents;
    bool operator==(const Entry &) const = default;
  };
  static std::vector<Entry> list(const Module &module);
  const Entry *find(llvm::StringRef modelName) const;

  std::vector<Entry> entries;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_PLACEHOLDERLAYOUT_H
