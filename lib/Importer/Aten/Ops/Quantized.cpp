//===- Quantized.cpp - Quantized tensors of TorchScript -------------------===//

#include "Aten/Quantized.h"
#include "glowish/Base/ElemRange.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

//===- Scales and zero points ---------------------------------------------===//

/// Returns an error unless the scales and zero points of \p own that are known
/// are those of quantized tensors with integers of \p kind.
static llvm::Error checkParameters(const AtenQuantized &own, ElemKind kind) {
  ElemRange range = getFiniteRange(kind);
  auto find = [](NodeValue value, auto isWrong) -> std::optional<double> {
    if (auto *constant = value.getNodeAs<Constant>())
      for (int64_t i = 0; i < value.getType().getNumElements(); ++i)
        if (double number = constant->getTensor().getAsDouble(i);
            isWrong(number))
          return number;
    return std::nullopt;
  };
  if (auto scale = find(own.scale, [](double number) {
        return !(number > 0 && std::isfinite(number));
      }))
    return makeError("a scale is {0}; accepted: above 0", *scale);
  if (auto zero = find(own.zeroPoint, [&](double number) {
        return number < range.low || number > range.high;
      }))
    return makeError("a zero point is {0}; accepted: {1} to {2}",
                     int64_t(*zero), int64_t(range.low), int64_t(range.high));
  return llvm::Error::success();
}

/// Returns the scale and zero point that the arguments \p scale and \p
/// zeroPoint state, numbers or tensors with one element, for integers of \p
/// kind.
static llvm::Expected<AtenQuantized> readParameters(AtenOp &op,
                                                    llvm::StringRef scale,
                                                    llvm::StringRef zeroPoint,
                                                    ElemKind kind) {
  auto read = [&](llvm::StringRef argument,
                  ElemKind own) -> llvm::Expected<NodeValue> {
    const AtenValue &value = op.get(argument);
    if (!value.isNumber() &&
        (!value.isTensor() || value.get<NodeValue>().getType().hasExtents() ||
         value.get<NodeValue>().getType().getNumElements() != 1))
      return op.refuse(argument, "one number");
    return op.finish(op.reshape(op.operand(argument, own), {}));
  };
  AtenQuantized result;
  GLOWISH_ASSIGN_OR_RETURN(result.scale, read(scale, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(result.zeroPoint, read(zeroPoint, ElemKind::Int32));
  GLOWISH_RETURN_IF_ERROR(checkParameters(result, kind));
  return result;
}

/// Returns the kind of the integers that `dtype` states.
static llvm::Expected<ElemKind> readKind(const AtenOp &op) {
  const AtenValue &value = op.get("dtype");
  if (!value.is<AtenQuantizedKind>())
    return op.refuse("dtype", "quint8, qint8 and qint32");
  return value.get<AtenQuantizedKind>().values;
}

/// Returns the scale and zero point that PyTorch chooses for the range of the
/// elements of \p x, and of 0, with integers of \p kind; with \p isReduced
/// their range is halved. Small scales are those of FBGEMM.
static AtenQuantized chooseParameters(AtenOp &op, NodeValue x, ElemKind kind,
                                      bool isReduced) {
  ElemRange range = getFiniteRange(kind);
  double low = std::trunc(range.low / (isReduced ? 2 : 1)),
         high = std::trunc(range.high / (isReduced ? 2 : 1));
  std::vector<int64_t> all = getAllDims(int64_t(x.getShape().size()));
  NodeValue least = op.min(op.reduce(x, "min", all, /*keepDims=*/false), 0),
            most = op.max(op.reduce(x, "max", all, /*keepDims=*/false), 0);
  auto widen = [&](NodeValue value) {
    return op.cast(value, ElemKind::Double);
  };
  NodeValue scale = op.div(op.sub(widen(most), widen(least)), high - low);
  // The inverse of the float must be finite.
  NodeValue inverse = op.div(1, op.cast(scale, ElemKind::Float));
  scale =
      op.select(op.greater(inverse, double(std::numeric_limits<float>::max())),
                op.number(scale, 0.1), scale);
  constexpr float smallest = 6.1e-5f;
  NodeValue isSmall = op.less(scale, double(smallest));
  NodeValue amplifier = op.div(smallest, op.cast(scale, ElemKind::Float));
  auto amplify = [&](NodeValue end, NodeValue other, double alone) {
    NodeValue amplified = op.select(op.equal(other, 0), op.number(end, alone),
                                    op.mul(end, amplifier));
    return widen(op.select(isSmall, amplified, end));
  };
  auto bound = float(high - low);
  NodeValue first = amplify(least, most, -smallest * bound),
            last = amplify(most, least, smallest * bound);
  scale = op.select(isSmall, op.number(scale, double(smallest)), scale);
  // The zero point is computed from the end whose terms are smaller.
  NodeValue before = op.div(first, scale), behind = op.div(last, scale);
  NodeValue isBefore =
      op.less(op.sub(std::abs(low), op.unary<AbsNode>(before)),
              op.sub(std::abs(high), op.unary<AbsNode>(behind)));
  NodeValue zeroPoint =
      op.select(isBefore, op.sub(low, before), op.sub(high, behind));
  zeroPoint = op.clip(op.unary<RoundNode>(zeroPoint), low, high);
  return {.scale = op.cast(scale, ElemKind::Float),
          .zeroPoint = op.cast(zeroPoint, ElemKind::Int32)};
}

//===- Quantizing and dequantizing ----------------------------------------===//

static llvm::Error importQuantize(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, readFloat(op, "self"));
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(op));
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized own,
                           readParameters(op, "scale", "zero_point", kind));
  return op.setResult(AtenValue(quantize(op, x, kind, own)));
}

