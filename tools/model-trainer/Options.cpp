//===- Options.cpp - The command line of model-trainer --------------------===//

#include "model-trainer/Options.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/Regex.h"
#include <cmath>

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::trainingCategory("Training options");
cl::OptionCategory glowish::dataCategory("Data options");
cl::OptionCategory glowish::resultCategory("Result options");

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
static cl::opt<std::string> solverName(
    "solver", cl::desc("sgd (default), adam, adamw, rmsprop or adagrad"),
    cl::value_desc("kind"), cl::init("sgd"), cl::cat(trainingCategory));
static cl::opt<double> learningRate("learning-rate",
                                    cl::desc("Learning rate (default 0.01)"),
                                    cl::value_desc("R"), cl::init(0.01),
                                    cl::cat(trainingCategory));
static cl::opt<double> learningRateDecay(
    "learning-rate-decay",
    cl::desc("Factor of the learning rate after each epoch (default 1)"),
    cl::value_desc("F"), cl::init(1), cl::cat(trainingCategory));
static cl::opt<double> momentum("momentum",
                                cl::desc("Of sgd and rmsprop (default 0)"),
                                cl::value_desc("M"), cl::init(0),
                                cl::cat(trainingCategory));
static cl::opt<bool> nesterov("nesterov",
                              cl::desc("Nesterov's form of the momentum"),
                              cl::cat(trainingCategory));
static cl::opt<double> l1("l1", cl::desc("L1 decay (default 0)"),
                          cl::value_desc("D"), cl::init(0),
                          cl::cat(trainingCategory));
static cl::opt<double> l2("l2",
                          cl::desc("L2 decay; of adamw, its weight decay "
                                   "(default 0)"),
                          cl::value_desc("D"), cl::init(0),
                          cl::cat(trainingCategory));
static cl::opt<double> beta1("beta1",
                             cl::desc("Of adam and adamw (default 0.9)"),
                             cl::value_desc("B"), cl::init(0.9),
                             cl::cat(trainingCategory));
static cl::opt<double> beta2("beta2",
                             cl::desc("Of adam and adamw (default 0.999)"),
                             cl::value_desc("B"), cl::init(0.999),
                             cl::cat(trainingCategory));
static cl::opt<double> decayRate("decay-rate",
                                 cl::desc("Of rmsprop (default 0.99)"),
                                 cl::value_desc("D"), cl::init(0.99),
                                 cl::cat(trainingCategory));
static cl::opt<double> epsilon("epsilon",
                               cl::desc("Of all solvers but sgd (default "
                                        "1e-8; of adagrad, 1e-10)"),
                               cl::value_desc("E"), cl::init(0),
                               cl::cat(trainingCategory));
static cl::opt<double>
    clipNorm("clip-norm",
             cl::desc("Scale gradients down to this norm of all of them"),
             cl::value_desc("N"), cl::init(0), cl::cat(trainingCategory));
static cl::opt<int64_t> batchSize("batch-size",
                                  cl::desc("Samples of a step (default 32)"),
                                  cl::value_desc("N"), cl::init(32),
                                  cl::cat(trainingCategory));
static cl::opt<uint64_t> numEpochs("epochs",
                                   cl::desc("Times that all samples are "
                                            "learned from (default 1)"),
                                   cl::value_desc("N"), cl::init(1),
                                   cl::cat(trainingCategory));
static cl::opt<uint64_t> numSteps("steps", cl::desc("At most so many steps"),
                                  cl::value_desc("N"), cl::init(0),
                                  cl::cat(trainingCategory));
static cl::opt<uint64_t> seed("seed",
                              cl::desc("Of all that is random (default 0)"),
                              cl::value_desc("N"), cl::init(0),
                              cl::cat(trainingCategory));
static cl::opt<std::string>
    frozen("frozen",
           cl::desc("Weights whose names have a match of this are kept"),
           cl::value_desc("regex"), cl::cat(trainingCategory));

static cl::opt<std::string>
    dataFolder("data",
               cl::desc("Where the samples are: a folder with NAME.npy for "
                        "each input and the label, or with a folder of PNG "
                        "and JPEG pictures for each class"),
               cl::value_desc("folder"), cl::cat(dataCategory));
static cl::opt<std::string> validation(
    "validation",
    cl::desc("Samples to measure on, not to learn from: a folder like -data's, "
             "or a share of those of -data, as in 0.1"),
    cl::value_desc("folder|share"), cl::cat(dataCategory));
