//===- ExtentCases.cpp - Nodes with random extents ------------------------===//

#include "ExtentDims.h"
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

static std::map<std::string, MakeCase> makeComputingCases() {
  using std::placeholders::_1;
  return {
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
      {"ConvTranspose", makeConvTranspose},
      {"Convolution", makeConvolution("Convolution", "float", ", none")},
      {"ConvolutionInteger",
       makeConvolution("ConvolutionInteger", "int8", ", none, none, none")},
      {"CumSum", makeUnary("CumSum", "float", 1,
                           "exclusive = false, reverse = true", true)},
      {"Dropout", makeUnary("Dropout", "float", 0, "ratio = 0.5", false)},
      {"FullyConnected",
       [](Random &random) {
         return makeMatMul("FullyConnected", "float", "float", false, random,
                           true) +
                ", float<3>)";
       }},
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
      {"Reduce", makeReduction("Reduce", "float", "mode = \"sum\", ")},
      {"ReduceInteger", makeReduction("ReduceInteger", "int8", "")},
      {"Resize", makeResize},
      {"Save",
       [](Random &random) {
         std::string type = makeType("float", makeDims(random, 2));
         return "Save(" + type + ", " + type + ")";
       }},
      {"Softmax", makeUnary("Softmax", "float", 1, "", true)},
      {"TopK", makeTopK},
      {"TreeEnsemble",
       [](Random &random) {
         Dim columns = random.below(4) ? fix(3) : makeDim(random, 1);
         return "TreeEnsemble(" +
                makeType("float", {makeDim(random), columns}) +
                ", float<5>, float<3x2>) {features = [0, 2, -1, -1, -1], "
                "children = [1, 3, 0, 1, 2], roots = [0, 1], groups = [1, 1], "
                "mode = \"sum\"}";
       }},
  };
}

const std::map<std::string, MakeCase> &glowish::getExtentCases() {
  static const std::map<std::string, MakeCase> cases = [] {
    std::map<std::string, MakeCase> all = makeComputingCases();
    all.merge(makeMovementCases());
    return all;
  }();
  return cases;
}
