//===- RandomOutputs.cpp - Outputs that random numbers decide -------------===//

#include "RandomOutputs.h"
#include "glowish/Support/Error.h"
#include <cmath>
#include <onnx/onnx_pb.h>

using namespace glowish;

static const Tensor *findOperand(const onnx::NodeProto &node, int index,
                                 RandomOutputs::FindInput findInput) {
  return index < node.input_size() ? findInput(node.input(index)) : nullptr;
}

/// The ratio of a Dropout: input 1, or 0.5 without one.
static double getRatio(const onnx::NodeProto &node,
                       RandomOutputs::FindInput findInput) {
  const Tensor *ratio = findOperand(node, 1, findInput);
  return ratio ? ratio->getAsDouble(0) : 0.5;
}

bool RandomOutputs::isTraining(const onnx::NodeProto &node,
                               FindInput findInput) const {
  const Tensor *training = findOperand(node, 2, findInput);
  return training && training->getAsDouble(0) && getRatio(node, findInput) != 0;
}

void RandomOutputs::add(const onnx::NodeProto &node, FindInput findInput) {
  const std::string &type = node.op_type();
  bool isDropout = type == "Dropout" && isTraining(node, findInput);
  bool isRandom = isDropout || type == "Bernoulli" || type == "Multinomial" ||
                  llvm::StringRef(type).starts_with("Random");
  Value value;
  bool isFromBinary = false;
  for (const std::string &input : node.input()) {
    auto found = values.find(input);
    if (found == values.end())
      continue;
    isRandom = true;
    isFromBinary = found->second.isBinary;
  }
  if (!isRandom)
    return;
  value.isBinary = type == "Bernoulli" || type == "Greater" || type == "Less" ||
                   (isFromBinary && (type == "Cast" || type == "Identity"));
  const Tensor *input = findOperand(node, 0, findInput);
  if (isDropout && input)
    for (int64_t i = 0; i < input->getNumElements(); ++i)
      value.kept.push_back(input->getAsDouble(i) /
                           (1 - getRatio(node, findInput)));
  for (const std::string &output : node.output()) {
    values[output] = value;
    // The mask.
    value = Value();
    value.isBinary = true;
  }
}

RandomOutputs::RandomOutputs(const onnx::GraphProto &graph,
                             FindInput findInput) {
  for (const onnx::NodeProto &node : graph.node())
    add(node, findInput);
}

llvm::Error RandomOutputs::check(llvm::StringRef output,
                                 const Tensor &actual) const {
  const Value &value = values.find(output)->second;
  bool isFromDropout = int64_t(value.kept.size()) == actual.getNumElements();
  for (int64_t i = 0; i < actual.getNumElements(); ++i) {
    double element = actual.getAsDouble(i);
    bool canBe = std::isfinite(element);
    if (value.isBinary)
      canBe = element == 0 || element == 1;
    else if (isFromDropout)
      canBe = element == 0 || std::fabs(element - value.kept[i]) <=
                                  1e-7 + 1e-3 * std::fabs(value.kept[i]);
    if (!canBe)
      return makeError("output '{0}' is random, but element {1} can't be {2}",
                       output, i, element);
  }
  return llvm::Error::success();
}
