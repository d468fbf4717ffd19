//===- QuantizationFlags.cpp - Flags of the quantizer ---------------------===//

#include "common/QuantizationFlags.h"
#include "common/ValueOption.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::quantizationCategory("Quantization options");

static cl::opt<std::string>
    loadProfile("load-profile",
                cl::desc("Quantize the model by the ranges of this file, which "
                         "-dump-profile of model-runner or image-classifier "
                         "has written"),
                cl::value_desc("file"), cl::cat(quantizationCategory));
static ValueOption<bool> isDynamic(
    "quantize-dynamic",
    cl::desc("Quantize what matmuls with constant weights read by its range in "
             "each run; no profile is needed"),
    cl::cat(quantizationCategory));
static ValueOption<QuantizationSchema> schema(
    "quantization-schema", cl::desc("How ranges become scales and zero points"),
    cl::init(QuantizationSchema::Asymmetric),
    cl::values(
        clEnumValN(QuantizationSchema::Asymmetric, "asymmetric",
                   "All numbers of uint8 (default)"),
        clEnumValN(QuantizationSchema::Symmetric, "symmetric",
                   "int8 with the zero point 0"),
        clEnumValN(QuantizationSchema::SymmetricWithUInt8,
                   "symmetric_with_uint8",
                   "The zero point is 0, or the least integer where no value "
                   "is negative"),
        clEnumValN(QuantizationSchema::SymmetricWithPower2Scale,
                   "symmetric_with_power2_scale",
                   "The zero point is 0, and scales are powers of two")),
    cl::cat(quantizationCategory));
static ValueOption<QuantizationCalibration> calibration(
    "quantization-calibration", cl::desc("How ranges are narrowed"),
    cl::init(QuantizationCalibration::None),
    cl::values(clEnumValN(QuantizationCalibration::None, "none",
                          "Not at all (default)"),
               clEnumValN(QuantizationCalibration::KL, "KL",
                          "To the least Kullback-Leibler divergence"),
               clEnumValN(QuantizationCalibration::Percentile, "percentile",
                          "Without the outermost 0.01% of the values"),
               clEnumValN(QuantizationCalibration::MeanSquare, "mse",
                          "To the least mean square error")),
    cl::cat(quantizationCategory));
static ValueOption<bool>
    calibrateConstants("calibrate-constants",
                       cl::desc("Narrow the ranges of weights, too"),
                       cl::cat(quantizationCategory));
static ValueOption<bool>
    channelwise("enable-channelwise",
                cl::desc("A scale for each output channel of convolutions "
                         "(default: true)"),
                cl::init(true), cl::cat(quantizationCategory));
static ValueOption<bool>
    rowwise("enable-rowwise",
            cl::desc("A scale for each output of matmuls and fully connected "
                     "layers (default: true)"),
            cl::init(true), cl::cat(quantizationCategory));
static ValueOption<bool> equalizesChannels(
    "equalize-channels",
    cl::desc("Divide the channels in front of depthwise convolutions by their "
             "ranges, and multiply the weights by them"),
    cl::cat(quantizationCategory));
static ValueOption<bool> correctsBiases(
    "bias-correction",
    cl::desc("Biases take back what rounding the weights adds to the mean of "
             "the sums"),
    cl::cat(quantizationCategory));
static cl::list<std::string>
    keptKinds("keep-original-precision-for-nodes", cl::CommaSeparated,
              cl::desc("Kinds of nodes that stay float, of those that "
                       "the flags below and -load-profile would change"),
              cl::value_desc("kind,..."), cl::cat(quantizationCategory));
static cl::list<std::string> wholeKinds(
    "do-not-lower-nodes-for-profiling", cl::CommaSeparated,
    cl::desc("Accepted, as by Glow: profiles are of whole nodes in any case"),
    cl::value_desc("kind,..."), cl::cat(quantizationCategory));
static ValueOption<bool> assertsAll(
    "assert-all-nodes-quantized",
    cl::desc("A node that could be quantized and is not is an error"),
    cl::cat(quantizationCategory));
static cl::opt<std::string>
    precision("quantization-precision",
              cl::desc("Type of quantized values: Int8"), cl::init("Int8"),
              cl::value_desc("type"), cl::cat(quantizationCategory));
static cl::opt<std::string> biasPrecision(
    "quantization-precision-bias", cl::desc("Type of quantized biases: Int32"),
    cl::init("Int32"), cl::value_desc("type"), cl::cat(quantizationCategory));

