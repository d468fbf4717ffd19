//===- TFLiteForm.cpp - Ranged models as TensorFlow Lite files ------------===//

#include "TFLiteWriter.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <numeric>

using namespace glowish;
using namespace glowish::fuzz;

//===- Elements -----------------------------------------------------------===//

/// The operators that have the same inputs and no options.
static const std::map<llvm::StringRef, Builtin> &getSameOperators() {
  static const std::map<llvm::StringRef, Builtin> same = {
      {"Abs", Builtin::ABS},
      {"Neg", Builtin::NEG},
      {"Sign", Builtin::SIGN},
      {"Exp", Builtin::EXP},
      {"Log", Builtin::LOG},
      {"Sqrt", Builtin::SQRT},
      {"Sin", Builtin::SIN},
      {"Cos", Builtin::COS},
      {"Ceil", Builtin::CEIL},
      {"Floor", Builtin::FLOOR},
      {"Round", Builtin::ROUND},
      {"Relu", Builtin::RELU},
      {"Tanh", Builtin::TANH},
      {"Sigmoid", Builtin::LOGISTIC},
      {"HardSwish", Builtin::HARD_SWISH},
      {"Not", Builtin::LOGICAL_NOT},
      {"Sub", Builtin::SUB},
      {"Div", Builtin::DIV},
      {"Pow", Builtin::POW},
      {"Max", Builtin::MAXIMUM},
      {"Min", Builtin::MINIMUM},
      {"Equal", Builtin::EQUAL},
      {"Less", Builtin::LESS},
      {"LessOrEqual", Builtin::LESS_EQUAL},
      {"Greater", Builtin::GREATER},
      {"GreaterOrEqual", Builtin::GREATER_EQUAL},
      {"And", Builtin::LOGICAL_AND},
      {"Or", Builtin::LOGICAL_OR},
      {"Xor", Builtin::NOT_EQUAL},
      {"PRelu", Builtin::PRELU},
      {"Where", Builtin::SELECT_V2},
      {"Cast", Builtin::CAST},
      {"Range", Builtin::RANGE},
      {"Identity", Builtin::CAST}};
  return same;
}

