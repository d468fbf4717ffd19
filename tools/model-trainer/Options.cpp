//===- Options.cpp - The command line of model-trainer --------------------===//

#include "model-trainer/Options.h"
#include "common/ValueOption.h"
#include "glowish/Support/Error.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::dataCategory("Data options");
cl::OptionCategory glowish::resultCategory("Result options");

static ValueOption<double>
    learningRate("learning-rate", cl::desc("Learning rate (default 0.01)"),
                 cl::value_desc("R"), cl::init(0.01), atLeast(0.0),
                 cl::cat(trainingCategory));
static ValueOption<double> learningRateDecay(
    "learning-rate-decay",
    cl::desc("Factor of the learning rate after each epoch (default 1)"),
    cl::value_desc("F"), cl::init(1), above(0), cl::cat(trainingCategory));
static ValueOption<int64_t>
    batchSize("batch-size", cl::desc("Samples of a step (default 32)"),
              cl::value_desc("N"), cl::init(32), atLeast(int64_t(1)),
              cl::cat(trainingCategory));
static ValueOption<uint64_t>
    numEpochs("epochs",
              cl::desc("Times that all samples are "
                       "learned from (default 1); with 0, the "
                       "model is only validated"),
              cl::value_desc("N"), cl::init(1), cl::cat(trainingCategory));
static ValueOption<uint64_t> numSteps("steps",
                                      cl::desc("At most so many steps"),
                                      cl::value_desc("N"), cl::init(0),
                                      cl::cat(trainingCategory));
static cl::opt<std::string>
    initializer("initialize",
                cl::desc("What weights begin with: keep (default), what the "
                         "model has; xavier or kaiming, random numbers, and "
                         "biases 0"),
                cl::value_desc("kind"), cl::init("keep"),
                cl::cat(trainingCategory));

static cl::opt<std::string>
    dataFolder("data",
               cl::desc("Where the samples are: a folder with NAME.npy for "
                        "each input and the label, or with a folder of PNG "
                        "and JPEG images for each class"),
               cl::value_desc("folder"), cl::cat(dataCategory));
static cl::opt<std::string> validation(
    "validation",
    cl::desc("Samples to measure on, not to learn from: a folder like -data's, "
             "or a share of those of -data, as in 0.1"),
    cl::value_desc("folder|share"), cl::cat(dataCategory));
static ValueOption<bool>
    shuffle("shuffle",
            cl::desc("Another order of the samples in each "
                     "epoch (default true)"),
            cl::init(true), cl::cat(dataCategory));

static ValueListOption<double>
    imageMeans("image-mean", cl::CommaSeparated,
               cl::desc("What is subtracted from the 0 ... 255 of a channel of "
                        "a pixel: a number, or one for each channel (default "
                        "0)"),
               cl::value_desc("m,..."), cl::cat(dataCategory));
static ValueOption<double>
    imageScale("image-scale",
               cl::desc("What it is multiplied with then (default 1/255)"),
               cl::value_desc("S"), cl::init(1.0 / 255), cl::cat(dataCategory));

static cl::opt<std::string> savePath("save",
                                     cl::desc("Write the trained model"),
                                     cl::value_desc("file.onnx"),
                                     cl::cat(resultCategory));
static cl::opt<std::string>
    lossLogPath("loss-log", cl::desc("Write the loss of every step as CSV"),
                cl::value_desc("file"), cl::cat(resultCategory));

static ValueOption<bool>
    saveEveryEpoch("save-every-epoch",
                   cl::desc("Write it after each epoch, too"),
                   cl::cat(resultCategory));
static cl::opt<std::string>
    lossCurvePath("loss-curve",
                  cl::desc("Draw loss and accuracy of all epochs"),
                  cl::value_desc("file.svg"), cl::cat(resultCategory));
static cl::opt<std::string>
    checkpointPath("checkpoint",
                   cl::desc("Write all that the training goes on from after "
                            "each epoch"),
                   cl::value_desc("file"), cl::cat(resultCategory));
static cl::opt<std::string>
    resumePath("resume",
               cl::desc("Go on from a checkpoint; -epochs and -steps count "
                        "from the beginning"),
               cl::value_desc("file"), cl::cat(resultCategory));

static ValueOption<uint64_t>
    bucketBytes("bucket-bytes",
                cl::desc("With mpirun: about so many bytes of gradients are "
                         "averaged at a time (default 1048576)"),
                cl::value_desc("N"), cl::init(TrainingProcesses().bucketBytes),
                atLeast(uint64_t(1)), cl::cat(trainingCategory));
static ValueOption<bool> communicationReport(
    "communication-report",
    cl::desc("With mpirun: print at the end what the processes have sent each "
             "other, and how long they have waited for it"),
    cl::cat(resultCategory));

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

llvm::Expected<TrainerOptions>
glowish::getTrainerOptions(TrainingConfig config) {
  TrainerOptions options;
  options.config = std::move(config);
  // With a number of steps alone, they take as many epochs as they need.
  uint64_t epochs =
      numSteps && !numEpochs.getNumOccurrences() ? numSteps : numEpochs;
  options.loop = {batchSize,           epochs,  numSteps,
                  options.config.seed, shuffle, learningRate,
                  learningRateDecay};
  std::optional<InitializerKind> initial = parseInitializer(initializer);
  if (!initial)
    return makeError("-initialize={0}: accepted: keep, xavier, kaiming",
                     initializer);
  options.initializer = *initial;
  if (dataFolder.empty())
    return makeError("no data; state a folder with -data=FOLDER");
  options.data = dataFolder;
  if (!imageMeans.empty())
    options.images.means = std::vector<double>(imageMeans);
  options.images.scale = imageScale;
  if (!validation.empty())
    GLOWISH_RETURN_IF_ERROR(readValidation(options));
  options.savePath = savePath;
  options.lossLogPath = lossLogPath;
  options.lossCurvePath = lossCurvePath;
  options.saveEveryEpoch = saveEveryEpoch;
  options.checkpointPath = checkpointPath;
  options.resumePath = resumePath;
  options.config.processes.bucketBytes = bucketBytes;
  options.reportsCommunication = communicationReport;
  if (saveEveryEpoch && savePath.empty())
    return makeError("-save-every-epoch needs -save=FILE");
  return options;
}
