//===- Type.cpp - Tensor types --------------------------------------------===//

#include "glowish/Base/Type.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace glowish;

Type::Type(ElemKind kind, DimsRef shape, QuantParams params)
    : kind(kind), shape(shape),
      quant(std::make_shared<const QuantParams>(std::move(params))) {
  assert(isQuantizedKind(kind) && "only quantized kinds take parameters");
  assert(quant->scales.size() == quant->offsets.size() &&
         quant->scales.size() ==
             (quant->axis < 0 ? 1u : size_t(shape[quant->axis])) &&
         "one scale and one offset per index of the axis");
}

int64_t glowish::countElements(DimsRef shape) {
  // Constant folding spends a part of its time here, and CheckedInt would take
  // twice the instructions.
  int64_t count = 1;
  bool fits = true;
  for (int64_t dim : shape)
    fits &= !__builtin_mul_overflow(count, dim, &count);
  if (fits)
    return count;
  return llvm::is_contained(shape, 0) ? 0 : INT64_MAX;
}

int64_t Type::getNumElements() const { return countElements(shape); }

const Extent *Type::getExtent(unsigned index) const {
  if (!extents || !(*extents)[index])
    return nullptr;
  return &*(*extents)[index];
}

Extent Type::getLength(unsigned index) const {
  const Extent *extent = getExtent(index);
  return extent ? *extent : Extent(getDim(index));
}

std::vector<Extent> Type::getLengths() const {
  std::vector<Extent> lengths;
  for (unsigned d = 0; d < getRank(); ++d)
    lengths.push_back(getLength(d));
  return lengths;
}

llvm::ArrayRef<std::optional<Extent>> Type::getExtents() const {
  if (!extents)
    return {};
  return *extents;
}

Type Type::withExtents(llvm::ArrayRef<std::optional<Extent>> newExtents) const {
  assert((newExtents.empty() || newExtents.size() == shape.size()) &&
         "one for each dimension");
  Type result = withoutExtents();
  ExtentList own(newExtents);
  bool isAny = false;
  // An extent that is always the bound is none: a type has one form.
  for (auto [extent, bound] : llvm::zip(own, shape)) {
    if (extent && extent->getConstant() == bound)
      extent.reset();
    isAny |= extent.has_value();
  }
  if (isAny)
    result.extents = std::make_shared<const ExtentList>(std::move(own));
  return result;
}

Type Type::withoutExtents() const {
  Type result = *this;
  result.extents = nullptr;
  return result;
}

Type Type::withShape(DimsRef newShape) const {
  Type result = withoutExtents();
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

Type Type::withKind(ElemKind newKind) const {
  Type result(newKind, shape);
  result.extents = extents;
  return result;
}

template <typename T>
static bool areEqual(const std::shared_ptr<const T> &a,
                     const std::shared_ptr<const T> &b) {
  return a == b || (a && b && *a == *b);
}

bool Type::operator==(const Type &other) const {
  return kind == other.kind && shape == other.shape &&
         areEqual(quant, other.quant) && areEqual(extents, other.extents);
}

static void printFloat(llvm::raw_ostream &os, float value) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  os << llvm::StringRef(text, end - text);
}

void Type::print(llvm::raw_ostream &os) const {
  os << getElemKindName(kind) << '<';
  for (unsigned d = 0; d < shape.size(); ++d) {
    os << (d ? "x" : "") << shape[d];
    if (const Extent *extent = getExtent(d))
      os << '{' << extent->str() << '}';
  }
  if (quant) {
    os << ", ";
    if (quant->axis < 0) {
      os << "scale ";
      printFloat(os, quant->scales[0]);
      os << " offset " << quant->offsets[0];
    } else {
      os << "axis " << quant->axis << " scale [";
      llvm::interleave(
          quant->scales, os, [&](float s) { printFloat(os, s); }, ", ");
      os << "] offset [";
      llvm::interleave(quant->offsets, os, ", ");
      os << ']';
    }
  }
  os << '>';
}

std::string Type::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::hash_code glowish::hash_value(const Type &type) {
  return llvm::hash_combine(
      unsigned(type.getKind()),
      llvm::hash_combine_range(type.getShape().begin(), type.getShape().end()));
}

llvm::raw_ostream &glowish::operator<<(llvm::raw_ostream &os,
                                       const Type &type) {
  type.print(os);
  return os;
}

Dims glowish::getDenseStrides(DimsRef shape) {
  Dims strides(shape.size());
  CheckedInt stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride.get().value_or(INT64_MAX);
    stride *= shape[i];
  }
  return strides;
}

std::string glowish::formatShape(DimsRef shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text;
}

llvm::Error glowish::checkShape(ElemKind kind, DimsRef shape) {
  // Zero extents are left out of the count: strides are computed from all
  // extents, so a huge extent next to a zero has to be refused as well.
  int64_t bytes = getElemSize(kind);
  for (int64_t dim : shape) {
    if (dim < 0)
      return makeError("shape {0} has a negative extent", formatShape(shape));
    if (dim == 0)
      continue;
    if (dim > maxTensorBytes / bytes)
      return makeError(
          "a tensor of kind {0} and shape {1} is larger than {2} bytes",
          getElemKindName(kind), formatShape(shape), maxTensorBytes);
    bytes *= dim;
  }
  return llvm::Error::success();
}
