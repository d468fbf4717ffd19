//===- ExtentRulesTest.cpp - Extents of the results of nodes --------------===//
//
// Nodes with random extents: what the extent rules infer is, for all values of
// the symbols, what the type rules infer of the shapes with these values.
//
//===----------------------------------------------------------------------===//

#include "glowish/Ops/ExtentRules.h"
#include "ExtentTemplates.h"
#include "InferTypes.h"
#include "glowish/Ops/Scalar.h"
#include "glowish/Support/Random.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace glowish;
using Values = ExtentValues;

namespace {

//===- Templates ----------------------------------------------------------===//

const std::map<std::string, IntRange> ranges = {
    {"N", {0, 4}}, {"M", {1, 3}}, {"L", {2, 6}}};

void forEachValues(llvm::function_ref<void(const Values &)> visit) {
  auto get = [](const char *symbol) { return ranges.find(symbol)->second; };
  for (int64_t n = get("N").low; n <= get("N").high; ++n)
    for (int64_t m = get("M").low; m <= get("M").high; ++m)
      for (int64_t l = get("L").low; l <= get("L").high; ++l)
        visit({{"N", n}, {"M", m}, {"L", l}});
}

//===- Inference ----------------------------------------------------------===//

struct Inferred {
  std::string types;
  std::vector<ExtentRequirement> requirements;
};

llvm::Expected<Inferred> inferOpen(llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(ParsedOp op, parseOp(text));
  llvm::SmallVector<bool> present;
  std::vector<const Type *> inputs;
  for (const std::optional<Type> &type : op.inputs) {
    inputs.push_back(type ? &*type : nullptr);
    present.push_back(type.has_value());
  }
  GLOWISH_RETURN_IF_ERROR(checkStructure(*op.info, present, op.attrs));
  Inferred result;
  GLOWISH_ASSIGN_OR_RETURN(
      TypeList types, inferTypes(OpView(*op.info, inputs, {}, op.attrs),
                                 SymbolRanges(ranges), result.requirements));
  for (const Type &type : types)
    result.types += (result.types.empty() ? "" : ", ") + type.str();
  return result;
}

/// The types of the results with their extents, or the message of the error.
std::string inferText(llvm::StringRef text) {
  llvm::Expected<Inferred> result = inferOpen(text);
  return result ? result->types : llvm::toString(result.takeError());
}

int64_t evaluateHeight(const Extent &extent, int64_t height) {
  return *extent.evaluate(
      [&](llvm::StringRef) { return std::optional(height); });
}

bool hold(llvm::ArrayRef<ExtentRequirement> requirements,
          const Values &values) {
  return llvm::all_of(requirements, [&](const ExtentRequirement &required) {
    return evaluate(required.a, values) == evaluate(required.b, values);
  });
}

/// What became of a case.
struct Outcome {
  bool isRefused = false;
  /// For so many values the result was compared.
  unsigned numCompared = 0;
};

/// Whether a static node is refused because nothing would be computed. With
/// extents it has a result, of which there is nothing or which nothing reads.
bool isOfNothing(llvm::StringRef message) {
  return llvm::any_of(
      llvm::ArrayRef({"there is nothing", "there is no ", "does not fit",
                      "has no elements", "have no pixels"}),
      [&](const char *part) { return message.contains(part); });
}

/// Compares what is inferred of \p text with extents with what is for all
/// values.
Outcome check(const std::string &text) {
  Outcome outcome;
  llvm::Expected<std::string> bounds = inferOrFail(makeBounds(text));
  if (!bounds) {
    llvm::consumeError(bounds.takeError());
    outcome.isRefused = true;
    return outcome;
  }
  llvm::Expected<Inferred> open = inferOpen(makeOpen(text));
  if (!open) {
    std::string message = llvm::toString(open.takeError());
    EXPECT_TRUE(llvm::StringRef(message).contains("dimension") ||
                llvm::StringRef(message).contains("decides an extent"))
        << text << ": " << message;
    outcome.isRefused = true;
    return outcome;
  }
  forEachValues([&](const Values &values) {
    if (!hold(open->requirements, values))
      return;
    llvm::Expected<std::string> expected =
        inferOrFail(makeStatic(text, values));
    if (!expected) {
      std::string message = llvm::toString(expected.takeError());
      EXPECT_TRUE(isOfNothing(message))
          << text << " as " << makeStatic(text, values) << ": " << message
          << ", not " << open->types;
      return;
    }
    ++outcome.numCompared;
    EXPECT_EQ(makeStatic(open->types, values), *expected)
        << text << " is " << open->types;
  });
  return outcome;
}

//===- Random shapes ------------------------------------------------------===//

int64_t pick(Random &random, int64_t low, int64_t high) {
  return low + int64_t(random.below(uint64_t(high - low + 1)));
}

/// A dimension, static or with an extent, of at least \p least for all values.
struct Dim {
  std::string expression;
  int64_t low, high;
  int64_t bound;
  bool isOpen;

