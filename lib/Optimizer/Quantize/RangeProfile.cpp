//===- RangeProfile.cpp - The ranges of a model's values ------------------===//

#include "glowish/Optimizer/RangeProfile.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"
#include <set>

using namespace glowish;

std::string glowish::getProfileName(NodeValue value) {
  std::string name = value.node->getName().str();
  return value.result ? name + ":" + std::to_string(value.result) : name;
}

uint64_t glowish::getProfileChecksum(const Function &function) {
  Checksum64 checksum;
  auto add = [&](llvm::StringRef text) {
    checksum.add({text.bytes_begin(), text.size()});
    checksum.add(uint8_t(0));
  };
  for (const Node &node : function.getNodes()) {
    add(node.getName());
    add(node.getKindName());
    for (unsigned i = 0; i < node.getNumOperands(); ++i)
      add(node.getOperand(i) ? getProfileName(node.getOperand(i)) : "");
  }
  for (const Node &node : function.getModule().getConstants())
    if (node.getType().getKind() == ElemKind::Float) {
      add(node.getName());
      checksum.add(llvm::cast<Constant>(node).getTensor().getByteRange());
    }
  return checksum.finish();
}

//===- Text ---------------------------------------------------------------===//

namespace {

/// A float with all its digits; YAML's own numbers have six.
struct ExactFloat {
  double value = 0;
};

/// A value as it stands in the text.
struct ValueText {
  std::string name;
  ExactFloat min, max;
  int exponent = 0;
  std::vector<uint64_t> counts;
  std::vector<ExactFloat> minima, maxima, means;
};

struct ProfileText {
  unsigned version = 0;
  std::string model;
  llvm::yaml::Hex64 checksum;
  unsigned maxBins = 0;
  std::vector<ValueText> values;
  std::vector<std::string> floatNodes;
};

} // namespace

LLVM_YAML_IS_SEQUENCE_VECTOR(ValueText)
LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(ExactFloat)

