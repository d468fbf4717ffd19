//===- Options.cpp - The command line of image-classifier -----------------===//

#include "image-classifier/Options.h"
#include "common/FileList.h"
#include "common/ValueOption.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::imageCategory("Image options");
cl::OptionCategory glowish::answerCategory("Answer options");

//===- Files --------------------------------------------------------------===//

static cl::list<std::string>
    files(cl::Positional,
          cl::desc("<images (PNG, JPEG, PPM, PGM), arrays (.npy, .pb), "
                   "folders of them, or - for names from stdin>"));
static cl::list<std::string>
    folders("input-image-dir",
            cl::desc("Classify all files of a folder that "
                     "are images or arrays by their "
                     "names (may be repeated)"),
            cl::value_desc("folder"), cl::cat(imageCategory));
static cl::list<std::string>
    listFiles("input-image-list-file",
              cl::desc("Classify the files that a file names, one a line"),
              cl::value_desc("file"), cl::cat(imageCategory));

//===- Images -------------------------------------------------------------===//

namespace {
enum class ImageMode { ZeroTo1, ZeroTo255, Neg1To1, Neg128To127 };
enum class ChannelOrder { BGR, RGB };
} // namespace

static ValueOption<ImageMode>
    imageMode("image-mode", cl::desc("What 0 ... 255 of a channel becomes"),
              cl::init(ImageMode::ZeroTo255),
              cl::values(clEnumValN(ImageMode::ZeroTo1, "0to1", "0 ... 1"),
                         clEnumValN(ImageMode::ZeroTo255, "0to255",
                                    "0 ... 255 (default)"),
                         clEnumValN(ImageMode::Neg1To1, "neg1to1", "-1 ... 1"),
                         clEnumValN(ImageMode::Neg128To127, "neg128to127",
                                    "-128 ... 127")),
              cl::cat(imageCategory));
static cl::alias imageModeAlias("i", cl::desc("Alias for -image-mode"),
                                cl::aliasopt(imageMode),
                                cl::cat(imageCategory));
static ValueListOption<double>
    means("mean", cl::CommaSeparated,
          cl::desc("What is subtracted from the 0 ... 255 before that: a "
                   "number, or one each for red, green and blue (default 0)"),
          cl::value_desc("m,..."), cl::cat(imageCategory));
static ValueListOption<double>
    stddevs("stddev", cl::CommaSeparated,
            cl::desc("What it is divided by then (default 1)"),
            cl::value_desc("s,..."), above(0), cl::cat(imageCategory));
static ValueOption<bool> useImagenet(
    "use-imagenet-normalization",
    cl::desc("The means (0.485, 0.456, 0.406) x 255 and standard deviations "
             "0.229, 0.224, 0.225 of ImageNet, for -image-mode=0to1"),
    cl::cat(imageCategory));
static ValueOption<ChannelOrder> channelOrder(
    "image-channel-order",
    cl::desc("Which of the colours is the model's first channel"),
    cl::init(ChannelOrder::BGR),
    cl::values(clEnumValN(ChannelOrder::BGR, "BGR", "Blue (default)"),
               clEnumValN(ChannelOrder::RGB, "RGB", "Red")),
    cl::cat(imageCategory));
static ValueOption<InputLayout> imageLayout(
    "image-layout",
    cl::desc("How the model's input takes images (default: as its shape "
             "tells)"),
    cl::init(InputLayout::Found),
    cl::values(clEnumValN(InputLayout::NonImage, "NonImage",
                          "Not at all: arrays are taken as they are"),
               clEnumValN(InputLayout::NCHW, "NCHW", "Channels first"),
               clEnumValN(InputLayout::NHWC, "NHWC", "Channels last")),
    cl::cat(imageCategory));
static cl::alias imageLayoutAlias("l", cl::desc("Alias for -image-layout"),
                                  cl::aliasopt(imageLayout),
                                  cl::cat(imageCategory));
static ValueOption<ArrayLayout> inputLayout(
    "input-layout",
    cl::desc("How images lie in arrays (default: as their shape tells)"),
    cl::init(ArrayLayout::Found),
    cl::values(clEnumValN(ArrayLayout::AsInput, "AsIs", "As in the input"),
               clEnumValN(ArrayLayout::ChannelsFirst, "NCHW", "Channels first"),
               clEnumValN(ArrayLayout::ChannelsLast, "NHWC", "Channels last")),
    cl::cat(imageCategory));
static ValueOption<ImageFit> imageFit(
    "image-fit", cl::desc("What becomes of images of another size"),
    cl::init(ImageFit::None),
    cl::values(clEnumValN(ImageFit::None, "none", "An error (default)"),
               clEnumValN(ImageFit::Stretch, "stretch",
                          "Scaled, each side by its own factor"),
               clEnumValN(ImageFit::Cover, "cover",
                          "The largest part in the middle with the input's "
                          "proportions is scaled"),
               clEnumValN(ImageFit::Crop, "crop",
                          "The middle is cut out, not scaled")),
    cl::cat(imageCategory));
static ValueOption<unsigned> shorterSide(
    "image-shorter-side",
    cl::desc("Before -image-fit, scale images by one factor to a shorter "
             "side of N pixels"),
    cl::value_desc("N"), cl::init(0), inRange(0u, 1u << 16),
    cl::cat(imageCategory));
