//===- RunValues.cpp - What a run is given and leaves ---------------------===//

#include "RunValues.h"
#include "Values.h"
#include "glowish/Base/CopyCorner.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace glowish;
using namespace glowish::fuzz;

std::string fuzz::print(const RunExtents &values) {
  std::vector<std::string> parts;
  for (const auto &[symbol, value] : values)
    parts.push_back(symbol + "=" + std::to_string(value));
  return llvm::join(parts, " ");
}

//===- Inputs -------------------------------------------------------------===//

/// NaN, the largest integers, true.
static void fillUnspecified(Tensor &tensor) {
  ElemKind kind = tensor.getType().getKind();
  unsigned size = getElemSize(kind);
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  std::fill_n(bytes, tensor.getSizeInBytes(),
              uint8_t(kind == ElemKind::Bool ? 1 : 0xFF));
  if (isSignedIntegerKind(kind))
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      bytes[i * size + size - 1] = 0x7F;
}

/// Returns the actual shape of a tensor of \p shape with \p extents.
static Dims findActualShape(DimsRef shape, const ExtentList &extents,
                            const RunExtents &values) {
  return glowish::evaluateShape(shape, extents, [&](llvm::StringRef symbol) {
    return std::optional(values.at(symbol.str()));
  });
}

Tensor fuzz::makeInput(llvm::StringRef name, const Type &type,
                       const InputExtents &extents, const RunExtents &values) {
  if (extents.range)
    return Tensor::fromValues<int64_t>(type,
                                       {values.at(extents.range->symbol)});
  if (extents.dims.empty() && extents.next.empty())
    return makeValues(name, type);
  Tensor whole(type);
  fillUnspecified(whole);
  copyCorner(makeValues(name, type.withShape(findActualShape(
                                  type.getShape(), extents.dims, values))),
             whole);
  return whole;
}

//===- Outputs ------------------------------------------------------------===//

std::vector<OutputPart> fuzz::getOutputParts(const Module &module) {
  std::vector<OutputPart> parts;
  std::set<const Placeholder *> extents;
  for (const auto &placeholder : module.getPlaceholders())
    extents.insert(placeholder->getExtents());
  for (const auto &placeholder : module.getPlaceholders()) {
    if (!placeholder->isOutput() || extents.count(placeholder.get()))
      continue;
    const Placeholder *own = placeholder->getExtents();
    parts.push_back({placeholder->getModelName().str(),
                     own ? own->getModelName().str() : "",
                     placeholder->getInputExtents().next});
  }
  return parts;
}

static std::string print(DimsRef shape) {
  return "[" +
         llvm::join(llvm::map_range(
                        shape, [](int64_t dim) { return std::to_string(dim); }),
                    ", ") +
         "]";
}

/// The part of \p whole that \p extents, an output, says.
static llvm::Expected<Tensor>
takePart(const std::string &name, const Tensor &whole, const Tensor &extents) {
  Dims shape;
  for (unsigned d = 0; d < whole.getType().getRank(); ++d)
    shape.push_back(extents.getAsInt(d));
  for (auto [extent, largest] :
       llvm::zip_equal(shape, whole.getType().getShape()))
    if (extent < 0 || extent > largest)
      return makeError("output '{0}' is {1}, and has the extents {2}", name,
                       whole.getType().str(), print(shape));
  Tensor part(whole.getType().withShape(shape));
  copyCorner(whole, part);
  return part;
}

llvm::Expected<Outputs> fuzz::takeParts(llvm::ArrayRef<OutputPart> parts,
                                        const Outputs &outputs,
                                        const RunExtents &values) {
  Outputs result;
  for (const OutputPart &part : parts) {
    const Tensor &whole = outputs.at(part.name);
    if (!part.extents.empty()) {
      GLOWISH_ASSIGN_OR_RETURN(
          result[part.name],
          takePart(part.name, whole, outputs.at(part.extents)));
      continue;
    }
    const Type &type = whole.getType();
    Tensor own(
        type.withShape(findActualShape(type.getShape(), part.next, values)));
    copyCorner(whole, own);
    result[part.name] = std::move(own);
  }
  return result;
}
