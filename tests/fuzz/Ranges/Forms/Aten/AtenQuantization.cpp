//===- AtenQuantization.cpp - Quantized tensors as PyTorch has them -------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

/// The arguments behind the tensor that PyTorch's operators have in common.
struct Parameters {
  bool isPerChannel = false;
  AtenArg::List arguments;
};

} // namespace

/// Scales, zero points, the axis and the bounds of \p kind, which inputs 1 and
/// 2 of \p node state; none where these are computed.
static std::optional<Parameters>
getParameters(AtenBuilder &b, const FormNode &node, ElemKind kind) {
  const Tensor *scale = node.findConstant(1), *zero = node.findConstant(2);
  bool isSigned = kind == ElemKind::Int8;
  if (!scale || (node.hasInput(2) && !zero) || b.isScript() ||
      (!isSigned && kind != ElemKind::UInt8))
    return std::nullopt;
  Parameters result;
  result.isPerChannel = scale->getType().getRank() == 1;
  if (scale->getType().getRank() > 1)
    return std::nullopt;
  if (result.isPerChannel) {
    if (!zero)
      return std::nullopt;
    AtenArg zeros = b.cast(b.getInput(node, 2), ElemKind::Int64);
    int64_t axis = node.getAxis("axis", 1, node.getRank(0));
    result.arguments = {b.getInput(node, 1), zeros, axis};
  } else {
    result.arguments = {scale->getAsDouble(0),
                        zero ? zero->getAsInt(0) : int64_t(0)};
  }
  result.arguments.insert(
      result.arguments.end(),
      {int64_t(isSigned ? -128 : 0), int64_t(isSigned ? 127 : 255), kind});
  return result;
}

/// Writes the operator \p prefix, quantize or dequantize, of input 0.
static bool translate(AtenBuilder &b, const FormNode &node, ElemKind kind,
                      llvm::StringRef prefix) {
  std::optional<Parameters> parameters = getParameters(b, node, kind);
  if (!parameters)
    return false;
  AtenArg::List arguments = {b.getInput(node, 0)};
  llvm::append_range(arguments, parameters->arguments);
  b.finish(node,
           ("quantized_decomposed::" + prefix +
            (parameters->isPerChannel ? "_per_channel" : "_per_tensor"))
               .str(),
           arguments);
  return true;
}

static bool translateQuantize(AtenBuilder &b, const FormNode &node) {
  if (node.getType(0).getKind() != ElemKind::Float)
    return false;
  return translate(b, node, node.getOutputType().getKind(), "quantize");
}

static bool translateDequantize(AtenBuilder &b, const FormNode &node) {
  if (node.getOutputType().getKind() != ElemKind::Float)
    return false;
  return translate(b, node, node.getType(0).getKind(), "dequantize");
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenQuantization() {
  static const AtenTranslation translations[] = {
      {"QuantizeLinear", translateQuantize},
      {"DequantizeLinear", translateDequantize}};
  return translations;
}