static cl::opt<std::string>
    labelName("label", cl::desc("Name of the label (default label)"),
              cl::value_desc("name"), cl::init("label"), cl::cat(dataCategory));
static cl::opt<bool> shuffle("shuffle",
                             cl::desc("Another order of the samples in each "
                                      "epoch (default true)"),
                             cl::init(true), cl::cat(dataCategory));

static cl::opt<std::string> savePath("save",
                                     cl::desc("Write the trained model"),
                                     cl::value_desc("file.onnx"),
                                     cl::cat(resultCategory));
static cl::opt<std::string>
    lossLogPath("loss-log", cl::desc("Write the loss of every step as CSV"),
                cl::value_desc("file"), cl::cat(resultCategory));

/// Refuses \p value unless it is a number of at least \p low (more than it if
/// \p isOpen), below \p high.
static llvm::Error checkRange(const cl::opt<double> &option, double low,
                              bool isOpen, double high) {
  double value = option;
  if ((isOpen ? value > low : value >= low) && value < high)
    return llvm::Error::success();
  std::string end = high == HUGE_VAL ? "" : llvm::formatv(", below {0}", high).str();
  return makeError("-{0}={1}: accepted: {2} {3}{4}", option.ArgStr, value,
                   isOpen ? "more than" : "at least", low, end);
}

static llvm::Error checkNumbers() {
  for (const cl::opt<double> *option : {&learningRate, &l1, &l2, &clipNorm})
    GLOWISH_CHECK(checkRange(*option, 0, /*isOpen=*/false, HUGE_VAL));
  for (const cl::opt<double> *option : {&momentum, &beta1, &beta2, &decayRate})
    GLOWISH_CHECK(checkRange(*option, 0, /*isOpen=*/false, 1));
  GLOWISH_CHECK(checkRange(learningRateDecay, 0, /*isOpen=*/true, HUGE_VAL));
  if (epsilon.getNumOccurrences())
    GLOWISH_CHECK(checkRange(epsilon, 0, /*isOpen=*/true, HUGE_VAL));
  if (batchSize < 1)
    return makeError("-batch-size={0}: accepted: at least 1",
                     batchSize.getValue());
  return llvm::Error::success();
}

static llvm::Error readConfig(TrainingConfig &config) {
  std::optional<LossKind> loss = parseLoss(lossName);
  if (!loss)
    return makeError("-loss={0}: the losses are softmax-cross-entropy, "
                     "binary-cross-entropy, mean-squared-error, l1, huber",
                     lossName);
  std::optional<SolverKind> solver = parseSolver(solverName);
  if (!solver)
    return makeError("-solver={0}: the solvers are sgd, adam, adamw, rmsprop, "
                     "adagrad",
                     solverName);
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
    return llvm::Error::success();
  auto regex = std::make_shared<llvm::Regex>(frozen);
  std::string problem;
  if (!regex->isValid(problem))
    return makeError("-frozen={0}: {1}", frozen, problem);
  config.isTrained = [regex](llvm::StringRef name) {
    return !regex->match(name);
  };
  return llvm::Error::success();
}

/// -validation: a share is a number, whatever else is a folder.
static llvm::Error readValidation(TrainerOptions &options) {
  double share = 0;
  if (llvm::StringRef(validation).getAsDouble(share)) {
    options.validation = validation;
    return llvm::Error::success();
  }
  if (!(share > 0 && share < 1))
    return makeError("-validation={0}: accepted: a folder, or a share between "
                     "0 and 1",
                     validation);
  options.validationShare = share;
  return llvm::Error::success();
}

llvm::Expected<TrainerOptions> glowish::getTrainerOptions() {
  GLOWISH_CHECK(checkNumbers());
  TrainerOptions options;
  GLOWISH_CHECK(readConfig(options.config));
  // With a number of steps alone, they take as many epochs as they need.
  uint64_t epochs =
      numSteps && !numEpochs.getNumOccurrences() ? numSteps : numEpochs;
  options.loop = {batchSize, epochs,       numSteps,         seed,
                  shuffle,   learningRate, learningRateDecay};
  if (dataFolder.empty())
    return makeError("no data; state a folder with -data=FOLDER");
  options.data = dataFolder;
  if (!validation.empty())
    GLOWISH_CHECK(readValidation(options));
  options.savePath = savePath;
  options.lossLogPath = lossLogPath;
  return options;
}