static llvm::Error writeSame(TFLiteWriter &w, const FormNode &n) {
  std::vector<int> inputs;
  for (unsigned i = 0; i < n.getNumInputs(); ++i)
    inputs.push_back(w.getInput(n, i));
  w.add(getSameOperators().at(n.getOp()), inputs, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeAdd(TFLiteWriter &w, const FormNode &n) {
  w.add(n.takesOther() ? Builtin::ADD_N : Builtin::ADD,
        {w.getInput(n, 0), w.getInput(n, 1)}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeMul(TFLiteWriter &w, const FormNode &n) {
  int x = w.getInput(n, 0);
  if (n.getInput(0) == n.getInput(1))
    w.add(Builtin::SQUARE, {x}, {w.getOutput(n)});
  else
    w.add(Builtin::MUL, {x, w.getInput(n, 1)}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeMod(TFLiteWriter &w, const FormNode &n) {
  if (n.getInt("fmod", 0) || !isIntegerKind(n.getType(0).getKind()))
    return n.refuse("only a remainder of integers");
  w.add(Builtin::FLOOR_MOD, {w.getInput(n, 0), w.getInput(n, 1)},
        {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeReciprocal(TFLiteWriter &w, const FormNode &n) {
  int one = w.addNumber(n.getType(0).getKind(), 1);
  w.add(Builtin::DIV, {one, w.getInput(n, 0)}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeIsNaN(TFLiteWriter &w, const FormNode &n) {
  w.add(Builtin::NOT_EQUAL, {w.getInput(n, 0), w.getInput(n, 0)},
        {w.getOutput(n)});
  return llvm::Error::success();
}

/// x / (1 + |x|).
static llvm::Error writeSoftsign(TFLiteWriter &w, const FormNode &n) {
  ElemKind kind = n.getType(0).getKind();
  int size = w.compute(Builtin::ABS, kind, {w.getInput(n, 0)});
  int sum = w.compute(Builtin::ADD, kind, {size, w.addNumber(kind, 1)});
  w.add(Builtin::DIV, {w.getInput(n, 0), sum}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeElu(TFLiteWriter &w, const FormNode &n) {
  if (n.getFloat("alpha", 1) != 1)
    return n.refuse("no factor");
  w.add(Builtin::ELU, {w.getInput(n, 0)}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeLeakyRelu(TFLiteWriter &w, const FormNode &n) {
  w.add(Builtin::LEAKY_RELU, {w.getInput(n, 0)}, {w.getOutput(n)},
        schema::CreateLeakyReluOptions(w.fbb(),
                                       float(n.getFloat("alpha", 0.01f))));
  return llvm::Error::success();
}

static llvm::Error writeGelu(TFLiteWriter &w, const FormNode &n) {
  w.add(Builtin::GELU, {w.getInput(n, 0)}, {w.getOutput(n)},
        schema::CreateGeluOptions(w.fbb(), n.getString("approximate", "none") ==
                                               "tanh"));
  return llvm::Error::success();
}

static llvm::Error writeClip(TFLiteWriter &w, const FormNode &n) {
  if (!n.hasInput(1) || n.hasInput(2))
    return n.refuse("only a lower bound");
  w.add(Builtin::MAXIMUM, {w.getInput(n, 0), w.getInput(n, 1)},
        {w.getOutput(n)});
  return llvm::Error::success();
}

/// QuantizeLinear and DequantizeLinear, whose scales are those of the tensors.
template <Builtin Op>
static llvm::Error writeConversion(TFLiteWriter &w, const FormNode &n) {
  // The formats have different integers for a NaN.
  for (const auto &input : n.model.model.proto.graph().input())
    if (llvm::StringRef(input.name()).starts_with("special"))
      return n.refuse("its input may be NaN");
  w.add(Op, {w.getInput(n, 0)}, {w.getOutput(n)});
  return llvm::Error::success();
}

//===- Movement -----------------------------------------------------------===//

static llvm::Error writeTranspose(TFLiteWriter &w, const FormNode &n) {
  std::vector<int64_t> perm = n.getInts("perm");
  if (!n.hasAttr("perm"))
    for (int64_t d = n.getRank(0); d-- > 0;)
      perm.push_back(d);
  w.add(Builtin::TRANSPOSE, {w.getInput(n, 0), w.addInts(perm)},
        {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeConcat(TFLiteWriter &w, const FormNode &n) {
  std::vector<int> parts;
  for (unsigned i = 0; i < n.getNumInputs(); ++i)
    parts.push_back(w.getInput(n, i));
  w.add(Builtin::CONCATENATION, parts, {w.getOutput(n)},
        schema::CreateConcatenationOptions(w.fbb(),
                                           int32_t(n.getInt("axis", 0))));
  return llvm::Error::success();
}

/// \p values, which may be computed, at places \p axis of lists of \p rank
/// numbers, of which the others are 0.
static int addPlaces(TFLiteWriter &w, ElemKind kind, int value, int64_t axis,
                     int64_t rank) {
  auto addZeros = [&](int64_t count) {
    return w.addConstant(Tensor(Type(kind, {count})));
  };
  std::vector<int> parts;
  if (axis > 0)
    parts.push_back(addZeros(axis));
  parts.push_back(value);
  if (axis + 1 < rank)
    parts.push_back(addZeros(rank - axis - 1));
  return parts.size() == 1
             ? value
             : w.compute(Builtin::CONCATENATION, kind, parts,
                         schema::CreateConcatenationOptions(w.fbb(), 0));
}

/// Along one dimension, of places that may be computed.
static llvm::Error writeSlice(TFLiteWriter &w, const FormNode &n) {
  auto starts = n.findInts(1), ends = n.findInts(2), axes = n.findInts(3),
       steps = n.findInts(4);
  if (!axes || axes->size() != 1 || !steps)
    return n.refuse("only along one stated dimension, by stated steps");
  int64_t rank = n.getRank(0),
          axis = (*axes)[0] < 0 ? (*axes)[0] + rank : (*axes)[0];
  // All of the other dimensions, and what reaches beyond all.
  int32_t all = (1 << rank) - 1, others = all & ~(1 << axis);
  auto isFar = [](const std::optional<std::vector<int64_t>> &places) {
    return places && std::abs(double((*places)[0])) > 1e9;
  };
  std::vector<int64_t> strides(size_t(rank), 1);
  strides[size_t(axis)] = (*steps)[0];
  auto place = [&](unsigned index, bool isMasked) {
    ElemKind kind = n.getType(index).getKind();
    int value = isMasked ? w.addConstant(Tensor(Type(kind, {1})))
                         : w.getInput(n, index);
    return addPlaces(w, kind, value, axis, rank);
  };
  bool isBack = (*steps)[0] < 0;
  if (isFar(starts) && isBack != ((*starts)[0] > 0))
    return n.refuse("no start behind the last element");
  // One in front of the first is it in ONNX, and none in TensorFlow Lite.
  if (isBack && (!starts || (*starts)[0] < -1))
    return n.refuse("no start that may be in front of the first element");
  int begin = place(1, isFar(starts)), end = place(2, isFar(ends));
  w.add(Builtin::STRIDED_SLICE,
        {w.getInput(n, 0), begin, end, w.addInts(strides)}, {w.getOutput(n)},
        schema::CreateStridedSliceOptions(w.fbb(), isFar(starts) ? all : others,
                                          isFar(ends) ? all : others));
  return llvm::Error::success();
}

static llvm::Error writeSplit(TFLiteWriter &w, const FormNode &n) {
  int64_t axis = n.getAxis("axis", 0, n.getRank(0));
  std::vector<int64_t> sizes;
  std::vector<int> parts;
  for (unsigned i = 0; i < n.getNumOutputs(); ++i) {
    sizes.push_back(n.getOutputType(i).getDim(unsigned(axis)));
    parts.push_back(w.getOutput(n, i));
  }
  int count = int(parts.size());
  int dim = w.addNumber(ElemKind::Int32, double(axis));
  if (llvm::all_equal(sizes))
    w.add(Builtin::SPLIT, {dim, w.getInput(n, 0)}, parts,
          schema::CreateSplitOptions(w.fbb(), count));
  else
    w.add(Builtin::SPLIT_V, {w.getInput(n, 0), w.addInts(sizes), dim}, parts,
          schema::CreateSplitVOptions(w.fbb(), count));
  return llvm::Error::success();
}

static llvm::Error writePad(TFLiteWriter &w, const FormNode &n) {
  auto pads = n.findInts(1);
  std::string mode = n.getString("mode", "constant");
  if (!pads || mode == "edge")
    return n.refuse("only stated pads of a number or a mirror image");
  int64_t rank = n.getRank(0);
  Tensor pairs(Type(ElemKind::Int32, {rank, 2}));
  for (int64_t d = 0; d < rank; ++d)
    for (int64_t side : {0, 1})
      pairs.setFromDouble(2 * d + side,
                          double((*pads)[size_t(d + side * rank)]));
  std::vector<int> inputs = {w.getInput(n, 0), w.addConstant(pairs)};
  if (mode == "reflect") {
    w.add(Builtin::MIRROR_PAD, inputs, {w.getOutput(n)},
          schema::CreateMirrorPadOptions(w.fbb(),
                                         schema::MirrorPadMode::REFLECT));
    return llvm::Error::success();
  }
  if (n.hasInput(2))
    inputs.push_back(w.getInput(n, 2));
  w.add(n.hasInput(2) ? Builtin::PADV2 : Builtin::PAD, inputs,
        {w.getOutput(n)});
  return llvm::Error::success();
}

//===- Indices ------------------------------------------------------------===//

static llvm::Error writeGather(TFLiteWriter &w, const FormNode &n) {
  auto indices = n.findInts(1);
  if (indices && !n.hasPlainIndices(1))
    return n.refuse("no negative indices");
  w.add(Builtin::GATHER, {w.getInput(n, 0), w.getInput(n, 1)}, {w.getOutput(n)},
        schema::CreateGatherOptions(w.fbb(), int32_t(n.getInt("axis", 0))));
  return llvm::Error::success();
}

static llvm::Error writeGatherND(TFLiteWriter &w, const FormNode &n) {
  if (!n.hasPlainIndices(1))
    return n.refuse("no negative indices");
  w.add(Builtin::GATHER_ND, {w.getInput(n, 0), w.getInput(n, 1)},
        {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeOneHot(TFLiteWriter &w, const FormNode &n) {
  const Tensor *values = n.findConstant(2);
  if (!n.hasPlainIndices(0) || !values)
    return n.refuse("no negative indices, and known values");
  ElemKind kind = values->getType().getKind();
  int off = w.addNumber(kind, values->getAsDouble(0)),
      on = w.addNumber(kind, values->getAsDouble(1));
  w.add(Builtin::ONE_HOT, {w.getInput(n, 0), w.getInput(n, 1), on, off},
        {w.getOutput(n)},
        schema::CreateOneHotOptions(w.fbb(), int32_t(n.getInt("axis", -1))));
  return llvm::Error::success();
}

static llvm::Error writeTopK(TFLiteWriter &w, const FormNode &n) {
  auto count = n.findInts(1);
  if (!count || !n.getInt("largest", 1) ||
      n.getAxis("axis", -1, n.getRank(0)) != int64_t(n.getRank(0)) - 1)
    return n.refuse("only the largest along the last dimension");
  int places = w.makeTensor(ElemKind::Int32);
  w.add(Builtin::TOPK_V2,
        {w.getInput(n, 0), w.addNumber(ElemKind::Int32, double((*count)[0]))},
        {w.getOutput(n), places});
  w.add(Builtin::CAST, {places}, {w.getOutput(n, 1)});
  return llvm::Error::success();
}

//===- Reductions ---------------------------------------------------------===//

static llvm::Error addReduction(TFLiteWriter &w, const FormNode &n, Builtin op,
                                int x, int result) {
  auto axes = n.findAxes();
  if (!axes || axes->empty())
    return n.refuse("only of stated dimensions");
  w.add(op, {x, w.addInts(*axes)}, {result},
        schema::CreateReducerOptions(w.fbb(), n.getInt("keepdims", 1)));
  return llvm::Error::success();
}

static llvm::Error writeReduce(TFLiteWriter &w, const FormNode &n) {
  if (n.getOp() == "ReduceMean" && !isFloatKind(n.getType(0).getKind()))
    return n.refuse("only means of floats");
  Builtin op = n.getOp() == "ReduceSum"    ? Builtin::SUM
               : n.getOp() == "ReduceMean" ? Builtin::MEAN
               : n.getOp() == "ReduceMax"  ? Builtin::REDUCE_MAX
               : n.getOp() == "ReduceMin"  ? Builtin::REDUCE_MIN
                                           : Builtin::REDUCE_PROD;
  return addReduction(w, n, op, w.getInput(n, 0), w.getOutput(n));
}

/// Sums of functions, and functions of these.
static llvm::Error writeReduceOf(TFLiteWriter &w, const FormNode &n) {
  ElemKind kind = n.getType(0).getKind();
  bool hasRoot = n.getOp() == "ReduceL2", hasLog = n.getOp() == "ReduceLogSum";
  if (!isFloatKind(kind) && (hasRoot || hasLog))
    return n.refuse("a function of floats");
  int x = w.getInput(n, 0), sum = w.getOutput(n);
  if (n.getOp() == "ReduceL1")
    x = w.compute(Builtin::ABS, kind, {x});
  else if (!hasLog)
    x = w.compute(Builtin::SQUARE, kind, {x});
  if (hasRoot || hasLog)
    sum = w.makeTensor(kind);
  GLOWISH_RETURN_IF_ERROR(addReduction(w, n, Builtin::SUM, x, sum));
  if (hasRoot || hasLog)
    w.add(hasRoot ? Builtin::SQRT : Builtin::LOG, {sum}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeArg(TFLiteWriter &w, const FormNode &n) {
  if (n.getInt("select_last_index", 0))
    return n.refuse("only the first index");
  int64_t axis = n.getAxis("axis", 0, n.getRank(0));
  int dim = w.addNumber(ElemKind::Int32, double(axis));
  bool keeps = n.getInt("keepdims", 1);
  int place = keeps ? w.makeTensor(ElemKind::Int64) : w.getOutput(n);
  if (n.getOp() == "ArgMax")
    w.add(Builtin::ARG_MAX, {w.getInput(n, 0), dim}, {place},
          schema::CreateArgMaxOptions(w.fbb(), schema::TensorType::INT64));
  else
    w.add(Builtin::ARG_MIN, {w.getInput(n, 0), dim}, {place},
          schema::CreateArgMinOptions(w.fbb(), schema::TensorType::INT64));
  if (keeps)
    w.add(Builtin::EXPAND_DIMS, {place, dim}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeCumSum(TFLiteWriter &w, const FormNode &n) {
  w.add(Builtin::CUMSUM, {w.getInput(n, 0), w.getInput(n, 1)}, {w.getOutput(n)},
        schema::CreateCumsumOptions(w.fbb(), n.getInt("exclusive", 0),
                                    n.getInt("reverse", 0)));
  return llvm::Error::success();
}

/// Along the last dimension.
static llvm::Error writeSoftmax(TFLiteWriter &w, const FormNode &n) {
  size_t rank = n.getRank(0);
  auto axis = size_t(n.getAxis("axis", -1, unsigned(rank)));
  ElemKind kind = n.getType(0).getKind();
  std::vector<int64_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[axis], swapped.back());
  bool isLast = axis + 1 == rank;
  int x = w.getInput(n, 0),
      result = isLast ? w.getOutput(n) : w.makeTensor(kind);
  if (!isLast)
    x = w.transpose(kind, x, swapped);
  if (n.getOp() == "Softmax")
    w.add(Builtin::SOFTMAX, {x}, {result},
          schema::CreateSoftmaxOptions(w.fbb(), 1.0f));
  else
    w.add(Builtin::LOG_SOFTMAX, {x}, {result});
  if (!isLast)
    w.add(Builtin::TRANSPOSE, {result, w.addInts(swapped)}, {w.getOutput(n)});
  return llvm::Error::success();
}

/// LayerNormalization and RMSNormalization, of the operators that converters
/// write.
static llvm::Error writeNorm(TFLiteWriter &w, const FormNode &n) {
  ElemKind kind = n.getType(0).getKind();
  std::vector<int64_t> axes;
  for (int64_t d = n.getAxis("axis", -1, n.getRank(0)); d < n.getRank(0); ++d)
    axes.push_back(d);
  auto takeMean = [&](int x) {
    return w.compute(Builtin::MEAN, kind, {x, w.addInts(axes)},
                     schema::CreateReducerOptions(w.fbb(), true));
  };
  int x = w.getInput(n, 0), squares;
  if (n.getOp() == "LayerNormalization") {
    int mean = takeMean(x);
    squares = w.compute(Builtin::SQUARED_DIFFERENCE, kind, {x, mean});
    x = w.compute(Builtin::SUB, kind, {x, mean});
  } else {
    squares = w.compute(Builtin::SQUARE, kind, {x});
  }
  int epsilon = w.addNumber(kind, n.getFloat("epsilon", 1e-5f));
  int sum = w.compute(Builtin::ADD, kind, {takeMean(squares), epsilon});
  int rate = w.compute(Builtin::RSQRT, kind, {sum});
  x = w.compute(Builtin::MUL, kind, {x, rate});
  if (!n.hasInput(2)) {
    w.add(Builtin::MUL, {x, w.getInput(n, 1)}, {w.getOutput(n)});
    return llvm::Error::success();
  }
  x = w.compute(Builtin::MUL, kind, {x, w.getInput(n, 1)});
  w.add(Builtin::ADD, {x, w.getInput(n, 2)}, {w.getOutput(n)});
  return llvm::Error::success();
}

//===- Matmuls ------------------------------------------------------------===//

static void addMatMul(TFLiteWriter &w, int x, int y, bool swapsX, bool swapsY,
                      int result) {
  w.add(Builtin::BATCH_MATMUL, {x, y}, {result},
        schema::CreateBatchMatMulOptions(w.fbb(), swapsX, swapsY));
}

static llvm::Error writeMatMul(TFLiteWriter &w, const FormNode &n) {
  if (n.getRank(0) < 2 || n.getRank(1) < 2)
    return n.refuse("no vectors");
  if (n.getType(0).getKind() != ElemKind::Float)
    return n.refuse("no integers");
  int x = w.getInput(n, 0), y = w.getInput(n, 1);
  if (n.getRank(1) > 2 || !n.findConstant(1)) {
    addMatMul(w, x, y, false, false, w.getOutput(n));
    return llvm::Error::success();
  }
  int weights = w.transpose(n.getType(1).getKind(), y, {1, 0});
  w.add(Builtin::FULLY_CONNECTED, {x, weights}, {w.getOutput(n)},
        schema::CreateFullyConnectedOptions(
            w.fbb(), schema::ActivationFunctionType::NONE,
            schema::FullyConnectedOptionsWeightsFormat::DEFAULT,
            /*keep_num_dims=*/true));
  return llvm::Error::success();
}

static llvm::Error writeGemm(TFLiteWriter &w, const FormNode &n) {
  if (n.getFloat("alpha", 1) != 1 || n.getFloat("beta", 1) != 1)
    return n.refuse("no factors");
  bool swapsX = n.getInt("transA", 0), swapsY = n.getInt("transB", 0);
  int x = w.getInput(n, 0), y = w.getInput(n, 1);
  if (!swapsX && swapsY && n.hasInput(2) && n.getRank(2) == 1) {
    w.add(Builtin::FULLY_CONNECTED, {x, y, w.getInput(n, 2)}, {w.getOutput(n)},
          schema::CreateFullyConnectedOptions(w.fbb()));
    return llvm::Error::success();
  }
  int matmul =
      n.hasInput(2) ? w.makeTensor(n.getType(0).getKind()) : w.getOutput(n);
  addMatMul(w, x, y, swapsX, swapsY, matmul);
  if (n.hasInput(2))
    w.add(Builtin::ADD, {matmul, w.getInput(n, 2)}, {w.getOutput(n)});
  return llvm::Error::success();
}

//===- Images -------------------------------------------------------------===//

/// Conv, MaxPool and AveragePool of images [N, C, H, W], which are transposed.
static llvm::Error writeWindow(TFLiteWriter &w, const FormNode &n) {
  auto isPlain = [&](const char *attr, int64_t filler) {
    return llvm::all_of(n.getInts(attr),
                        [=](int64_t each) { return each == filler; });
  };
  if (n.getNumOutputs() > 1 || n.getRank(0) != 4 || n.hasAttr("auto_pad") ||
      !isPlain("pads", 0) || n.getInt("ceil_mode", 0))
    return n.refuse("only of images, without pads");
  ElemKind kind = n.getType(0).getKind();
  int x = w.transpose(kind, w.getInput(n, 0), {0, 2, 3, 1});
  std::vector<int64_t> strides = n.getInts("strides"),
                       dilations = n.getInts("dilations"),
                       kernel = n.getInts("kernel_shape");
  strides.resize(2, 1);
  dilations.resize(2, 1);
  int result = w.makeTensor(kind);
  auto none = schema::ActivationFunctionType::NONE;
  if (n.getOp() == "Conv") {
    std::vector<int> inputs = {
        x, w.transpose(kind, w.getInput(n, 1), {0, 2, 3, 1})};
    if (n.hasInput(2))
      inputs.push_back(w.getInput(n, 2));
    w.add(Builtin::CONV_2D, inputs, {result},
          schema::CreateConv2DOptions(w.fbb(), schema::Padding::VALID,
                                      int(strides[1]), int(strides[0]), none,
                                      int(dilations[1]), int(dilations[0])));
  } else {
    if (!isPlain("dilations", 1))
      return n.refuse("no dilations");
    w.add(n.getOp() == "MaxPool" ? Builtin::MAX_POOL_2D
                                 : Builtin::AVERAGE_POOL_2D,
          {x}, {result},
          schema::CreatePool2DOptions(w.fbb(), schema::Padding::VALID,
                                      int(strides[1]), int(strides[0]),
                                      int(kernel[1]), int(kernel[0]), none));
  }
  w.add(Builtin::TRANSPOSE, {result, w.addInts({0, 3, 1, 2})},
        {w.getOutput(n)});
  return llvm::Error::success();
}

//===- The form -----------------------------------------------------------===//

static TFLiteWriter::NodeWriter findWriter(llvm::StringRef op) {
  static const std::map<llvm::StringRef, TFLiteWriter::NodeWriter> writers = {
      {"Add", writeAdd},
      {"Mul", writeMul},
      {"Mod", writeMod},
      {"Reciprocal", writeReciprocal},
      {"IsNaN", writeIsNaN},
      {"Softsign", writeSoftsign},
      {"Elu", writeElu},
      {"LeakyRelu", writeLeakyRelu},
      {"Gelu", writeGelu},
      {"Clip", writeClip},
      {"QuantizeLinear", writeConversion<Builtin::QUANTIZE>},
      {"DequantizeLinear", writeConversion<Builtin::DEQUANTIZE>},
      {"Transpose", writeTranspose},
      {"Concat", writeConcat},
      {"Slice", writeSlice},
      {"Split", writeSplit},
      {"Pad", writePad},
      {"Gather", writeGather},
      {"GatherND", writeGatherND},
      {"OneHot", writeOneHot},
      {"TopK", writeTopK},
      {"ReduceSum", writeReduce},
      {"ReduceMean", writeReduce},
      {"ReduceMax", writeReduce},
      {"ReduceMin", writeReduce},
      {"ReduceProd", writeReduce},
      {"ReduceL1", writeReduceOf},
      {"ReduceL2", writeReduceOf},
      {"ReduceSumSquare", writeReduceOf},
      {"ReduceLogSum", writeReduceOf},
      {"ArgMax", writeArg},
      {"ArgMin", writeArg},
      {"CumSum", writeCumSum},
      {"Softmax", writeSoftmax},
      {"LogSoftmax", writeSoftmax},
      {"LayerNormalization", writeNorm},
      {"RMSNormalization", writeNorm},
      {"MatMul", writeMatMul},
      {"Gemm", writeGemm},
      {"Conv", writeWindow},
      {"MaxPool", writeWindow},
      {"AveragePool", writeWindow}};
  if (getSameOperators().count(op))
    return writeSame;
  auto found = writers.find(op);
  return found == writers.end() ? findTFLiteShapeWriter(op) : found->second;
}

static std::vector<std::string> listOperators() {
  std::vector<std::string> names;
  for (const TFLiteOperatorInfo &info : listTFLiteOperators())
    names.push_back(info.name);
  return names;
}

const Form fuzz::tfliteForm = {
    .name = "tflite",
    .takes = [](llvm::StringRef op) { return findWriter(op) != nullptr; },
    .listOperators = listOperators,
    .write =
        [](const TypedModel &model) {
          return TFLiteWriter(model).write(findWriter);
        },
    .import =
        [](const FormModel &written, const TypedModel &model) {
          // At an address that is a multiple of 16, as a file's.
          auto buffer = llvm::MemoryBuffer::getMemBufferCopy(written.files[0]);
          return importTFLite(llvm::arrayRefFromStringRef(buffer->getBuffer()),
                              "fuzz",
                              makeFormOptions(model, /*statesTypes=*/true));
        }};
