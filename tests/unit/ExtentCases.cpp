//===- ExtentCases.cpp - Nodes with random extents ------------------------===//

#include "ExtentCases.h"
#include "ExtentTemplates.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;

const std::map<std::string, IntRange> &glowish::getExtentCaseRanges() {
  static const std::map<std::string, IntRange> ranges = {
      {"N", {0, 4}}, {"M", {1, 3}}, {"L", {2, 6}}};
  return ranges;
}

std::string glowish::makeNumbers(llvm::ArrayRef<int64_t> numbers) {
  std::string text = "[";
  for (int64_t number : numbers)
    text += (text.size() == 1 ? "" : ", ") + std::to_string(number);
  return text + "]";
}

std::string glowish::makeWindowAttrs(const Window &h, const Window &w) {
  return "strides = " + makeNumbers({h.stride, w.stride}) +
         ", pads = " + makeNumbers({h.before, w.before, h.after, w.after}) +
         ", dilations = " + makeNumbers({h.dilation, w.dilation});
}

namespace {

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

/// One to three dimensions.
DimVector makeDims(Random &random) {
  return makeDims(random, 1 + unsigned(random.below(3)));
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

//===- Cases --------------------------------------------------------------===//

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
  DimVector all = makeDims(random);
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

Window makeWindow(Random &random) {
  return {pick(random, 1, 3), pick(random, 1, 3), pick(random, 0, 2),
          pick(random, 0, 2), pick(random, 1, 2)};
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

std::string makeTopK(Random &random) {
  DimVector dims = makeDims(random);
  const Dim &last = dims.back();
  std::string count = random.below(2)
                          ? last.attr()
                          : std::to_string(pick(random, 0, last.low + 1));
  return "TopK(" + makeType("float", dims) + ") {count = " + count +
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
  Dim height = makeDim(random, 1),
      width = random.below(2) ? makeOpenDim(random, 1) : fix(2);
  std::string scale = width.isOpen ? "2.0" : "2.5";
  return "Resize(" +
         makeType("float", {makeDim(random), height, width, makeDim(random)}) +
         ") {sizes = [" + multiplyDim(height, 3).attr() + ", " +
         (width.isOpen ? multiplyDim(width, 2).attr() : "5") +
         "], scaleH = 3.0, scaleW = " + scale + ", mode = \"" +
         (random.below(2) ? "nearest" : "linear") + "\", coordinates = \"" +
         (random.below(8) ? "half_pixel" : "align_corners") +
         "\", nearestMode = \"ceil\"}";
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
  DimVector dims = makeDims(random);
  auto axis = size_t(random.below(dims.size()));
  std::string scale = makeType("float", llvm::ArrayRef(dims).drop_front(axis));
  std::string text = "LayerNormalization(" + makeType("float", dims);
  text += random.below(4) ? ", none, none" : ", " + scale + ", none";
  return text + ") {axis = " + std::to_string(axis) +
         ", epsilon = 0.1, subtractMean = true}";
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

std::string glowish::makeElementWiseCase(Random &random, const OpInfo &info) {
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

const std::map<std::string, MakeCase> &glowish::getExtentCases() {
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
      {"Repack", makeRepack},
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