static llvm::Error importQuantizeDynamic(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, readFloat(op, "self"));
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(op));
  if (kind == ElemKind::Int32)
    return op.refuse("dtype", "quint8 and qint8");
  AtenQuantized own = chooseParameters(op, x, kind, op.flag("reduce_range"));
  return op.setResult(AtenValue(quantize(op, x, kind, own)));
}

static llvm::Error importQuantizeChannels(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, readFloat(op, "self"));
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(op));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("axis", op.getRank("self")));
  AtenQuantized own{.axis = axis};
  for (llvm::StringRef argument : {"scales", "zero_points"}) {
    bool isScale = argument == "scales";
    NodeValue value =
        op.get(argument).isTensor() ? op.tensor(argument) : NodeValue();
    if (x.getShape().empty() || !value ||
        value.getShape() != DimsRef({x.getShape()[axis]}) ||
        isFloatKind(value.getElemKind()) != isScale)
      return op.refuse(argument,
                       isScale ? "a float for each index of the dimension"
                               : "an integer for each index of the dimension");
    (isScale ? own.scale : own.zeroPoint) =
        op.cast(value, isScale ? ElemKind::Float : ElemKind::Int32);
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_RETURN_IF_ERROR(checkParameters(own, kind));
  return op.setResult(AtenValue(quantize(op, x, kind, own)));
}

/// Imports dequantize(), which returns other tensors as float.
static llvm::Error importDequantize(AtenOp &op) {
  const AtenValue &value = op.get(op.getSchema().arguments[0].name);
  if (value.isQuantized())
    return op.setResult(dequantize(op, value.get<AtenQuantized>()));
  return op.setResult(op.cast(value.get<NodeValue>(), ElemKind::Float));
}

static llvm::Error importDequantizeAll(AtenOp &op) {
  std::vector<NodeValue> results;
  llvm::StringRef name = op.getSchema().arguments[0].name;
  for (const AtenValue &value : op.get(name).get<AtenValue::List>()) {
    if (!value.isQuantized() && !value.isTensor())
      return op.refuse(name, "a list of tensors");
    results.push_back(value.isQuantized()
                          ? dequantize(op, value.get<AtenQuantized>())
                          : op.cast(value.get<NodeValue>(), ElemKind::Float));
  }
  return op.setResult(results);
}

template <NodeValue AtenQuantized::*part, bool ofChannels>
static llvm::Error importPart(AtenOp &op) {
  const AtenValue &value = op.get("self");
  bool isAny = part == &AtenQuantized::values;
  if (!value.isQuantized() ||
      (!isAny && value.get<AtenQuantized>().axis.has_value() != ofChannels))
    return op.refuse("self", ofChannels ? "a quantized tensor with scales of a "
                                          "dimension"
                             : isAny    ? "a quantized tensor"
                                        : "a quantized tensor with one scale");
  NodeValue own = value.get<AtenQuantized>().*part;
  // PyTorch has scales of double and zero points of int64.
  if (part == &AtenQuantized::scale)
    own = op.cast(own, ElemKind::Double);
  if (part == &AtenQuantized::zeroPoint)
    own = op.cast(own, ElemKind::Int64);
  return op.setResult(own);
}

