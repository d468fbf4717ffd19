//===- PlaceholderLayout.cpp - Placeholders of several programs -----------===//

#include "glowish/Importer/PlaceholderLayout.h"
#include "glowish/Support/Error.h"

using namespace glowish;

std::vector<PlaceholderLayout::Entry>
PlaceholderLayout::list(const Module &module) {
  std::vector<Entry> entries;
  for (const auto &placeholder : module.getPlaceholders())
    entries.push_back({placeholder->getModelName().str(),
                       Dims(placeholder->getType().getShape()),
                       placeholder->isInput(), placeholder->isOutput(),
                       placeholder->getExtents() != nullptr});
  return entries;
}

PlaceholderLayout::PlaceholderLayout(const Module &module)
    : entries(list(module)) {}

const PlaceholderLayout::Entry *
PlaceholderLayout::find(llvm::StringRef modelName) const {
  for (const Entry &entry : entries)
    if (entry.modelName == modelName)
      return &entry;
  return nullptr;
}

llvm::Expected<Dims> PlaceholderLayout::findShape(llvm::StringRef modelName,
                                                  DimsRef own) const {
  const Entry *entry = find(modelName);
  if (!entry)
    return makeError("there is no '{0}' with the ranges of all symbols",
                     modelName);
  bool fits = own.size() == entry->shape.size();
  for (auto [extent, whole] : llvm::zip(own, entry->shape))
    fits &= extent <= whole;
  if (!fits)
    return makeError("'{0}' has the extents {1} with the ranges of all "
                     "symbols, and {2} with single values; accepted: extents "
                     "that are not larger",
                     modelName, formatShape(entry->shape), formatShape(own));
  return entry->shape;
}

bool PlaceholderLayout::hasExtents(llvm::StringRef modelName) const {
  const Entry *entry = find(modelName);
  return entry && entry->hasExtents;
}

llvm::Error PlaceholderLayout::check(const Module &module) const {
  std::vector<Entry> others = list(module);
  if (others == entries)
    return llvm::Error::success();
  for (auto [own, other] : llvm::zip(entries, others))
    if (!(own == other))
      return makeError("'{0}' has the extents {1} with the ranges of all "
                       "symbols, and '{2}' {3} with single values; accepted: "
                       "values with which the model has the same inputs and "
                       "outputs",
                       own.modelName, formatShape(own.shape), other.modelName,
                       formatShape(other.shape));
  return makeError("there are {0} inputs and outputs with the ranges of all "
                   "symbols, and {1} with single values; accepted: values with "
                   "which the model has the same",
                   entries.size(), others.size());
}
