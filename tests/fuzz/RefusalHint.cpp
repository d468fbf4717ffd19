//===- RefusalHint.cpp - What a refusal would accept ----------------------===//

#include "RefusalHint.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {
using Words = llvm::ArrayRef<llvm::StringRef>;
} // namespace

/// "2x3", "4" or "scalar".
static std::optional<Dims> readShape(llvm::StringRef text) {
  Dims shape;
  if (text == "scalar")
    return shape;
  llvm::SmallVector<llvm::StringRef, 6> parts;
  text.split(parts, 'x');
  for (llvm::StringRef part : parts)
    if (part.getAsInteger(10, shape.emplace_back()))
      return std::nullopt;
  return shape;
}

/// "a float kind", "an integer kind" and others: all kinds that are one.
static void addKindsOfClass(llvm::StringRef word,
                            std::vector<ElemKind> &kinds) {
  bool (*isOfClass)(ElemKind) = word == "float"       ? isFloatKind
                                : word == "integer"   ? isIntegerKind
                                : word == "quantized" ? isQuantizedKind
                                                      : nullptr;
  if (isOfClass)
    llvm::copy_if(allElemKinds, std::back_inserter(kinds), isOfClass);
}

/// "float", or a type as "float<2x3>" or "float<2x3, scale 1 offset 0>".
static void readKind(llvm::StringRef word, RefusalHint &hint) {
  auto [kind, shape] = word.split('<');
  std::optional<ElemKind> parsed = parseElemKind(kind);
  if (!parsed)
    return;
  hint.kinds.push_back(*parsed);
  if (word.contains('<'))
    hint.shape =
        shape.rtrim('>').empty() ? Dims() : readShape(shape.rtrim('>'));
}

/// What follows a number: what it is the number of.
static void readNumber(int64_t number, Words rest, RefusalHint &hint) {
  if (rest.empty())
    return;
  llvm::StringRef unit = rest[0];
  if (unit == "values" || unit == "value")
    hint.numValues = number;
  else if (unit == "rows")
    hint.extents.push_back({-2, number});
  else if (unit == "columns")
    hint.extents.push_back({-1, number});
  else if (rest.size() >= 4 && unit == "as" && rest[3] == "extent")
    hint.extents.push_back({rest[2] == "last" ? -1 : 0, number});
}

/// What follows words[index], if that begins something about a shape.
static bool readShapeWord(Words words, size_t index, RefusalHint &hint) {
  llvm::StringRef word = words[index];
  Words rest = words.drop_front(index + 1);
  if (rest.empty())
    return false;
  int64_t number, dim;
  if (word == "shape") {
    hint.shape = readShape(rest[0]);
    return true;
  }
  if (word == "rank" && !rest[0].getAsInteger(10, number)) {
    hint.rank = number;
    hint.isLeastRank = index > 0 && words[index - 1] == "least";
    return true;
  }
  if (word == "extent" && rest.size() >= 4 && rest[2] == "dimension" &&
      !rest[0].getAsInteger(10, number) && !rest[3].getAsInteger(10, dim)) {
    hint.extents.push_back({dim, number});
    return true;
  }
  return false;
}

RefusalHint glowish::fuzz::readHint(llvm::StringRef refusal) {
  RefusalHint hint;
  llvm::StringRef text = refusal.split("expected ").second;
  bool isClass = text.starts_with("a ") || text.starts_with("an ");
  llvm::SmallVector<llvm::StringRef, 16> words;
  text.split(words, ' ');
  for (llvm::StringRef &word : words)
    word = word.rtrim(",;");
  for (size_t i = 0; i < words.size(); ++i) {
    int64_t number;
    if (!words[i].getAsInteger(10, number))
      readNumber(number, Words(words).drop_front(i + 1), hint);
    else if (readShapeWord(words, i, hint))
      continue;
    else if (isClass)
      addKindsOfClass(words[i], hint.kinds);
    else
      readKind(words[i], hint);
  }
  return hint;
}

/// Dimension \p dim of \p rank, from the end if it is negative; null where
/// there is none.
static std::optional<size_t> findDim(int64_t dim, size_t rank) {
  int64_t d = dim < 0 ? dim + int64_t(rank) : dim;
  return d >= 0 && d < int64_t(rank) ? std::optional<size_t>(d) : std::nullopt;
}

bool RefusalHint::accepts(const Type &type) const {
  if ((!kinds.empty() && !llvm::is_contained(kinds, type.getKind())) ||
      (shape && DimsRef(*shape) != type.getShape()) ||
      (rank &&
       (isLeastRank ? type.getRank() < *rank : type.getRank() != *rank)))
    return false;
  return llvm::all_of(extents, [&](const auto &entry) {
    std::optional<size_t> d = findDim(entry.first, type.getRank());
    return d && type.getDim(unsigned(*d)) == entry.second;
  });
}

void RefusalHint::setExtents(Dims &own) const {
  for (auto [dim, extent] : extents)
    if (std::optional<size_t> d = findDim(dim, own.size()))
      own[*d] = extent;
}