static llvm::Error importChannelAxis(AtenOp &op) {
  const AtenValue &value = op.get("self");
  if (!value.isQuantized() || !value.get<AtenQuantized>().axis)
    return op.refuse("self", "a quantized tensor with scales of a dimension");
  return op.setResult(AtenValue(*value.get<AtenQuantized>().axis));
}

static AtenOperators quantizers(
    {{importQuantize,
      {"quantize_per_tensor(Tensor self, float scale, int zero_point, "
       "ScalarType dtype) -> Tensor",
       "quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor "
       "zero_point, ScalarType dtype) -> Tensor"}},
     {importQuantizeDynamic,
      {"quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool "
       "reduce_range) -> Tensor"}},
     {importQuantizeChannels,
      {"quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, "
       "int axis, ScalarType dtype) -> Tensor"}},
     {importDequantize,
      {"dequantize.self(Tensor self) -> Tensor",
       "dequantize.tensor(Tensor qtensor) -> Tensor"}},
     {importDequantizeAll,
      {"dequantize.tensors(Tensor[] tensors) -> Tensor[]",
       "dequantize.list(Tensor[] qtensors) -> Tensor[]"}},
     {importPart<&AtenQuantized::values, false>,
      {"int_repr(Tensor self) -> Tensor"}},
     {importPart<&AtenQuantized::scale, false>,
      {"q_scale(Tensor self) -> float"}},
     {importPart<&AtenQuantized::zeroPoint, false>,
      {"q_zero_point(Tensor self) -> int"}},
     {importPart<&AtenQuantized::scale, true>,
      {"q_per_channel_scales(Tensor self) -> Tensor"}},
     {importPart<&AtenQuantized::zeroPoint, true>,
      {"q_per_channel_zero_points(Tensor self) -> Tensor"}},
     {importChannelAxis, {"q_per_channel_axis(Tensor self) -> int"}}},
    AtenOrder::Kept, AtenElements::RealOrQuantized);

//===- Operators that take real tensors, too ------------------------------===//

/// Imports an operator as that on floats, whose result is quantized as the
/// operand is.
static llvm::Error importAsFloats(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized self, readQuantized(op, "self"));
  AtenValue::List operands;
  for (const AtenArgument &argument : op.getSchema().arguments)
    operands.push_back(argument.name == "self" ? AtenValue(dequantize(op, self))
                                               : op.get(argument.name));
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      op.call(op.getSchema().getFullName(), std::move(operands)));
  return op.setResult(AtenValue(quantize(op, results[0].get<NodeValue>(),
                                         self.values.getElemKind(), self)));
}

/// Bounds the integers of `self` by those of two numbers, which may be None.
static llvm::Error setBounded(AtenOp &op, const AtenValue &low,
                              const AtenValue &high) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized self, readQuantized(op, "self"));
  ElemKind kind = self.values.getElemKind();
  auto getStep = [&](const AtenValue &number) {
    return quantize(op, op.scalar(ElemKind::Float, number.getNumber()), kind,
                    self)
        .values;
  };
  if (!low.isNone())
    self.values = op.max(self.values, getStep(low));
  if (!high.isNone())
    self.values = op.min(self.values, getStep(high));
  return op.setResult(AtenValue(self));
}

static llvm::Error importRelu(AtenOp &op) {
  return setBounded(op, AtenValue(0.0), AtenValue());
}
static llvm::Error importRelu6(AtenOp &op) {
  return setBounded(op, AtenValue(0.0), AtenValue(6.0));
}
static llvm::Error importHardTanh(AtenOp &op) {
  return setBounded(op, op.get("min_val"), op.get("max_val"));
}
static llvm::Error importClamp(AtenOp &op) {
  for (llvm::StringRef argument : {"min", "max"})
    if (!op.isNone(argument) && !op.get(argument).isNumber())
      return op.refuse(argument, "a number that is known, or None");
  return setBounded(op, op.get("min"), op.get("max"));
}

static AtenQuantizedOperators asFloats(importAsFloats,
                                       {"adaptive_avg_pool2d", "avg_pool2d",
                                        "_adaptive_avg_pool2d", "mean"});