  std::string str() const {
    return isOpen ? std::to_string(bound) + "{" + expression + "}"
                  : std::to_string(bound);
  }
  /// The same where a list of attributes has it.
  std::string attr() const {
    return isOpen ? std::to_string(bound) + "?{" + expression + "}" : str();
  }
};

Dim fix(int64_t extent) {
  return {std::to_string(extent), extent, extent, extent, false};
}

Dim makeOpenDim(Random &random, int64_t least = 0) {
  static const Dim all[] = {{"N", 0, 4, 0, true},
                            {"M", 1, 3, 0, true},
                            {"L", 2, 6, 0, true},
                            {"2*N", 0, 8, 0, true},
                            {"N + M", 1, 7, 0, true},
                            {"(N + 1)//2", 0, 2, 0, true},
                            {"3*L - N", 2, 18, 0, true},
                            {"L + 2", 4, 8, 0, true},
                            {"M*L", 2, 18, 0, true},
                            {"2*M + 1", 3, 7, 0, true},
                            {"(L + N)//3 + 2", 2, 5, 0, true}};
  for (;;) {
    Dim dim = all[random.below(std::size(all))];
    if (dim.low < least)
      continue;
    dim.bound = dim.high + pick(random, 0, 2);
    return dim;
  }
}

Dim makeDim(Random &random, int64_t least = 0) {
  if (random.below(2))
    return makeOpenDim(random, least);
  return fix(pick(random, std::max<int64_t>(least, 1), 5));
}

using DimVector = std::vector<Dim>;

DimVector makeDims(Random &random, unsigned rank) {
  DimVector dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(makeDim(random));
  return dims;
}

std::string makeType(llvm::StringRef kind, llvm::ArrayRef<Dim> dims) {
  std::string text = kind.str() + "<";
  for (const Dim &dim : dims)
    text += (text.back() == '<' ? "" : "x") + dim.str();
  return text + ">";
}

/// The same as a list of attributes.
std::string makeList(llvm::ArrayRef<Dim> dims) {
  std::string text = "[";
  for (const Dim &dim : dims)
    text += (text.size() == 1 ? "" : ", ") + dim.attr();
  return text + "]";
}

std::string makeNumbers(llvm::ArrayRef<int64_t> numbers) {
  std::string text = "[";
  for (int64_t number : numbers)
    text += (text.size() == 1 ? "" : ", ") + std::to_string(number);
  return text + "]";
}

//===- Cases --------------------------------------------------------------===//

using MakeCase = std::function<std::string(Random &)>;

std::string makeBool(Random &random) {
  return random.below(2) ? "true" : "false";
}

/// \p name(type) {axis, attributes} with any axis.
MakeCase makeUnary(std::string name, std::string kind, unsigned leastRank,
                   std::string attrs, bool hasAxis) {
  return [=](Random &random) {
    unsigned rank = leastRank + unsigned(random.below(3));
    std::string text =
        name + "(" + makeType(kind, makeDims(random, rank)) + ")";
    std::string own = attrs;
    if (hasAxis)
      own = "axis = " + std::to_string(random.below(rank)) +
            (own.empty() ? "" : ", ") + own;
    return own.empty() ? text : text + " {" + own + "}";
  };
}

/// Operands that broadcast to the same shape.
std::vector<DimVector> makeBroadcasting(Random &random, unsigned count) {
  DimVector all = makeDims(random, 1 + unsigned(random.below(3)));
  std::vector<DimVector> operands(count, all);
  for (DimVector &operand : operands) {
    for (Dim &dim : operand)
      if (random.below(4) == 0)
        dim = fix(1);
    operand.erase(operand.begin(),
                  operand.begin() + int64_t(random.below(operand.size() + 1)));
  }
  return operands;
}

std::string makeElementWise(Random &random, const OpInfo &info) {
  const ScalarOpInfo &scalar = getScalarOpInfo(*info.scalarOp);
  using Kinds = ScalarOpInfo::Kinds;
  std::string kind = scalar.kinds == Kinds::Int32     ? "int32"
                     : scalar.kinds == Kinds::Integer ? "int32"
                     : scalar.kinds == Kinds::UInt64  ? "uint64"
                     : scalar.kinds == Kinds::Bool    ? "bool"
                     : scalar.kinds == Kinds::Byte    ? "int8"
                                                      : "float";
  std::string text = info.name.str() + "(";
  std::vector<DimVector> operands = makeBroadcasting(random, scalar.numArgs);
  for (auto [i, dims] : llvm::enumerate(operands))
    text += (i ? ", " : "") +
            makeType(i == 0 && scalar.firstIsBool ? "bool" : kind, dims);
  std::string attrs;
  for (const AttrInfo &attr : info.attrs) {
    attrs += (attrs.empty() ? "" : ", ") + attr.name.str() + " = ";
    if (attr.kind == AttrKind::Kind)
      attrs += "float16";
    else if (attr.kind == AttrKind::Ints)
      attrs += makeNumbers(std::vector<int64_t>(scalar.tableSize, 1));
    else
      attrs += "0.5";
  }
  return text + ")" + (attrs.empty() ? "" : " {" + attrs + "}");
}

struct Window {
  int64_t kernel, stride, before, after, dilation;
  int64_t getReach() const { return dilation * (kernel - 1) + 1; }
};

Window makeWindow(Random &random) {
  return {pick(random, 1, 3), pick(random, 1, 3), pick(random, 0, 2),
          pick(random, 0, 2), pick(random, 1, 2)};
}

std::string makeWindowAttrs(const Window &h, const Window &w) {
  return "strides = " + makeNumbers({h.stride, w.stride}) +
         ", pads = " + makeNumbers({h.before, w.before, h.after, w.after}) +
         ", dilations = " + makeNumbers({h.dilation, w.dilation});
}

/// Images with sides of which windows take all, mostly.
DimVector makeImages(Random &random, const Window &h, const Window &w,
                     Dim channels) {
  auto side = [&](const Window &window) {
    int64_t least = window.getReach() - window.before - window.after;
    return random.below(2) ? makeOpenDim(random, std::min<int64_t>(least, 4))
                           : fix(pick(random, std::max<int64_t>(least, 1), 6));
  };
  return {makeDim(random), side(h), side(w), channels};
}

MakeCase makePool(std::string name, std::string attrs = "") {
  return [=](Random &random) {
    Window h = makeWindow(random), w = makeWindow(random);
    return name + "(" +
           makeType("float", makeImages(random, h, w, makeDim(random))) +
           ") {kernels = " + makeNumbers({h.kernel, w.kernel}) + ", " +
           makeWindowAttrs(h, w) + attrs + "}";
  };
}

MakeCase makeConvolution(std::string name, std::string kind,
                         std::string others) {
  return [=](Random &random) {
    Window h = makeWindow(random), w = makeWindow(random);
    DimVector filter = {fix(3), fix(h.kernel), fix(w.kernel), fix(2)};
    return name + "(" + makeType(kind, makeImages(random, h, w, fix(2))) +
           ", " + makeType(kind, filter) + others + ") {" +
           makeWindowAttrs(h, w) + ", group = 1}";
  };
}

std::string makeConvTranspose(Random &random) {
  Window h = makeWindow(random), w = makeWindow(random);
  return "ConvTranspose(" +
         makeType("float", {makeDim(random), makeDim(random, 1),
                            makeDim(random, 1), fix(2)}) +
         ", " +
         makeType("float", {fix(2), fix(h.kernel), fix(w.kernel), fix(3)}) +
         ", none) {strides = " + makeNumbers({h.stride, w.stride}) +
         ", pads = " + makeNumbers({0, 1, 0, 0}) +
         ", outputPads = " + makeNumbers({pick(random, 0, h.stride - 1), 0}) +
         ", dilations = " + makeNumbers({h.dilation, w.dilation}) +
         ", group = 1}";
}

/// Leading dimensions that broadcast, and two matrices.
std::string makeMatMul(llvm::StringRef name, llvm::StringRef lhsKind,
                       llvm::StringRef rhsKind, bool hasLeading, Random &random,
                       bool isRightFixed = false) {
  std::vector<DimVector> leading =
      hasLeading ? makeBroadcasting(random, 2) : std::vector<DimVector>(2);
  Dim depth = isRightFixed ? fix(4) : makeDim(random);
  Dim columns = isRightFixed ? fix(3) : makeDim(random);
  DimVector lhs = leading[0], rhs = leading[1];
  lhs.insert(lhs.end(), {makeDim(random), depth});
  rhs.insert(rhs.end(), {depth, columns});
  return name.str() + "(" + makeType(lhsKind, lhs) + ", " +
         makeType(rhsKind, rhs);
}

std::string makeAttention(llvm::StringRef name, llvm::StringRef kind,
                          llvm::StringRef attrs, Random &random) {
  DimVector leading = makeDims(random, unsigned(random.below(3)));
  Dim queries = makeDim(random), keys = makeDim(random, 1);
  Dim depth = random.below(8) ? fix(4) : makeDim(random);
  auto make = [&](const Dim &rows, const Dim &columns) {
    DimVector dims = leading;
    dims.insert(dims.end(), {rows, columns});
    return makeType(kind, dims);
  };
  std::string text = name.str() + "(" + make(queries, depth) + ", " +
                     make(keys, depth) + ", " + make(keys, makeDim(random));
  if (random.below(2)) {
    DimVector mask = leading;
    mask.insert(mask.end(), {queries, keys});
    for (Dim &dim : mask)
      if (random.below(4) == 0)
        dim = fix(1);
    mask.erase(mask.begin(), mask.begin() + int64_t(random.below(mask.size())));
    text += ", " + makeType("float", mask);
  } else {
    text += ", none";
  }
  return text + ") {" + attrs.str() + "}";
}

MakeCase makeReduction(std::string name, std::string kind, std::string attrs) {
  return [=](Random &random) {
    unsigned rank = 1 + unsigned(random.below(4));
    std::vector<int64_t> axes;
    for (unsigned d = 0; d < rank; ++d)
      if (random.below(2))
        axes.push_back(d);
    return name + "(" + makeType(kind, makeDims(random, rank)) + ") {" + attrs +
           "axes = " + makeNumbers(axes) + ", keepDims = " + makeBool(random) +
           "}";
  };
}

std::string makeConcat(Random &random) {
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
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
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
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

Dim multiplyDim(const Dim &dim, int64_t factor) {
  if (!dim.isOpen)
    return fix(dim.bound * factor);
  return {"(" + dim.expression + ")*" + std::to_string(factor),
          dim.low * factor, dim.high * factor, dim.bound * factor, true};
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
  DimVector result = makeDims(random, 1 + unsigned(random.below(3)));
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
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
  std::vector<int64_t> repeats;
  for (const Dim &dim : dims)
    repeats.push_back(dim.isOpen && random.below(6) ? 1 : pick(random, 1, 3));
  return "Tile(" + makeType("float", dims) +
         ") {repeats = " + makeNumbers(repeats) + "}";
}

std::string makePad(Random &random) {
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
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
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
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
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
  auto axis = size_t(random.below(dims.size()));
  DimVector update = dims;
  update[axis] = random.below(6) ? fix(pick(random, 0, dims[axis].low))
                                 : makeOpenDim(random);
  return "DynamicUpdateSlice(" + makeType("float", dims) + ", " +
         makeType("float", update) +
         ", int64<>) {axis = " + std::to_string(axis) + "}";
}

std::string makeTopK(Random &random) {
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
  return "TopK(" + makeType("float", dims) +
         ") {count = " + std::to_string(pick(random, 0, dims.back().low + 1)) +
         ", largest = true}";
}

std::string makeNonMaxSuppression(Random &random) {
  Dim batch = makeDim(random);
  return "NonMaxSuppression(" +
         makeType("float", {batch, makeDim(random), fix(4)}) + ", " +
         makeType("int64", {batch, makeDim(random), makeDim(random)}) +
         ", float<>) {count = 3}";
}

std::string makeResize(Random &random) {
  bool isOpen = random.below(8) == 0;
  return "Resize(" +
         makeType("float",
                  {makeDim(random), isOpen ? makeOpenDim(random, 1) : fix(3),
                   fix(2), makeDim(random)}) +
         ") {sizes = [6, 5], scaleH = 2.0, scaleW = 2.5, mode = \"nearest\", "
         "coordinates = \"asymmetric\", nearestMode = \"floor\"}";
}

/// A channel for each index of a per-channel operand.
MakeCase makeNormalization(std::string name, unsigned numOperands,
                           std::string attrs, bool isOpen) {
  return [=](Random &random) {
    DimVector dims = makeDims(random, 2 + unsigned(random.below(3)));
    auto axis = 1 + size_t(random.below(dims.size() - 1));
    dims[axis] = isOpen && random.below(4) == 0 ? makeOpenDim(random) : fix(4);
    std::string text = name + "(" + makeType("float", dims);
    for (unsigned i = 0; i < numOperands; ++i)
      text += ", " + makeType("float", {dims[axis]});
    return text + ") {axis = " + std::to_string(axis) + ", " + attrs + "}";
  };
}

std::string makeLayerNormalization(Random &random) {
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
  auto axis = size_t(random.below(dims.size()));
  std::string scale = makeType("float", llvm::ArrayRef(dims).drop_front(axis));
  std::string text = "LayerNormalization(" + makeType("float", dims);
  text += random.below(4) ? ", none, none" : ", " + scale + ", none";
  return text + ") {axis = " + std::to_string(axis) +
         ", epsilon = 0.1, subtractMean = true}";
}

std::string makeDeclared(Random &random) {
  DimVector dims = makeDims(random, 1 + unsigned(random.below(3)));
  std::string bounds =
      replaceExtents(makeType("float", dims),
                     [](llvm::StringRef bound, bool, llvm::StringRef extent) {
                       return (bound + "?{" + extent + "}").str();
                     });
  return "DeclareExtents(" + bounds + ") {resultType = [" +
         makeType("float", dims) + "]}";
}

/// The cases of the records that have extent rules, but for element-wise ones.
const std::map<std::string, MakeCase> &getCases() {
  using std::placeholders::_1;
  static const std::map<std::string, MakeCase> cases = {
      {"ArgMax", makeUnary("ArgMax", "float", 1,
                           "keepDims = true, selectLast = false", true)},
      {"Attention", std::bind(makeAttention, "Attention", "float",
                              "scale = 1.0, causal = false", _1)},
      {"AttentionInteger",
       std::bind(makeAttention, "AttentionInteger", "int8",
                 "scale = 1.0, causal = false, queryZeroPoint = 1, "
                 "valueZeroPoint = 1, weightScale = 0.01, maxWeight = 100",
                 _1)},
      {"AvgPool", makePool("AvgPool", ", countIncludePads = true")},
      {"BatchNormalization",
       makeNormalization("BatchNormalization", 4, "epsilon = 0.1", true)},
      {"BitCast", makeUnary("BitCast", "float", 0, "to = int32", false)},
      {"Broadcast", makeBroadcast},
      {"Concat", makeConcat},
      {"ConvTranspose", makeConvTranspose},
      {"Convolution", makeConvolution("Convolution", "float", ", none")},
      {"ConvolutionInteger",
       makeConvolution("ConvolutionInteger", "int8", ", none, none, none")},
      {"CumSum", makeUnary("CumSum", "float", 1,
                           "exclusive = false, reverse = true", true)},
      {"DeclareExtents", makeDeclared},
      {"Dropout", makeUnary("Dropout", "float", 0, "ratio = 0.5", false)},
      {"DynamicUpdateSlice", makeUpdate},
      {"FullyConnected",
       [](Random &random) {
         return makeMatMul("FullyConnected", "float", "float", false, random,
                           true) +
                ", float<3>)";
       }},
      {"Gather", makeGather},
      {"GlobalAvgPool",
       [](Random &random) {
         return "GlobalAvgPool(" + makeType("float", makeDims(random, 4)) + ")";
       }},
      {"GlobalMaxPool",
       [](Random &random) {
         return "GlobalMaxPool(" + makeType("float", makeDims(random, 4)) + ")";
       }},
      {"GroupNormalization",
       makeNormalization("GroupNormalization", 2, "groups = 2, epsilon = 0.1",
                         true)},
      {"LayerNormalization", makeLayerNormalization},
      {"LocalResponseNormalization",
       makeUnary("LocalResponseNormalization", "float", 1,
                 "size = 3, alpha = 0.5, beta = 0.5, bias = 1.0", false)},
      {"LogSoftmax", makeUnary("LogSoftmax", "float", 1, "", true)},
      {"MatMul",
       [](Random &random) {
         return makeMatMul("MatMul", "float", "float", true, random) + ")";
       }},
      {"MatMulInteger",
       [](Random &random) {
         return makeMatMul("MatMulInteger", "uint8", "int8", true, random) +
                ", none)";
       }},
      {"MatMulNBits",
       [](Random &random) {
         return makeMatMul("MatMulNBits", "float", "uint8", false, random,
                           true) +
                ", float<2x3>, none, none) {block = 2}";
       }},
      {"MaxPool", makePool("MaxPool")},
      {"NonMaxSuppression", makeNonMaxSuppression},
      {"Pad", makePad},
      {"Reduce", makeReduction("Reduce", "float", "mode = \"sum\", ")},
      {"ReduceInteger", makeReduction("ReduceInteger", "int8", "")},
      {"Reshape", makeReshape},
      {"Resize", makeResize},
      {"Save",
       [](Random &random) {
         std::string type = makeType("float", makeDims(random, 2));
         return "Save(" + type + ", " + type + ")";
       }},
      {"Scatter", makeScatter},
      {"Slice", makeSlice},
      {"Softmax", makeUnary("Softmax", "float", 1, "", true)},
      {"Tile", makeTile},
      {"TopK", makeTopK},
      {"Transpose", makeTranspose},
  };
  return cases;
}

/// Most cases of a kind have results, and all these are right.
void checkKind(const std::string &name, const MakeCase &make) {
  constexpr unsigned numCases = 60;
  Random random(name.size());
  unsigned numRefused = 0, numCompared = 0;
  for (unsigned i = 0; i < numCases; ++i) {
    Outcome outcome = check(make(random));
    numRefused += outcome.isRefused;
    numCompared += outcome.numCompared;
  }
  EXPECT_LT(numRefused, numCases * 9 / 10) << name;
  EXPECT_GT(numCompared, numCases) << name;
}

//===- Tests --------------------------------------------------------------===//

TEST(ExtentRules, AllRecordsHaveACase) {
  const auto &cases = getCases();
  size_t numFound = 0;
  for (const OpInfo &info : getNodeTable()) {
    if (!info.inferExtents || info.scalarOp)
      continue;
    bool isFound = cases.count(info.name.str());
    EXPECT_TRUE(isFound) << info.name.str() << " has an extent rule";
    numFound += isFound;
  }
  EXPECT_EQ(numFound, cases.size());
}

TEST(ExtentRules, AgreeWithTypeRules) {
  for (const auto &[name, make] : getCases())
    checkKind(name, make);
}

TEST(ExtentRules, ElementWiseAgreeWithTypeRules) {
  for (const OpInfo &info : getNodeTable())
    if (info.scalarOp && info.inferExtents) {
      Random random(1);
      unsigned numCompared = 0;
      for (unsigned i = 0; i < 30; ++i)
        numCompared += check(makeElementWise(random, info)).numCompared;
      EXPECT_GT(numCompared, 30u) << info.name.str();
    }
}

/// All sizes, kernels, strides, dilations and pads.
TEST(ExtentRules, Windows) {
  constexpr int64_t largest = 64;
  SymbolRanges symbols;
  symbols.set("H", {0, largest});
  unsigned numAccepted = 0, numCompared = 0;
  auto checkWindow = [&](const Window &window) {
    std::string attrs = ") {kernels = " + makeNumbers({window.kernel, 1}) +
                        ", " + makeWindowAttrs(window, {1, 1, 0, 0, 1}) + "}";
    // The least size of which there is a window.
    int64_t least =
        std::max<int64_t>(window.getReach() - window.before - window.after, 0);
    if (least > largest)
      return;
    symbols.set("H", {least, largest});
    ParsedOp open =
        llvm::cantFail(parseOp("MaxPool(float<1x64{H}x1x1>" + attrs));
    const Type *inputs[] = {&*open.inputs.front()};
    std::vector<ExtentRequirement> requirements;
    TypeList types = llvm::cantFail(inferTypes(
        OpView(*open.info, inputs, {}, open.attrs), symbols, requirements));
    EXPECT_TRUE(requirements.empty());
    ++numAccepted;
    for (int64_t size = 0; size <= largest; ++size) {
      Type actual(ElemKind::Float, {1, size, 1, 1});
      const Type *own[] = {&actual};
      llvm::Expected<TypeList> expected =
          open.info->inferTypes(OpView(*open.info, own, {}, open.attrs));
      EXPECT_EQ(bool(expected), size >= least) << attrs << " " << size;
      if (!expected) {
        llvm::consumeError(expected.takeError());
        continue;
      }
      const Extent *extent = types.front().getExtent(1);
      int64_t result =
          extent ? evaluateHeight(*extent, size) : types.front().getDim(1);
      ASSERT_EQ(result, expected->front().getDim(1)) << attrs << " " << size;
      ++numCompared;
    }
  };
  for (int64_t kernel : {1, 2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3, 4, 7})
      for (int64_t dilation : {1, 2, 3})
        for (int64_t before : {0, 1, 3})
          for (int64_t after : {0, 1, 2, 4})
            checkWindow({kernel, stride, before, after, dilation});
  EXPECT_EQ(numAccepted, 5u * 5 * 3 * 3 * 4);
  EXPECT_GT(numCompared, 40000u);
}

/// A message names the operand and the dimension.
TEST(ExtentRules, Refusals) {
  auto decides = [](const char *operand, int dim, const char *why) {
    return (llvm::Twine("operand '") + operand +
            "): a run decides the extent of dimension " + llvm::Twine(dim) +
            ", and " + why)
        .str();
  };
  const std::pair<const char *, std::string> cases[] = {
      {"Convolution(float<1x8x8x8{L}>, float<1x1x1x8>, none) {strides = [1, "
       "1], pads "
       "= [0, 0, 0, 0], dilations = [1, 1], group = 1}",
       decides("input' (float<1x8x8x8{L}>", 3,
               "the filter needs all channels")},
      {"Convolution(float<1x8x8x8>, float<8{N}x1x1x8>, none) {strides = [1, "
       "1], pads "
       "= [0, 0, 0, 0], dilations = [1, 1], group = 1}",
       decides("filter' (float<8{N}x1x1x8>", 0,
               "accepted: such extents of the first operand")},
      {"FullyConnected(float<2x3>, float<3x4>, float<4{N}>)",
       decides("bias' (float<4{N}>", 0,
               "accepted: such extents of the matrices")},
      {"LayerNormalization(float<2x4>, float<4{N}>, none) {axis = 1, epsilon = "
       "0.1, "
       "subtractMean = true}",
       decides("scale' (float<4{N}>", 0,
               "accepted: such extents of the first operand")},
      {"GroupNormalization(float<2x4{N}x3>, none, none) {axis = 1, groups = 2, "
       "epsilon = 0.1}",
       decides("input' (float<2x4{N}x3>", 1,
               "it is divided into groups; accepted: others")},
      {"Attention(float<2x4>, float<3x4{N}>, float<3x4>, none) {scale = 1.0, "
       "causal "
       "= "
       "false}",
       decides("key' (float<3x4{N}>", 1,
               "the scores need all elements of a query")},
      {"TopK(float<6{L}>) {count = 3, largest = true}",
       decides("input' (float<6{L}>", 0,
               "there may be fewer than 3 elements; accepted: at least as "
               "many")},
      {"DynamicUpdateSlice(float<6{L}>, float<3>, int64<>) {axis = 0}",
       decides("input' (float<6{L}>", 0,
               "it may be less than that of the update; accepted: at least as "
               "much")},
      {"DynamicUpdateSlice(float<6>, float<3{M}>, int64<>) {axis = 0}",
       decides("update' (float<3{M}>", 0,
               "all of the update is written; accepted: others")},
      {"Slice(float<6{L}>) {starts = [1], sizes = [4], steps = [1]}",
       decides("input' (float<6{L}>", 0,
               "not all that the slice takes is always there; accepted: a "
               "slice to the end, or of what is")},
      {"Reshape(float<2x4{N}>) {shape = [8]}",
       decides("input' (float<2x4{N}>", 1,
               "it is joined with what is before it; accepted: an outermost "
               "one")},
      {"Pad(float<4{N}>) {pads = [-1, 0], mode = \"constant\", value = 0.0}",
       "the extent of dimension 0 of the result is N - 1; accepted: 0 to 3 for "
       "all values of its symbols"},
      {"MaxPool(float<1x4{N}x1x1>) {kernels = [4, 1], strides = [1, 1], pads = "
       "[0, 0, 0, 0], dilations = [1, 1]}",
       "the extent of dimension 1 of the result is N - 3; accepted: 0 to 1 for "
       "all values of its symbols"},
      {"ConvolutionFilterGradient(float<4{N}x8x8x1>, float<4x8x8x1>) {kernels "
       "= "
       "[1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], "
       "group = 1}",
       "operand 'input' (float<4{N}x8x8x1>): a run decides an extent, which "
       "ConvolutionFilterGradient does not take"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_EQ(inferText(text), message);
}

/// A dimension of at most 1 is never broadcast as another would be.
TEST(ExtentRules, RequiredToBeTheSame) {
  auto getRequirements = [](llvm::StringRef text) {
    std::string all;
    for (const ExtentRequirement &required :
         llvm::cantFail(inferOpen(text)).requirements)
      all += required.a.str() + " == " + required.b.str() + "; ";
    return all;
  };
  EXPECT_EQ(getRequirements("Add(float<6{N}>, float<6{L}>)"), "N == L; ");
  EXPECT_EQ(getRequirements("Add(float<6{N}>, float<6{N}>)"), "");
  EXPECT_EQ(getRequirements("Add(float<1{N//4}>, float<6>)"), "N//4 == 1; ");
  EXPECT_EQ(getRequirements("Broadcast(float<1{N//4}>) {shape = [6]}"),
            "N//4 == 1; ");
  EXPECT_EQ(getRequirements("MatMul(float<2x6{N}>, float<6{L}x2>)"),
            "N == L; ");
  EXPECT_EQ(getRequirements("MatMul(float<2x6{N}>, float<6x2>)"), "N == 6; ");
  EXPECT_EQ(getRequirements("Reshape(float<6{L}x2>) {shape = [3, 4]}"),
            "4*(L//2) == 2*L; ");
  EXPECT_EQ(
      getRequirements("Attention(float<4x2>, float<6{L}x2>, float<6{L}x2>, "
                      "float<4x6{N}>) {scale = 1.0, causal = false}"),
      "N == L; ");
  EXPECT_EQ(getRequirements("Scatter(float<6x2>, int32<6{L}>, float<6{N}x2>) "
                            "{mode = \"add\"}"),
            "L == N; ");
}

TEST(ExtentRules, TooManyTerms) {
  SymbolRanges symbols;
  std::string text = "Concat(";
  // As many terms as there may be, of each four operands the same.
  for (int i = 0; i < 64; ++i) {
    std::string symbol = "S" + std::to_string(i % 16);
    symbols.set(symbol, {0, 9});
    text += std::string(i ? ", " : "") + "float<9{" + symbol + "}x2>";
  }
  auto inferAll = [&](const std::string &whole) {
    ParsedOp op = llvm::cantFail(parseOp(whole));
    std::vector<const Type *> inputs;
    for (const std::optional<Type> &type : op.inputs)
      inputs.push_back(&*type);
    std::vector<ExtentRequirement> requirements;
    llvm::Expected<TypeList> types = inferTypes(
        OpView(*op.info, inputs, {}, op.attrs), symbols, requirements);
    return types ? types->front().str() : llvm::toString(types.takeError());
  };
  std::string all = inferAll(text + ") {axis = 0}");
  EXPECT_TRUE(llvm::StringRef(all).starts_with("float<576{4*S0 + 4*S1 + "))
      << all;
  symbols.set("T", {0, 1});
  EXPECT_EQ(inferAll(text + ", float<1{T}x2>) {axis = 0}"),
            "the extent of dimension 0 of the result has too many terms");
}

} // namespace
