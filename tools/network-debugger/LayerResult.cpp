//===- LayerResult.cpp - A result of a node, computed both ways -----------===//

#include "network-debugger/LayerResult.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error glowish::makeNothingInCommonError() {
  return makeError("the models have no node of the same name and type in "
                   "common");
}

LayerResult glowish::makeLayerResult(const ValueName &name,
                                     llvm::StringRef kind,
                                     const Tensor &expected,
                                     const Tensor &actual,
                                     const ComparisonOptions &options) {
  LayerResult result = {name, kind.str(), expected.getType(), {}, 0, 0, false};
  result.comparison =
      compareTensors(actual, expected, options.rtol, options.atol);
  double limit = options.atol + options.rtol * result.comparison.maxMagnitude;
  result.isBad = !(result.comparison.maxError <= limit);
  if (expected.getNumElements()) {
    result.expected = expected.getAsDouble(result.comparison.maxErrorIndex);
    result.actual = actual.getAsDouble(result.comparison.maxErrorIndex);
  }
  return result;
}