static AtenQuantizedOperators relus(importRelu, {"relu"});
static AtenQuantizedOperators relus6(importRelu6, {"relu6"});
static AtenQuantizedOperators hardTanhs(importHardTanh, {"hardtanh"});
static AtenQuantizedOperators clamps(importClamp, {"clamp"});

//===- Packed weights -----------------------------------------------------===//

static llvm::Error importPacking(AtenOp &op) { return op.setPacked(); }

/// Imports the packing of weights that are rounded to float16.
static llvm::Error importPackingToHalf(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue weights, readFloat(op, "W"));
  double most = getFiniteRange(ElemKind::Float16).high;
  weights = op.cast(op.clip(weights, -most, most), ElemKind::Float16);
  return op.setResult(AtenValue(
      AtenValue::List{op.cast(weights, ElemKind::Float), op.get("B")}));
}

namespace {

/// Packed weights of a convolution: all arguments of one but its input.
struct PackedConvolution {
  AtenQuantized weights;
  AtenValue bias, strides, pads, dilations, groups;
};

} // namespace

static llvm::Error refusePacked(const AtenOp &op, llvm::StringRef argument) {
  return op.refuse(argument, "packed weights of version 2, of quantized "
                             "tensors, that are not transposed");
}

/// Reads the integers \p stated, in front of which is the number of dimensions:
/// strides, pads, dilations and output pads of each, the groups, and whether it
/// is transposed.
static bool readNumbers(NodeValue stated, PackedConvolution &packed) {
  auto *constant = stated.getNodeAs<Constant>();
  int64_t count = constant ? stated.getType().getNumElements() : 0;
  auto get = [&](int64_t index) {
    return constant->getTensor().getAsInt(index);
  };
  constexpr int64_t rank = 2;
  if (count != 4 * rank + 3 || !isIntegerKind(stated.getElemKind()) ||
      get(0) != rank || get(count - 1) != 0)
    return false;
  int64_t next = 1;
  for (AtenValue *list : {&packed.strides, &packed.pads, &packed.dilations})
    *list = AtenValue::List{get(next++), get(next++)};
  packed.groups = get(count - 2);
  return true;
}

static llvm::Expected<PackedConvolution> readConvolution(AtenOp &op,
                                                         llvm::StringRef name) {
  const auto &state = op.get(name).get<AtenValue::List>();
  auto isList = [](const AtenValue &value, size_t size) {
    return value.is<AtenValue::List>() &&
           value.get<AtenValue::List>().size() == size;
  };
  PackedConvolution packed;
  AtenValue weights;
  if (state.size() == 3 && state[0].is<std::string>() &&
      state[0].get<std::string>() == "2" && isList(state[1], 2) &&
      isList(state[2], 1)) {
    const auto &tensors = state[1].get<AtenValue::List>();
    if (!tensors[0].isTensor() ||
        !readNumbers(tensors[0].get<NodeValue>(), packed))
      return refusePacked(op, name);
    weights = tensors[1];
    packed.bias = state[2].get<AtenValue::List>()[0];
  } else if (state.size() == 6) {
    weights = state[0];
    packed = {{}, state[1], state[2], state[3], state[4], state[5]};
  }
  if (!weights.isQuantized())
    return refusePacked(op, name);
  packed.weights = weights.get<AtenQuantized>();
  return packed;
}

/// Returns the weights of a linear layer, and what its bias is.
static llvm::Expected<std::pair<AtenValue, AtenValue>>
readLinear(const AtenOp &op) {
  const auto &state = op.get("W_prepack").get<AtenValue::List>();
  if (state.size() != 2 || (!state[0].isQuantized() && !state[0].isTensor()))
    return op.refuse("W_prepack", "packed weights and a bias");
  return std::pair(state[0], state[1]);
}

static llvm::Error importLinearUnpacking(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto own, readLinear(op));
  GLOWISH_RETURN_IF_ERROR(op.setResult(own.first, 0));
  return op.setResult(own.second, 1);
}

static llvm::Error importConvolutionUnpacking(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(PackedConvolution packed,
                           readConvolution(op, "packed_weights"));
  GLOWISH_RETURN_IF_ERROR(op.setResult(AtenValue(packed.weights), 0));
  return op.setResult(packed.bias, 1);
}

