//===- Perplexity.cpp - The option -perplexity ----------------------------===//

#include "Perplexity.h"
#include "Generator.h"
#include "common/RunResults.h"
#include "common/TensorFile.h"
#include <cmath>

using namespace glowish;
namespace cl = llvm::cl;

static cl::opt<std::string> textFile(
    "perplexity",
    cl::desc("Of a language model with a cache (-state): take the text "
             "in FILE, a tensor of ids (.npy or .pb), and print the "
             "perplexity"),
    cl::value_desc("file"), cl::cat(runCategory));

llvm::Expected<bool> glowish::isMeasuringPerplexity(bool generates,
                                                    llvm::StringRef other) {
  if (textFile.empty())
    return false;
  if (generates)
    return makeError("-perplexity takes a text as it is, which -generate "
                     "continues; accepted: one of both");
  if (!other.empty())
    return makeError("-{0} is for single runs; accepted: without -perplexity",
                     other);
  return true;
}

static llvm::Expected<std::vector<int64_t>> readText() {
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(textFile));
  if (!isIntegerKind(tensor.getType().getKind()))
    return makeError(
        "-perplexity: '{0}' is {1}; accepted: integers, the ids of "
        "a text",
        textFile, tensor.getType().str());
  if (tensor.getNumElements() < 2)
    return makeError("-perplexity: '{0}' is {1}; accepted: at least two ids",
                     textFile, tensor.getType().str());
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    ids.push_back(tensor.getAsInt(i));
  return ids;
}

namespace {
/// What is known of the tokens of a text that were predicted.
struct Prediction {
  size_t number = 0;
  /// The sum of the negative logarithms of their probabilities.
  double nats = 0;
  Generator::Calls calls;
};
} // namespace

/// The negative logarithm of the probability of \p id.
static double getNats(llvm::ArrayRef<double> logits, int64_t id) {
  // Exponentials of what is at most 0 don't overflow.
  double most = *llvm::max_element(logits), sum = 0;
  for (double logit : logits)
    sum += std::exp(logit - most);
  return most + std::log(sum) - logits[size_t(id)];
}

/// Appends \p ids but the last, and adds to \p prediction all but the first.
static llvm::Error predict(Generator &generator, llvm::ArrayRef<int64_t> ids,
                           Prediction &prediction) {
  while (ids.size() > 1) {
    llvm::ArrayRef<int64_t> tokens = ids.drop_back();
    if (!generator.hasAllLogits())
      tokens = tokens.take_front();
    GLOWISH_ASSIGN_OR_RETURN(size_t count,
                             generator.appendSome(tokens, prediction.calls));
    for (size_t i = 0; i < count; ++i)
      prediction.nats += getNats(generator.getLogits(i), ids[i + 1]);
    prediction.number += count;
    ids = ids.drop_front(count);
  }
  return llvm::Error::success();
}

llvm::Error
glowish::measurePerplexity(const CompiledVariants &compiled,
                           const GivenTensors &given,
                           std::shared_ptr<const Tensor> constants) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> text, readText());
  GLOWISH_ASSIGN_OR_RETURN(
      Generator generator,
      Generator::create("-perplexity", compiled, given, std::move(constants)));
  GLOWISH_RETURN_IF_ERROR(generator.checkIds("the text", text));
  // The last token of a window is not appended, and begins the next one: each
  // but the first of the text is predicted once.
  size_t most = text.size();
  if (std::optional<int64_t> past = generator.getMostPast())
    most = std::min(most, size_t(*past) + 2);
  Prediction prediction;
  for (llvm::ArrayRef<int64_t> ids = text; ids.size() > 1;
       ids = ids.drop_front(std::min(most, ids.size()) - 1)) {
    generator.clear();
    GLOWISH_RETURN_IF_ERROR(predict(
        generator, ids.take_front(std::min(most, ids.size())), prediction));
  }
  double nats = prediction.nats / double(prediction.number);
  llvm::outs() << llvm::formatv(
      "text: {0} tokens predicted in {1} runs, {2:F1} tokens/s\n"
      "perplexity: {3:F4}, {4:F6} nats a token\n",
      prediction.number, prediction.calls.number,
      double(prediction.number) / prediction.calls.seconds, std::exp(nats),
      nats);
  return llvm::Error::success();
}
