//===- ExtentMovementCases.cpp - Movement of random extents ---------------===//

#include "ExtentDims.h"
#include "ExtentTemplates.h"

using namespace glowish;

namespace {

std::string makeConcat(Random &random) {
  DimVector dims = makeDims(random);
  auto axis = size_t(random.below(dims.size()));
  std::string text = "Concat(";
  auto count = pick(random, 1, 4);
  for (int64_t i = 0; i < count; ++i) {
    dims[axis] = makeDim(random);
    text += (i ? ", " : "") + makeType("float", dims);
  }
  return text + ") {axis = " + std::to_string(axis) + "}";
}

/// Slices of all, to the end and of what is always there.
std::string makeSlice(Random &random) {
  DimVector dims = makeDims(random);
  std::vector<int64_t> starts, steps;
  std::string sizes;
  for (const Dim &dim : dims) {
    int64_t start = pick(random, 0, dim.low);
    int64_t step = pick(random, 1, 3);
    std::string size;
    if (!dim.isOpen) {
      start = std::min(start, dim.bound - 1);
      size = std::to_string(1 + (dim.bound - 1 - start) / step);
    } else if (random.below(2)) {
      std::string rest = "(" + dim.expression + " + " +
                         std::to_string(step - 1 - start) + ")//" +
                         std::to_string(step);
      size = std::to_string((dim.bound - start + step - 1) / step) + "?{" +
             rest + "}";
    } else if (dim.low == 0) {
      start = 0;
      size = "0";
    } else {
      start = std::min(start, dim.low - 1);
      bool isBackward = random.below(2);
      int64_t most = 1 + (isBackward ? start : dim.low - 1 - start) / step;
      step = isBackward ? -step : step;
      size = std::to_string(pick(random, 1, most));
    }
    starts.push_back(start);
    steps.push_back(step);
    sizes += (sizes.empty() ? "" : ", ") + size;
  }
  return "Slice(" + makeType("float", dims) +
         ") {starts = " + makeNumbers(starts) + ", sizes = [" + sizes +
         "], steps = " + makeNumbers(steps) + "}";
}

std::string makeTranspose(Random &random) {
  DimVector dims = makeDims(random, 1 + unsigned(random.below(4)));
  std::vector<int64_t> permutation;
  for (size_t d = 0; d < dims.size(); ++d)
    permutation.insert(permutation.begin() + int64_t(random.below(d + 1)),
                       int64_t(d));
  return "Transpose(" + makeType("float", dims) +
         ") {permutation = " + makeNumbers(permutation) + "}";
}

/// Joins and splits of groups of dimensions, of which the first is open.
std::string makeReshape(Random &random) {
  DimVector from, to;
  auto addOnes = [&](DimVector &dims) {
    for (uint64_t i = random.below(2); i > 0; --i)
      dims.push_back(fix(1));
  };
  for (int64_t i = pick(random, 1, 3); i > 0; --i) {
    Dim outer = makeDim(random);
    if (outer.bound == 1)
      outer = fix(2);
    int64_t a = pick(random, 1, 3), b = pick(random, 2, 3);
    addOnes(from);
    addOnes(to);
    DimVector whole = {multiplyDim(outer, a * b)};
    DimVector two = {multiplyDim(outer, a), fix(b)};
    DimVector three = {outer, fix(a), fix(b)}, other = {outer, fix(a * b)};
    const DimVector *all[] = {&whole, &two, &three, &other};
    llvm::append_range(from, *all[random.below(4)]);
    addOnes(from);
    llvm::append_range(to, *all[random.below(4)]);
    addOnes(to);
  }
  return "Reshape(" + makeType("float", from) + ") {shape = " + makeList(to) +
         "}";
}

std::string makeBroadcast(Random &random) {
  DimVector result = makeDims(random);
  DimVector operand = result;
  for (auto [dim, target] : llvm::zip_equal(operand, result))
    if (random.below(3) == 0) {
      // An attribute that follows no operand is static.
      dim = fix(1);
      target = fix(pick(random, 1, 5));
    }
  size_t dropped = 0;
  while (dropped < operand.size() && !operand[dropped].isOpen &&
         random.below(2))
    ++dropped;
  operand.erase(operand.begin(), operand.begin() + int64_t(dropped));
  return "Broadcast(" + makeType("float", operand) +
         ") {shape = " + makeList(result) + "}";
}

std::string makeTile(Random &random) {
  DimVector dims = makeDims(random);
  std::vector<int64_t> repeats;
  for (const Dim &dim : dims)
    repeats.push_back(dim.isOpen && random.below(6) ? 1 : pick(random, 1, 3));
  return "Tile(" + makeType("float", dims) +
         ") {repeats = " + makeNumbers(repeats) + "}";
}

std::string makePad(Random &random) {
  DimVector dims = makeDims(random);
  std::vector<int64_t> pads;
  for (const Dim &dim : dims)
    pads.push_back(pick(random, -dim.low, 2));
  for (const Dim &dim : dims)
    pads.push_back(dim.isOpen ? pick(random, -1, 2) : pick(random, 0, 2));
  bool isConstant = random.below(4);
  for (int64_t &pad : pads)
    if (!isConstant && (random.below(2) || pad < 0))
      pad = 0;
  return "Pad(" + makeType("float", dims) + ") {pads = " + makeNumbers(pads) +
         ", mode = \"" + (isConstant ? "constant" : "edge") +
         "\", value = 0.0}";
}

std::string makeGather(Random &random) {
  DimVector dims = makeDims(random);
  return "Gather(" + makeType("float", dims) + ", " +
         makeType("int64", makeDims(random, unsigned(random.below(3)))) +
         ") {axis = " + std::to_string(random.below(dims.size())) + "}";
}

std::string makeScatter(Random &random) {
  Dim columns = makeDim(random), count = makeDim(random);
  return "Scatter(" + makeType("float", {makeDim(random), columns}) + ", " +
         makeType("int32", {count}) + ", " +
         makeType("float", {count, columns}) + ") {mode = \"add\"}";
}

std::string makeUpdate(Random &random) {
  DimVector dims = makeDims(random);
  auto axis = size_t(random.below(dims.size()));
  DimVector update = dims;
  update[axis] = random.below(6) ? fix(pick(random, 0, dims[axis].low))
                                 : makeOpenDim(random);
  return "DynamicUpdateSlice(" + makeType("float", dims) + ", " +
         makeType("float", update) +
         ", int64<>) {axis = " + std::to_string(axis) + "}";
}

std::string makeDeclared(Random &random) {
  DimVector dims = makeDims(random);
  std::string bounds =
      replaceExtents(makeType("float", dims),
                     [](llvm::StringRef bound, bool, llvm::StringRef extent) {
                       return (bound + "?{" + extent + "}").str();
                     });
  return "DeclareExtents(" + bounds + ") {resultType = [" +
         makeType("float", dims) + "]}";
}

/// The first two dimensions are joined, or split.
std::string makeRepack(Random &random) {
  DimVector dims = makeDims(random, 3);
  Dim joined = {"(" + dims[0].expression + ")*(" + dims[1].expression + ")",
                dims[0].low * dims[1].low, dims[0].high * dims[1].high,
                dims[0].bound * dims[1].bound,
                dims[0].isOpen || dims[1].isOpen};
  std::string types[] = {makeType("float", dims),
                         makeType("float", {joined, dims[2]})};
  bool splits = random.below(2);
  return "Repack(" + types[splits] + ") {resultType = [" + types[!splits] +
         "]}";
}

} // namespace

std::map<std::string, MakeCase> glowish::makeMovementCases() {
  return {
      {"Broadcast", makeBroadcast},
      {"Concat", makeConcat},
      {"DeclareExtents", makeDeclared},
      {"DynamicUpdateSlice", makeUpdate},
      {"Gather", makeGather},
      {"Pad", makePad},
      {"Repack", makeRepack},
      {"Reshape", makeReshape},
      {"Scatter", makeScatter},
      {"Slice", makeSlice},
      {"Tile", makeTile},
      {"Transpose", makeTranspose},
  };
}
