//===- Generation.cpp - The options -generate and -prompt-ids -------------===//

#include "Generation.h"
#include "Generator.h"
#include "common/CommonOptions.h"
#include "common/RunResults.h"
#include "common/ValueOption.h"
#include "glowish/Backends/CPU/PeakRate.h"
#include "glowish/IR/Instrs.h"
#include <set>

using namespace glowish;
namespace cl = llvm::cl;

static ValueOption<unsigned>
    generate("generate",
             cl::desc("Of a language model with a cache (-state): take the "
                      "prompt, print the N likeliest tokens after it one by "
                      "one, and how fast that was"),
             cl::value_desc("N"), cl::init(0), cl::cat(runCategory),
             inRange(1u, 1u << 20));
static ValueListOption<int64_t>
    promptIds("prompt-ids", cl::CommaSeparated,
              cl::desc("The prompt of -generate (default: what the input of "
                       "tokens is given)"),
              cl::value_desc("id,..."), cl::cat(runCategory));

llvm::Expected<bool> glowish::isGenerating(llvm::StringRef other) {
  if (!generate.getNumOccurrences()) {
    if (promptIds.getNumOccurrences())
      return makeError("-prompt-ids has no effect without -generate, which "
                       "continues it; accepted: with -generate=N");
    return false;
  }
  if (!other.empty())
    return makeError("-{0} is for single runs; accepted: without -generate",
                     other);
  return true;
}

static llvm::Expected<std::vector<int64_t>>
getPrompt(const Generator &generator, const GivenTensors &given) {
  std::vector<int64_t> ids(promptIds.begin(), promptIds.end());
  if (ids.empty()) {
    auto tokens = given.byName.find(generator.getTokensName().str());
    if (tokens == given.byName.end())
      return makeError("-generate: there is no prompt; accepted: "
                       "-prompt-ids=ID,... or -input={0}=FILE",
                       generator.getTokensName());
    const Tensor &tensor = tokens->second.tensor;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      ids.push_back(tensor.getAsInt(i));
  }
  GLOWISH_RETURN_IF_ERROR(generator.checkIds("the prompt", ids));
  // The last token is picked, but not appended.
  std::optional<int64_t> most = generator.getMostPast();
  if (most && int64_t(ids.size() + generate) - 2 > *most)
    return makeError("-generate={0}: the prompt of {1} ids and as many tokens "
                     "are more than the cache holds; accepted: at most {2}",
                     generate.getValue(), ids.size(),
                     *most + 2 - int64_t(ids.size()));
  return ids;
}

/// The bytes of the constants that a run of \p program reads. Of tables, of
/// which it picks rows, none count.
static uint64_t countWeightBytes(const PlannedProgram &program) {
  std::set<const Buffer *> roots;
  for (const Instruction &instr : program.getIR().getInstrs()) {
    auto *gather = llvm::dyn_cast<GatherInstr>(&instr);
    for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
      const Buffer *buffer = instr.getOperand(i);
      if (buffer && buffer->getRoot()->getKind() == Buffer::Kind::Constant &&
          !(gather && buffer == gather->getInput()))
        roots.insert(buffer->getRoot());
    }
  }
  uint64_t bytes = 0;
  for (const Buffer *root : roots)
    bytes += uint64_t(root->getType().getSizeInBytes());
  return bytes;
}

static void printPrompt(size_t count, const Generator::Calls &calls) {
  llvm::outs() << llvm::formatv(
      "prompt: {0} tokens in {1} runs, {2:F1} tokens/s\n", count, calls.number,
      double(count) / calls.seconds);
}

/// \p times: the seconds of each run that took one token.
static llvm::Error printDecoding(std::vector<double> times,
                                 const Generator &generator) {
  if (times.empty())
    return llvm::Error::success();
  double sum = 0;
  for (double time : times)
    sum += time;
  llvm::sort(times);
  double median = times[times.size() / 2];
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> cpu,
                           CPUBackend::createLocal(getTargetOptions()));
  GLOWISH_ASSIGN_OR_RETURN(MachineLimits limits, measureMachineLimits(*cpu));
  double rate = limits.levels.back().readRate;
  auto bytes = double(countWeightBytes(generator.getSmallestProgram()));
  llvm::outs() << llvm::formatv(
      "after it: {0} runs of one token, {1:F1} tokens/s, median {2:F3} ms\n"
      "weights: {3:F2} MB a token, {4:F1} GB/s, {5:P0} of what the cores read "
      "from memory ({6:F1} GB/s)\n",
      times.size(), double(times.size()) / sum, 1e3 * median, bytes / 1e6,
      bytes / median / 1e9, bytes / median / rate, rate / 1e9);
  return llvm::Error::success();
}

llvm::Error glowish::generateTokens(const CompiledVariants &compiled,
                                    const GivenTensors &given,
                                    std::shared_ptr<const Tensor> constants) {
  GLOWISH_ASSIGN_OR_RETURN(
      Generator generator,
      Generator::create("-generate", compiled, given, std::move(constants)));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> prompt,
                           getPrompt(generator, given));
  GLOWISH_ASSIGN_OR_RETURN(Generator::Calls first, generator.append(prompt));
  std::vector<double> times;
  llvm::outs() << "ids:";
  for (unsigned i = 0; i < generate; ++i) {
    int64_t id = generator.pickNext();
    llvm::outs() << ' ' << id;
    llvm::outs().flush();
    if (i + 1 == generate)
      break;
    GLOWISH_ASSIGN_OR_RETURN(Generator::Calls next, generator.append(id));
    times.push_back(next.seconds);
  }
  llvm::outs() << '\n';
  printPrompt(prompt.size(), first);
  return printDecoding(std::move(times), generator);
}
