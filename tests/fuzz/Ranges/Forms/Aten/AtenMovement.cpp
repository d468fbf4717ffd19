//===- AtenMovement.cpp - Operators that move elements as ATen's ----------===//

#include "AtenBuilder.h"
#include <numeric>

using namespace glowish;
using namespace glowish::fuzz;

/// 0, 1, ...
static AtenArg getPositions(size_t count) {
  std::vector<int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  return llvm::ArrayRef(positions);
}

static bool translateTranspose(AtenBuilder &b, const FormNode &node) {
  std::vector<int64_t> perm = node.getInts("perm");
  auto rank = int64_t(node.getRank(0));
  if (perm.empty())
    for (int64_t d = rank; d-- > 0;)
      perm.push_back(d);
  std::vector<int64_t> moved;
  for (int64_t d = 0; d < rank; ++d)
    if (perm[size_t(d)] != d)
      moved.push_back(d);
  AtenArg x = b.getInput(node, 0);
  if (rank == 2 && !moved.empty() && b.chance(node, 30))
    b.finish(node, b.chance(node, 50, 1) ? "t" : "numpy_T", {x});
  else if (moved.size() == 2 && moved[1] == rank - 1 && moved[0] == rank - 2 &&
           b.chance(node, 30, 2))
    b.finish(node, "mT", {x});
  else if (b.chance(node, 20, 3))
    // Dimension perm[i] goes to i.
    b.finish(node, "movedim.intlist",
             {x, llvm::ArrayRef(perm), getPositions(size_t(rank))});
  else if (moved.size() == 2 && b.chance(node, 50))
    b.finish(node, "transpose.int", {x, moved[0], moved[1] - rank});
  else
    b.finish(node, "permute", {x, llvm::ArrayRef(perm)});
  return true;
}

/// Copies parts that have numbers of rows to a new tensor, in place.
static bool concatenateInPlace(AtenBuilder &b, const FormNode &node,
                               const AtenArg::List &parts, int64_t axis) {
  const Type &type = node.getOutputType();
  std::optional<AtenArg> sizes = b.makeNumbers(type.getLengths());
  if (!sizes || !type.getLength(unsigned(axis)).isConstant())
    return false;
  AtenArg whole = b.call("zeros", {*sizes}, AtenTensorType(type),
                         {{"dtype", type.getKind()}});
  int64_t start = 0;
  for (const AtenArg &part : parts) {
    const AtenTensorType &own = b.getType(part);
    int64_t end = start + *own.dims[size_t(axis)].getConstant();
    AtenArg place =
        b.call("slice.Tensor", {whole, axis, start, end, int64_t(1)}, own);
    b.write("copy_", {place, part});
    start = end;
  }
  b.finish(node, "clone", {whole});
  return true;
}

static bool translateConcat(AtenBuilder &b, const FormNode &node) {
  AtenArg::List parts;
  for (unsigned i = 0; i < node.getNumInputs(); ++i)
    parts.push_back(b.getInput(node, i));
  int64_t axis = node.getAxis("axis", 0, node.getRank(0));
  if (b.isScript() && b.chance(node, 30))
    if (concatenateInPlace(b, node, parts, axis))
      return true;
  if (b.chance(node, 30))
    axis -= node.getRank(0);
  b.finish(node, "cat", {parts, axis});
  return true;
}

/// The last element first, and each step after it.
static bool translateReversed(AtenBuilder &b, const FormNode &node,
                              int64_t axis, int64_t step) {
  auto start = node.findInts(1), end = node.findInts(2);
  if (!start || !end || (*start)[0] != -1 || (*end)[0] != INT64_MIN)
    return false;
  AtenArg x = b.getInput(node, 0);
  if (step == -1)
    b.finish(node, "flip", {x, llvm::ArrayRef(axis)});
  else
    b.finish(node, "slice.Tensor",
             {b.flip(x, axis), axis, int64_t(0), INT64_MAX, -step});
  return true;
}