static ValueOption<bool>
    convertToHalf("convert-to-fp16",
                  cl::desc("Compute in a half precision what the model "
                           "computes in float"),
                  cl::cat(quantizationCategory));
static ValueOption<ElemKind>
    halfFormat("fp16-format",
               cl::desc("The half precision of -convert-to-fp16"),
               cl::init(ElemKind::Float16),
               cl::values(clEnumValN(ElemKind::Float16, "fp16",
                                     "IEEE 754 binary16, float16 (default)"),
                          clEnumValN(ElemKind::BFloat16, "bfloat16",
                                     "The upper half of a float")),
               cl::cat(quantizationCategory));
static cl::ValuesClass weightKinds() {
  return cl::values(clEnumValN(ElemKind::Int8, "int8", "Symmetric around 0"),
                    clEnumValN(ElemKind::UInt8, "uint8", "With zero points"),
                    clEnumValN(ElemKind::Int4, "int4", "Symmetric around 0"),
                    clEnumValN(ElemKind::UInt4, "uint4", "With zero points"));
}
static ValueOption<ElemKind> weightKind(
    "quantize-weights",
    cl::desc("Quantize the weights of matmuls, and multiply floats with them; "
             "needs no profile"),
    weightKinds(), cl::cat(quantizationCategory));
static ValueOption<ElemKind> embeddingKind(
    "quantize-embeddings",
    cl::desc("Quantize the tables whose rows Gather chooses; the chosen rows "
             "become floats in each run"),
    weightKinds(), cl::cat(quantizationCategory));
enum class ActivationKind { Float, Int8 };
static ValueOption<ActivationKind> activations(
    "activations",
    cl::desc("What is multiplied with quantized weights where activations are "
             "float"),
    cl::init(ActivationKind::Float),
    cl::values(clEnumValN(ActivationKind::Float, "float",
                          "The activations as they are (default)"),
               clEnumValN(ActivationKind::Int8, "int8",
                          "Integers; each block of a row has a scale, by its "
                          "largest magnitude: faster, and less exact")),
    cl::cat(quantizationCategory));
static ValueOption<unsigned> weightBlock(
    "weights-block",
    cl::desc("Weights of a column that share a scale in -quantize-weights, and "
             "of a row in -quantize-embeddings; 0 for all of them (default: 32 "
             "of 4 bits, all of 8 bits)"),
    cl::value_desc("N"), cl::cat(quantizationCategory));
static ValueOption<bool> searchesScales(
    "weights-search",
    cl::desc("Search the scales of -quantize-weights and -quantize-embeddings "
             "that have the least squared error (default: true)"),
    cl::init(true), cl::cat(quantizationCategory));

/// An error if one of the flags is given that need -load-profile. Switches that
/// are off ask for nothing.
static llvm::Error checkNoFlags() {
  std::reference_wrapper<const cl::Option> flags[] = {schema, calibration,
                                                      precision, biasPrecision};
  std::vector<const ValueOption<bool> *> switches = {
      &calibrateConstants, &channelwise, &equalizesChannels, &correctsBiases,
      &assertsAll};
  if (!isDynamic)
    switches.push_back(&rowwise);
  auto refuse = [](const cl::Option &option) {
    return makeError("-{0} has no effect without a profile; accepted: with "
                     "-load-profile=FILE",
                     option.ArgStr);
  };
  for (const cl::Option &flag : flags)
    if (flag.getNumOccurrences())
      return refuse(flag);
  for (const ValueOption<bool> *flag : switches)
    if (flag->getNumOccurrences() && flag->getValue())
      return refuse(*flag);
  return llvm::Error::success();
}

static llvm::Error readKeptKinds(std::set<NodeKind> &kinds) {
  for (const std::string &name : keptKinds) {
    std::optional<NodeKind> kind = findNodeKind(name);
    if (!kind) {
      std::vector<llvm::StringRef> names;
      for (NodeKind each : getQuantizableKinds())
        names.push_back(getNodeInfo(each).name);
      llvm::sort(names);
      return makeError("-keep-original-precision-for-nodes={0}: there is no "
                       "such kind of nodes; those that are quantized are {1}",
                       name, llvm::join(names, ", "));
    }
    kinds.insert(*kind);
  }
  return llvm::Error::success();
}