namespace llvm::yaml {

template <> struct ScalarTraits<ExactFloat> {
  static void output(const ExactFloat &number, void *, raw_ostream &os) {
    os << llvm::format("%.9g", number.value);
  }
  static StringRef input(StringRef text, void *, ExactFloat &number) {
    // What has more digits, or is beyond floats, was not written by a profiler:
    // it is what a float makes of it from the beginning.
    float value = 0;
    bool isNumber = llvm::to_float(text, value);
    number.value = value;
    return isNumber ? "" : "this is no number";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<ValueText> {
  static void mapping(IO &io, ValueText &value) {
    io.mapRequired("name", value.name);
    io.mapRequired("min", value.min);
    io.mapRequired("max", value.max);
    io.mapRequired("bin-exponent", value.exponent);
    io.mapRequired("counts", value.counts);
    io.mapOptional("channel-minima", value.minima);
    io.mapOptional("channel-maxima", value.maxima);
    io.mapOptional("channel-means", value.means);
  }
};

template <> struct MappingTraits<ProfileText> {
  static void mapping(IO &io, ProfileText &profile) {
    io.mapRequired("version", profile.version);
    // What another version has is not known.
    if (profile.version != RangeProfile::version)
      return;
    io.mapRequired("model", profile.model);
    io.mapRequired("checksum", profile.checksum);
    io.mapRequired("max-bins", profile.maxBins);
    // Profiles of runs have none.
    io.mapOptional("float-nodes", profile.floatNodes);
    io.mapRequired("values", profile.values);
  }
};

} // namespace llvm::yaml

static std::vector<ExactFloat> toText(llvm::ArrayRef<float> numbers) {
  std::vector<ExactFloat> text;
  for (float number : numbers)
    text.push_back({number});
  return text;
}

static std::vector<float> fromText(llvm::ArrayRef<ExactFloat> text) {
  std::vector<float> numbers;
  for (const ExactFloat &number : text)
    numbers.push_back(float(number.value));
  return numbers;
}

std::string glowish::writeRangeProfile(const RangeProfile &profile) {
  ProfileText text;
  text.version = RangeProfile::version;
  text.model = profile.model;
  text.checksum = profile.checksum;
  text.maxBins = Histogram::defaultNumBins;
  for (const auto &[name, histogram] : profile.values) {
    text.maxBins = histogram.getMaxBins();
    text.values.push_back({name,
                           {histogram.getMin()},
                           {histogram.getMax()},
                           histogram.getExponent(),
                           histogram.getCounts().vec(),
                           {},
                           {},
                           {}});
    if (auto means = profile.means.find(name); means != profile.means.end())
      text.values.back().means = toText(means->second);
    auto channels = profile.channels.find(name);
    if (channels == profile.channels.end())
      continue;
    text.values.back().minima = toText(channels->second.minima);
    text.values.back().maxima = toText(channels->second.maxima);
  }
  text.floatNodes.assign(profile.floatNodes.begin(), profile.floatNodes.end());
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::yaml::Output output(os);
  output << text;
  return result;
}

/// Keeps the first message of a reader of YAML, with its line.
static void keepMessage(const llvm::SMDiagnostic &diagnostic, void *context) {
  auto &message = *static_cast<std::string *>(context);
  if (message.empty())
    message = llvm::formatv("line {0}: {1}", diagnostic.getLineNo(),
                            diagnostic.getMessage());
}

/// An error unless these are the first bytes of a profile: other files, of
/// weights for example, are not read as YAML.
static llvm::Error checkBeginning(llvm::StringRef text) {
  llvm::StringRef rest = text.ltrim();
  rest.consume_front("---");
  if (rest.ltrim().starts_with("version:"))
    return llvm::Error::success();
  return makeError("this is no profile; accepted: a file that `model-runner "
                   "-dump-profile=FILE` has written");
}

llvm::Expected<RangeProfile> glowish::readRangeProfile(llvm::StringRef text) {
  GLOWISH_RETURN_IF_ERROR(checkBeginning(text));
  std::string message;
  llvm::yaml::Input input(text, /*Ctxt=*/nullptr, keepMessage, &message);
  ProfileText read;
  input >> read;
  if (read.version && read.version != RangeProfile::version)
    return makeError("the profile is of format version {0}; accepted: {1}",
                     read.version, RangeProfile::version);
  if (input.error())
    return makeError("{0}; accepted: a file that `model-runner "
                     "-dump-profile=FILE` has written",
                     message);
  RangeProfile profile;
  profile.model = read.model;
  profile.checksum = read.checksum;
  profile.floatNodes.insert(read.floatNodes.begin(), read.floatNodes.end());
  for (ValueText &value : read.values) {
    std::string name = quote(value.name);
    GLOWISH_ASSIGN_OR_RETURN(
        Histogram histogram,
        addContext(Histogram::create(value.min.value, value.max.value,
                                     value.exponent, std::move(value.counts),
                                     read.maxBins),
                   name + ": "));
    if (!profile.values.try_emplace(value.name, std::move(histogram)).second)
      return makeError("{0} is there twice", name);
    if (value.minima.size() != value.maxima.size())
      return makeError("{0} has minima of {1} channels and maxima of {2}", name,
                       value.minima.size(), value.maxima.size());
    for (const auto &[low, high] : llvm::zip_equal(value.minima, value.maxima))
      if (!(low.value <= high.value) || !std::isfinite(low.value) ||
          !std::isfinite(high.value))
        return makeError("{0} has a channel from {1} to {2}; accepted: "
                         "finite numbers in ascending order",
                         name, low.value, high.value);
    for (const ExactFloat &mean : value.means)
      if (!std::isfinite(mean.value))
        return makeError("{0} has a channel with the mean {1}; accepted: "
                         "finite numbers",
                         name, mean.value);
    if (!value.means.empty())
      profile.means[value.name] = fromText(value.means);
    if (!value.minima.empty())
      profile.channels[value.name] = {fromText(value.minima),
                                      fromText(value.maxima)};
  }
  return profile;
}