static bool translateSlice(AtenBuilder &b, const FormNode &node) {
  auto axes = node.findInts(3), steps = node.findInts(4);
  if (!axes || axes->size() != 1 || !steps || steps->size() != 1)
    return false;
  auto rank = int64_t(node.getRank(0));
  int64_t axis = (*axes)[0] + ((*axes)[0] < 0 ? rank : 0), step = (*steps)[0];
  if (step < 0)
    return translateReversed(b, node, axis, step);
  auto starts = b.findInts(node.getInput(1)),
       ends = b.findInts(node.getInput(2));
  if (!starts || !ends)
    return false;
  std::optional<AtenArg> start = b.makeNumber((*starts)[0]),
                         end = b.makeNumber((*ends)[0]);
  if (!start || !end)
    return false;
  Extent length = node.getType(0).getLength(unsigned(axis));
  auto count = subtract((*ends)[0], (*starts)[0]);
  SymbolRanges ranges(b.model.model.ranges);
  bool isInside = count && *count == node.getOutputType().getLength(axis) &&
                  ranges.isAtMost((*ends)[0], length) == Certainty::Yes;
  AtenArg x = b.getInput(node, 0);
  if (isInside && step == 1 && count->isConstant() &&
      (*starts)[0].isConstant() && (*starts)[0].getConstant() >= 0 &&
      b.chance(node, 40)) {
    b.finish(node, "narrow", {x, axis, *start, *count->getConstant()});
    return true;
  }
  if (b.chance(node, 30) && (*starts)[0] == Extent(0))
    start = AtenArg();
  if (b.chance(node, 50) && (*ends)[0] == Extent(INT64_MAX))
    end = AtenArg();
  b.finish(node, "slice.Tensor", {x, axis, *start, *end, step});
  return true;
}

static bool translateSplit(AtenBuilder &b, const FormNode &node) {
  int64_t axis = node.getAxis("axis", 0, node.getRank(0));
  std::vector<int64_t> sizes;
  for (unsigned i = 0; i < node.getNumOutputs(); ++i) {
    auto size = node.getOutputType(i).getLength(unsigned(axis)).getConstant();
    if (!size)
      return false;
    sizes.push_back(*size);
  }
  AtenArg x = b.getInput(node, 0);
  // Chunks are as large as the first, up to the last, which has some.
  bool isEven = sizes.back() > 0 && sizes.back() <= sizes[0] &&
                llvm::all_equal(llvm::ArrayRef(sizes).drop_back());
  if (isEven && b.chance(node, 40))
    b.finishAll(node, "split.Tensor", {x, sizes[0], axis},
                AtenResult::ListOfTensors);
  else if (isEven && !node.hasInput(1) && b.chance(node, 60, 1))
    b.finishAll(node, "chunk", {x, int64_t(sizes.size()), axis},
                AtenResult::ListOfTensors);
  else
    b.finishAll(node, "split_with_sizes", {x, llvm::ArrayRef(sizes), axis},
                AtenResult::ListOfTensors);
  return true;
}

static bool translatePad(AtenBuilder &b, const FormNode &node) {
  auto pads = node.findInts(1);
  if (!pads || node.hasInput(3))
    return false;
  auto rank = int64_t(node.getRank(0));
  std::string mode = node.getString("mode", "constant");
  // Pairs from the last dimension on.
  int64_t first = 0;
  while (first < rank && (*pads)[size_t(first)] == 0 &&
         (*pads)[size_t(first + rank)] == 0)
    ++first;
  std::vector<int64_t> own;
  for (int64_t d = rank; d-- > first;) {
    own.push_back((*pads)[size_t(d)]);
    own.push_back((*pads)[size_t(d + rank)]);
  }
  AtenArg x = b.getInput(node, 0);
  if (mode == "constant") {
    AtenArg value(int64_t(0));
    if (node.hasInput(2)) {
      auto number = b.findScalar(node, 2);
      if (!number)
        return false;
      value = *number;
    }
    b.finish(node, "constant_pad_nd", {x, llvm::ArrayRef(own), value});
    return true;
  }
  // Of the last dimension of matrices of channels, and of images.
  if (!isFloatKind(node.getType(0).getKind()))
    return false;
  bool isRow = rank == 3 && own.size() == 2;
  if (rank == 4 && own.size() <= 4 && !own.empty())
    own.resize(4);
  else if (!isRow)
    return false;
  std::string name = mode == "edge" ? "replication_pad" : "reflection_pad";
  b.finish(node, name + (isRow ? "1d" : "2d"), {x, llvm::ArrayRef(own)});
  return true;
}

static bool translateTrilu(AtenBuilder &b, const FormNode &node) {
  std::optional<AtenArg> diagonal(int64_t(0));
  if (node.hasInput(1))
    diagonal = b.findScalar(node, 1);
  if (!diagonal)
    return false;
  b.finish(node, node.getInt("upper", 1) ? "triu" : "tril",
           {b.getInput(node, 0), *diagonal});
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenMovement() {
  static const AtenTranslation translations[] = {
      {"Transpose", translateTranspose},
      {"Concat", translateConcat},
      {"Slice", translateSlice},
      {"Split", translateSplit},
      {"Pad", translatePad},
      {"Trilu", translateTrilu}};
  return translations;
}
