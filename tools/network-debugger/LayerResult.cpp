//===- LayerResult.cpp - A result of a node, computed both ways -----------===//

#include "network-debugger/LayerResult.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error glowish::makeNothingInCommonError() {
  return makeError("the models have no node of the same name and type in "
                   "common");
}

static double getRtol(ElemKind kind, const ComparisonOptions &options) {
  double least = kind == ElemKind::Float16    ? options.float16Rtol
                 : kind == ElemKind::BFloat16 ? options.bfloat16Rtol
                                              : 0;
  return std::max(options.rtol, least);
}

LayerResult glowish::makeLayerResult(const ValueName &name,
                                     llvm::StringRef kind,
                                     const Tensor &expected,
                                     const Tensor &actual,
                                     const ComparisonOptions &options) {
  LayerResult result = {name, kind.str(), expected.getType(), {}, 0, 0, false};
  double rtol = getRtol(expected.getType().getKind(), options);
  result.comparison = compareTensors(actual, expected, rtol, options.atol);
  double limit = options.atol + rtol * result.comparison.maxMagnitude;
  result.isBad = !(result.comparison.maxError <= limit);
  if (expected.getNumElements()) {
    result.expected = expected.getAsDouble(result.comparison.maxErrorIndex);
    result.actual = actual.getAsDouble(result.comparison.maxErrorIndex);
  }
  return result;
}