/// An error if flags contradict each other, or have no effect.
static llvm::Error checkFlags() {
  bool hasWeights = weightKind.getNumOccurrences();
  bool hasEmbeddings = embeddingKind.getNumOccurrences();
  if (precision != "Int8")
    return makeError("-quantization-precision={0}: convolutions and matmuls "
                     "of such integers are not supported; accepted: Int8",
                     precision.getValue());
  if (biasPrecision != "Int32")
    return makeError("-quantization-precision-bias={0}: biases start sums of "
                     "int32; accepted: Int32",
                     biasPrecision.getValue());
  if (isDynamic && !loadProfile.empty())
    return makeError("-quantize-dynamic and -load-profile; state one of them");
  if (hasWeights && convertToHalf)
    return makeError("-quantize-weights and -convert-to-fp16; state one of "
                     "them");
  if (hasEmbeddings && convertToHalf)
    return makeError("-quantize-embeddings and -convert-to-fp16; state one of "
                     "them");
  for (const cl::Option *option :
       std::initializer_list<const cl::Option *>{&weightBlock, &searchesScales})
    if (option->getNumOccurrences() && !hasWeights && !hasEmbeddings)
      return makeError("-{0} has no effect without -quantize-weights or "
                       "-quantize-embeddings; accepted: with one of them",
                       option->ArgStr);
  if (loadProfile.empty())
    GLOWISH_RETURN_IF_ERROR(checkNoFlags());
  if (keptKinds.getNumOccurrences() && loadProfile.empty() && !isDynamic &&
      !hasWeights && !hasEmbeddings && !convertToHalf)
    return makeError("-{0} has no effect where nothing is converted; accepted: "
                     "with -load-profile=FILE, -quantize-dynamic, "
                     "-quantize-weights, -quantize-embeddings or "
                     "-convert-to-fp16",
                     keptKinds.ArgStr);
  return llvm::Error::success();
}

/// What \p kind, -weights-block and -weights-search say; nullopt if \p kind is
/// not given.
static std::optional<WeightQuantization>
getWeightQuantization(const ValueOption<ElemKind> &kind) {
  if (!kind.getNumOccurrences())
    return std::nullopt;
  int64_t block = getElemBits(kind) == 4 ? 32 : 0;
  if (weightBlock.getNumOccurrences())
    block = weightBlock;
  return WeightQuantization{
      .kind = kind, .block = block, .searches = searchesScales};
}

llvm::Expected<std::shared_ptr<const QuantizationOptions>>
glowish::getQuantizationOptions() {
  GLOWISH_RETURN_IF_ERROR(checkFlags());
  auto options = std::make_shared<QuantizationOptions>();
  options->isDynamic = isDynamic;
  options->weights = getWeightQuantization(weightKind);
  options->embeddings = getWeightQuantization(embeddingKind);
  if (loadProfile.empty() && !isDynamic && !options->weights &&
      !options->embeddings)
    return nullptr;
  QuantizationConfig &config = options->config;
  config.schema = schema;
  config.calibration = calibration;
  config.calibratesConstants = calibrateConstants;
  config.isChannelwise = channelwise;
  config.isRowwise = rowwise;
  config.assertsAll = assertsAll;
  config.equalizesChannels = equalizesChannels;
  config.correctsBiases = correctsBiases;
  GLOWISH_RETURN_IF_ERROR(readKeptKinds(config.keptKinds));
  if (loadProfile.empty())
    return options;
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(loadProfile));
  llvm::Expected<RangeProfile> profile = readRangeProfile(file->getBuffer());
  if (!profile)
    return addContext(profile.takeError(),
                      "-load-profile=" + loadProfile + ": ");
  options->profile = std::move(*profile);
  return options;
}

bool glowish::quantizesActivations() {
  return activations == ActivationKind::Int8;
}

llvm::Expected<std::optional<PrecisionConfig>> glowish::getPrecisionConfig() {
  if (!convertToHalf) {
    if (halfFormat.getNumOccurrences())
      return makeError("-fp16-format has no effect where floats stay float; "
                       "accepted: with -convert-to-fp16");
    return std::nullopt;
  }
  PrecisionConfig config;
  config.kind = halfFormat;
  GLOWISH_RETURN_IF_ERROR(readKeptKinds(config.keptKinds));
  return config;
}

llvm::StringRef glowish::getPrecisionFlag(const CompilationOptions &options) {
  if (const auto &quantization = options.quantization)
    return quantization->profile     ? "load-profile"
           : quantization->isDynamic ? "quantize-dynamic"
           : quantization->weights   ? "quantize-weights"
                                     : "quantize-embeddings";
  return options.precision ? "convert-to-fp16" : "";
}