static AtenOperators packing(
    {{importPacking,
      {"quantized::linear_prepack(Tensor W, Tensor? B=None) -> "
       "__torch__.torch.classes.quantized.LinearPackedParamsBase",
       "quantized::conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, "
       "int[] padding, int[] dilation, int groups) -> "
       "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"}},
     {importPackingToHalf,
      {"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) -> "
       "__torch__.torch.classes.quantized.LinearPackedParamsBase"}},
     {importLinearUnpacking,
      {"quantized::linear_unpack("
       "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> "
       "(Tensor, Tensor?)",
       "quantized::linear_unpack_fp16("
       "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> "
       "(Tensor, Tensor?)"}},
     {importConvolutionUnpacking,
      {"quantized::conv2d_unpack("
       "__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
       "packed_weights) -> (Tensor, Tensor?)"}}},
    AtenOrder::Unknown, AtenElements::RealOrQuantized);

//===- Operators on packed weights ----------------------------------------===//

/// Sets \p result, quantized as `self` is but with the scale and zero point of
/// the arguments \p scale and \p zeroPoint.
static llvm::Error setQuantized(AtenOp &op, NodeValue result, bool hasRelu,
                                ElemKind kind, llvm::StringRef scale,
                                llvm::StringRef zeroPoint) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized own,
                           readParameters(op, scale, zeroPoint, kind));
  if (hasRelu)
    result = op.unary<ReluNode>(result);
  return op.setResult(AtenValue(requantize(op, result, kind, own)));
}

/// Imports a convolution. One of one dimension is packed as one of two.
template <bool hasRelu, bool isFlat>
static llvm::Error importConvolution(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized x, readQuantized(op, "qx"));
  llvm::StringRef name = op.has("weight") ? "weight" : "packed_weight";
  GLOWISH_ASSIGN_OR_RETURN(PackedConvolution packed, readConvolution(op, name));
  NodeValue input = dequantize(op, x);
  if (isFlat && input.getShape().size() != 3)
    return op.refuse("qx", "[batch, channels, length]");
  if (isFlat)
    input = op.unsqueeze(input, 2);
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      op.call("conv2d",
              {input, dequantize(op, packed.weights), packed.bias,
               packed.strides, packed.pads, packed.dilations, packed.groups}));
  auto result = results[0].get<NodeValue>();
  if (isFlat)
    result = op.rearrange(result, {0, 1, 3});
  return setQuantized(op, result, hasRelu, x.values.getElemKind(),
                      "output_scale", "output_zero_point");
}

template <bool hasRelu> static llvm::Error importLinear(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized x, readQuantized(op, "X"));
  GLOWISH_ASSIGN_OR_RETURN(auto own, readLinear(op));
  if (!own.first.isQuantized())
    return op.refuse("W_prepack", "packed weights that are quantized");
  NodeValue weights = dequantize(op, own.first.get<AtenQuantized>());
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      op.call("linear", {dequantize(op, x), weights, own.second}));
  return setQuantized(op, results[0].get<NodeValue>(), hasRelu,
                      x.values.getElemKind(), "Y_scale_i", "Y_zero_point_i");
}

/// Imports a linear layer of floats, which are quantized by their range in each
/// run unless the weights are float16.
template <bool hasRelu> static llvm::Error importLinearDynamic(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, readFloat(op, "X"));
  if (x.getShape().size() < 2)
    return op.refuse("X", "two dimensions and more");
  GLOWISH_ASSIGN_OR_RETURN(auto own, readLinear(op));
  bool isHalf = !op.has("reduce_range");
  if (own.first.isQuantized() == isHalf)
    return op.refuse("W_prepack", isHalf ? "packed weights of float16"
                                         : "packed weights that are quantized");
  AtenValue weights = own.first;
  if (!isHalf) {
    constexpr ElemKind kind = ElemKind::UInt8;
    AtenQuantized like = chooseParameters(op, x, kind, op.flag("reduce_range"));
    x = dequantize(op, quantize(op, x, kind, like));
    weights = dequantize(op, own.first.get<AtenQuantized>());
  }
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           op.call("linear", {x, weights, own.second}));
  auto result = results[0].get<NodeValue>();
  return op.setResult(hasRelu ? op.unary<ReluNode>(result) : result);
}

static constexpr llvm::StringLiteral staticOutputs =
    "(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
    "packed_weight, float output_scale, int output_zero_point) -> Tensor";
static AtenOperators convolutions(
    {staticOutputs},
    {{importConvolution<false, false>, {"quantized::conv2d.new"}},
     {importConvolution<true, false>, {"quantized::conv2d_relu.new"}},
     {importConvolution<false, true>, {"quantized::conv1d"}},
     {importConvolution<true, true>, {"quantized::conv1d_relu"}}},
    AtenOrder::Images, AtenElements::RealOrQuantized);