static ValueOption<int64_t> minibatch(
    "minibatch",
    cl::desc("Classify N files at a time (default: the model's batch, or 1 "
             "where that is open)"),
    cl::value_desc("N"), cl::init(0), inRange(int64_t(1), int64_t(1) << 20),
    cl::cat(imageCategory));

//===- Answers ------------------------------------------------------------===//

static ValueOption<unsigned> topK("topk",
                                  cl::desc("Print the N most likely classes "
                                           "(default 1)"),
                                  cl::value_desc("N"), cl::init(1), atLeast(1u),
                                  cl::cat(answerCategory));
static ValueOption<bool>
    computeSoftmax("compute-softmax",
                   cl::desc("Take the softmax of the output, for models that "
                            "have none"),
                   cl::cat(answerCategory));
static ValueOption<int64_t>
    labelOffset("label-offset",
                cl::desc("Subtract N from the number of a class (1 for models "
                         "whose class 0 is the background)"),
                cl::value_desc("N"), cl::init(0),
                inRange<int64_t>(INT32_MIN, INT32_MAX),
                cl::cat(answerCategory));
static cl::opt<std::string>
    labelFile("label-file",
              cl::desc("Names of the classes from -label-offset on, one a "
                       "line"),
              cl::value_desc("file"), cl::cat(answerCategory));
static ValueListOption<int64_t> expectedLabels(
    "expected-labels", cl::CommaSeparated,
    cl::desc("The label of each file; exit code 2 if one is not among the "
             "-topk most likely"),
    cl::value_desc("label,..."), cl::cat(answerCategory));
static cl::opt<std::string> outputName("output-name",
                                       cl::desc("Which output has the classes, "
                                                "where there are several"),
                                       cl::value_desc("name"),
                                       cl::cat(answerCategory));

static bool isSampleName(llvm::StringRef path) {
  return isImageName(path) || path.ends_with(".npy") || path.ends_with(".pb");
}

static llvm::Error addFolder(llvm::StringRef folder,
                             std::vector<std::string> &found) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                           listFolder(folder, isSampleName));
  if (names.empty())
    return makeError("'{0}' has no images (.png, .jpg, .jpeg, .ppm, .pgm) "
                     "and no arrays (.npy, .pb)",
                     folder);
  for (const std::string &name : names)
    found.push_back(joinPaths(folder, name));
  return llvm::Error::success();
}

/// The lines of \p path.
static llvm::Expected<std::vector<std::string>>
readLines(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  llvm::StringRef text = buffer->getBuffer();
  std::vector<std::string> lines;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    line.consume_back("\r");
    lines.push_back(line.str());
    text = rest;
  }
  return lines;
}

static llvm::Error findFiles(ClassifierOptions &options) {
  for (const std::string &path : files) {
    if (path == "-")
      options.isStream = true;
    else if (llvm::sys::fs::is_directory(path))
      GLOWISH_RETURN_IF_ERROR(addFolder(path, options.files));
    else
      options.files.push_back(path);
  }
  for (const std::string &folder : folders)
    GLOWISH_RETURN_IF_ERROR(addFolder(folder, options.files));
  for (const std::string &path : listFiles) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> lines, readLines(path));
    for (const std::string &line : lines)
      if (!line.empty())
        options.files.push_back(line);
  }
  if (options.isStream && !options.files.empty())
    return makeError("names of files come from stdin (-), and there is '{0}'; "
                     "accepted: one of the two",
                     options.files.front());
  if (!options.isStream && options.files.empty())
    return makeError("no files; state images, arrays, folders of them, or - "
                     "for names from stdin");
  return llvm::Error::success();
}

static llvm::Error readImageOptions(SampleOptions &options) {
  static constexpr std::pair<double, double> ranges[] = {
      {0, 1}, {0, 255}, {-1, 1}, {-128, 127}};
  std::tie(options.low, options.high) = ranges[unsigned(imageMode.getValue())];
  bool hasOwn = !means.empty() || !stddevs.empty();
  if (useImagenet && (hasOwn || imageMode != ImageMode::ZeroTo1))
    return makeError("-use-imagenet-normalization is for -image-mode=0to1 "
                     "without -mean and -stddev");
  if (useImagenet) {
    options.means = {0.485 * 255, 0.456 * 255, 0.406 * 255};
    options.stddevs = {0.229, 0.224, 0.225};
  }
  if (!means.empty())
    options.means = std::vector<double>(means);
  if (!stddevs.empty())
    options.stddevs = std::vector<double>(stddevs);
  options.isBGR = channelOrder == ChannelOrder::BGR;
  options.fit = imageFit;
  options.shorterSide = shorterSide;
  options.arrayLayout = inputLayout;
  return llvm::Error::success();
}

llvm::Expected<ClassifierOptions> glowish::getClassifierOptions() {
  ClassifierOptions options;
  GLOWISH_RETURN_IF_ERROR(findFiles(options));
  GLOWISH_RETURN_IF_ERROR(readImageOptions(options.samples));
  options.layout = imageLayout;
  options.answers.topK = topK;
  options.answers.softmax = computeSoftmax;
  options.answers.labelOffset = labelOffset;
  if (!labelFile.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(options.answers.labels, readLines(labelFile));
  }
  options.expected = std::vector<int64_t>(expectedLabels);
  if (!options.isStream && !options.expected.empty() &&
      options.expected.size() != options.files.size())
    return makeError("-expected-labels has {0} labels for {1} files",
                     options.expected.size(), options.files.size());
  if (minibatch.getNumOccurrences())
    options.batchSize = minibatch;
  options.output = outputName;
  return options;
}
