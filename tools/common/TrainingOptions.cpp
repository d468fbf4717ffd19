//===- TrainingOptions.cpp - How a model is trained -----------------------===//

#include "common/TrainingOptions.h"
#include "common/ValueOption.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::trainingCategory("Training options");

static cl::opt<std::string>
    lossName("loss",
             cl::desc("softmax-cross-entropy (default), binary-cross-entropy, "
                      "mean-squared-error, l1 or huber"),
             cl::value_desc("kind"), cl::init("softmax-cross-entropy"),
             cl::cat(trainingCategory));
static cl::opt<std::string>
    outputName("output",
               cl::desc("The output that the labels are compared with "
                        "(default: the first)"),
               cl::value_desc("name"), cl::cat(trainingCategory));
static cl::opt<std::string>
    labelName("label", cl::desc("Name of the label (default label)"),
              cl::value_desc("name"), cl::init("label"),
              cl::cat(trainingCategory));
static cl::opt<std::string> solverName(
    "solver", cl::desc("sgd (default), adam, adamw, rmsprop or adagrad"),
    cl::value_desc("kind"), cl::init("sgd"), cl::cat(trainingCategory));
static ValueOption<double> momentum("momentum",
                                    cl::desc("Of sgd and rmsprop (default 0)"),
                                    cl::value_desc("M"), cl::init(0),
                                    atLeastAndBelow(0, 1),
                                    cl::cat(trainingCategory));
static ValueOption<bool> nesterov("nesterov",
                                  cl::desc("Nesterov's form of the momentum"),
                                  cl::cat(trainingCategory));
static ValueOption<double> l1("l1", cl::desc("L1 decay (default 0)"),
                              cl::value_desc("D"), cl::init(0), atLeast(0.0),
                              cl::cat(trainingCategory));
static ValueOption<double> l2("l2",
                              cl::desc("L2 decay; of adamw, its weight decay "
                                       "(default 0)"),
                              cl::value_desc("D"), cl::init(0), atLeast(0.0),
                              cl::cat(trainingCategory));
static ValueOption<double> beta1("beta1",
                                 cl::desc("Of adam and adamw (default 0.9)"),
                                 cl::value_desc("B"), cl::init(0.9),
                                 atLeastAndBelow(0, 1),
                                 cl::cat(trainingCategory));
static ValueOption<double> beta2("beta2",
                                 cl::desc("Of adam and adamw (default 0.999)"),
                                 cl::value_desc("B"), cl::init(0.999),
                                 atLeastAndBelow(0, 1),
                                 cl::cat(trainingCategory));
static ValueOption<double> decayRate("decay-rate",
                                     cl::desc("Of rmsprop (default 0.99)"),
                                     cl::value_desc("D"), cl::init(0.99),
                                     atLeastAndBelow(0, 1),
                                     cl::cat(trainingCategory));
static ValueOption<double> epsilon("epsilon",
                                   cl::desc("Of all solvers but sgd (default "
                                            "1e-8; of adagrad, 1e-10)"),
                                   cl::value_desc("E"), cl::init(0), above(0),
                                   cl::cat(trainingCategory));
static ValueOption<double> clipNorm(
    "clip-norm", cl::desc("Scale gradients down to this norm of all of them"),
    cl::value_desc("N"), cl::init(0), atLeast(0.0), cl::cat(trainingCategory));
static ValueOption<uint64_t> seed("seed",
                                  cl::desc("Of all that is random (default 0)"),
                                  cl::value_desc("N"), cl::init(0),
                                  cl::cat(trainingCategory));
static ValueOption<bool> rematerialize(
    "rematerialize",
    cl::desc("Need less memory: compute again in the backward pass what "
             "takes little time, instead of keeping it"),
    cl::cat(trainingCategory));
static ValueOption<unsigned> rematerializeSegments(
    "rematerialize-segments",
    cl::desc(
        "Need still less: -rematerialize, and keep only what goes from one "
        "of N parts of the forward pass to the next"),
    cl::value_desc("N"), cl::init(0), atLeast(2u), cl::cat(trainingCategory));
static cl::alias recompute("recompute", cl::desc("Old name of -rematerialize"),
                           cl::aliasopt(rematerialize), cl::Hidden);
static cl::alias recomputeSegments("recompute-segments",
                                   cl::desc("Old name of "
                                            "-rematerialize-segments"),
                                   cl::aliasopt(rematerializeSegments),
                                   cl::Hidden);
static cl::opt<std::string>
    frozen("frozen",
           cl::desc("Weights whose names have a match of this are kept"),
           cl::value_desc("regex"), cl::cat(trainingCategory));

RematerializationConfig glowish::getRematerialization() {
  return {rematerialize || rematerializeSegments, rematerializeSegments};
}

llvm::Expected<TrainingConfig> glowish::getTrainingConfig() {
  TrainingConfig config;
  std::optional<LossKind> loss = parseLoss(lossName);
  if (!loss)
    return makeError("-loss={0}: the losses are {1}", lossName,
                     llvm::join(getLossNames(), ", "));
  std::optional<SolverKind> solver = parseSolver(solverName);
  if (!solver)
    return makeError("-solver={0}: the solvers are {1}", solverName,
                     llvm::join(getSolverNames(), ", "));
  config.loss = *loss;
  config.output = outputName;
  config.label = labelName;
  config.solver = {*solver, momentum, nesterov,  l1,          l2,
                   beta1,   beta2,    decayRate, std::nullopt};
  if (epsilon.getNumOccurrences())
    config.solver.epsilon = epsilon;
  config.clipNorm = clipNorm;
  config.seed = seed;
  if (frozen.empty())
    return config;
  auto regex = std::make_shared<llvm::Regex>(frozen);
  std::string problem;
  if (!regex->isValid(problem))
    return makeError("-frozen={0}: {1}", frozen, problem);
  config.isTrained = [regex](llvm::StringRef name) {
    return !regex->match(name);
  };
  return config;
}