// PyTorch ignores the numbers that are packed, too.
static AtenOperators olderConvolutions(
    {"(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
     "weight, int[] stride, int[] padding, int[] dilation, int groups, float "
     "output_scale, int output_zero_point) -> Tensor"},
    {{importConvolution<false, false>, {"quantized::conv2d"}},
     {importConvolution<true, false>, {"quantized::conv2d_relu"}}},
    AtenOrder::Images, AtenElements::RealOrQuantized);
static AtenOperators
    linears({"(Tensor X, "
             "__torch__.torch.classes.quantized.LinearPackedParamsBase "
             "W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor"},
            {{importLinear<false>, {"quantized::linear"}},
             {importLinear<true>, {"quantized::linear_relu"}}},
            AtenOrder::RowMajor, AtenElements::RealOrQuantized);
static AtenOperators dynamicLinears(
    {"(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "W_prepack, bool reduce_range=False) -> Tensor"},
    {{importLinearDynamic<false>, {"quantized::linear_dynamic"}},
     {importLinearDynamic<true>, {"quantized::linear_relu_dynamic"}}},
    AtenOrder::RowMajor, AtenElements::RealOrQuantized);
static AtenOperators halfLinears(
    {"(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "W_prepack) -> Tensor"},
    {{importLinearDynamic<false>, {"quantized::linear_dynamic_fp16"}},
     {importLinearDynamic<true>, {"quantized::linear_relu_dynamic_fp16"}}},
    AtenOrder::RowMajor, AtenElements::RealOrQuantized);

//===- Element-wise -------------------------------------------------------===//

template <bool isMul, bool hasRelu>
static llvm::Error importArithmetic(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized x, readQuantized(op, "qa"));
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized y, readQuantized(op, "qb"));
  NodeValue a = dequantize(op, x), b = dequantize(op, y);
  return setQuantized(op, isMul ? op.mul(a, b) : op.add(a, b), hasRelu,
                      x.values.getElemKind(), "scale", "zero_point");
}

static llvm::Error importHardSwish(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(AtenQuantized x, readQuantized(op, "input"));
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           op.call("hardswish", {dequantize(op, x)}));
  return setQuantized(op, results[0].get<NodeValue>(), /*hasRelu=*/false,
                      x.values.getElemKind(), "output_scale",
                      "output_zero_point");
}

/// Imports a concatenation with a scale of its own, or that of the first one.
static llvm::Error importConcat(AtenOp &op) {
  const auto &list = op.get("qx").get<AtenValue::List>();
  if (list.empty() || !llvm::all_of(list, [](const AtenValue &value) {
        return value.isQuantized() && !value.get<AtenQuantized>().axis;
      }))
    return op.refuse("qx", "quantized tensors with one scale each");
  AtenQuantized own = list[0].get<AtenQuantized>();
  ElemKind kind = own.values.getElemKind();
  if (op.isNone("scale") != op.isNone("zero_point"))
    return op.refuse("zero_point", "a number or None, as 'scale' is");
  if (!op.isNone("scale")) {
    GLOWISH_ASSIGN_OR_RETURN(own,
                             readParameters(op, "scale", "zero_point", kind));
  }
  AtenValue::List values;
  for (const AtenValue &value : list)
    values.push_back(
        requantize(op, dequantize(op, value.get<AtenQuantized>()), kind, own)
            .values);
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           op.call("cat", {std::move(values), op.get("dim")}));
  own.values = results[0].get<NodeValue>();
  return op.setResult(AtenValue(own));
}

static AtenOperators arithmetic(
    {"(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor"},
    {{importArithmetic<false, false>, {"quantized::add"}},
     {importArithmetic<false, true>, {"quantized::add_relu"}},
     {importArithmetic<true, false>, {"quantized::mul"}},
     {importArithmetic<true, true>, {"quantized::mul_relu"}}},
    AtenOrder::ElementWise, AtenElements::RealOrQuantized);
static AtenOperators others(
    {{importHardSwish,
      {"quantized::hardswish(Tensor input, float output_scale, int "
       "output_zero_point) -> Tensor"}},
     {importConcat,
      {"quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> "
       "Tensor"}}},
    AtenOrder::Unknown, AtenElements::RealOrQuantized);
