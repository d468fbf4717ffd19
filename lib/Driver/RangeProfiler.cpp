//===- RangeProfiler.cpp - Runs that collect ranges -----------------------===//

#include "glowish/Driver/RangeProfiler.h"
#include "glowish/Base/CopyCorner.h"
#include "glowish/Driver/InnerOutputs.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Quantize.h"

using namespace glowish;

/// The options of \p options that don't change what is computed or printed.
static CompilationOptions getPlainOptions(const CompilationOptions &options) {
  CompilationOptions plain;
  plain.function = options.function;
  plain.verifyEach = options.verifyEach;
  return plain;
}

/// The names of the values that depthwise convolutions read.
static std::set<std::string> findDepthwiseInputs(const Function &function) {
  std::set<std::string> names;
  for (const Node &node : function.getNodes())
    if (auto *convolution = llvm::dyn_cast<ConvolutionNode>(&node))
      if (isDepthwise(*convolution))
        names.insert(getProfileName(convolution->getInput()));
  return names;
}

/// The names of the values that are multiplied with constant weights.
static std::set<std::string> findWeightedInputs(const Function &function) {
  std::set<std::string> names;
  for (const Node &node : function.getNodes())
    if (NodeValue input = getWeightedInput(node))
      names.insert(getProfileName(input));
  return names;
}

/// Returns the extents that runs decide of \p buffer, an input or an output.
static const ExtentList &getExtents(const Buffer &buffer) {
  const InputExtents &extents = buffer.getInputExtents();
  return buffer.isInput() ? extents.dims : extents.next;
}

/// Whether a run decides how many channels \p buffer has.
static bool hasOpenChannels(const Buffer &buffer) {
  const ExtentList &extents = getExtents(buffer);
  return !extents.empty() && extents.back();
}

llvm::Expected<std::unique_ptr<RangeProfiler>>
RangeProfiler::create(Backend &backend, const CompilationOptions &options,
                      ModelGraph graph, unsigned numBins) {
  std::unique_ptr<RangeProfiler> profiler(new RangeProfiler());
  Compilation compilation(backend, getPlainOptions(options));
  GLOWISH_RETURN_IF_ERROR(compilation.prepareQuantization(graph));
  profiler->model = graph.getModule().getName().str();
  profiler->checksum = getProfileChecksum(graph.getFunction());
  auto isFloat = [](NodeValue value) {
    return value.getElemKind() == ElemKind::Float;
  };
  std::set<std::string> depthwise = findDepthwiseInputs(graph.getFunction());
  std::set<std::string> weighted = findWeightedInputs(graph.getFunction());
  // Names in the profile and of placeholders.
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto &placeholder : graph.getModule().getPlaceholders())
    if (placeholder->isInput() && isFloat(NodeValue(placeholder.get())))
      names.emplace_back(getProfileName(NodeValue(placeholder.get())),
                         placeholder->getModelName().str());
  for (const InnerOutput &output :
       addInnerOutputs(graph.getFunction(), isFloat))
    names.emplace_back(getProfileName(output.value), output.placeholder);
  GLOWISH_ASSIGN_OR_RETURN(profiler->program,
                           compilation.compile(std::move(graph)));
  GLOWISH_ASSIGN_OR_RETURN(profiler->session,
                           compilation.createSession(*profiler->program));
  for (const auto &[name, placeholder] : names) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             profiler->session->findPlaceholder(placeholder));
    Value value = {buffer, name, Histogram(numBins), {}, {}};
    DimsRef shape = buffer->getType().getShape();
    size_t count = shape.empty() ? 1 : size_t(shape.back());
    if (!hasOpenChannels(*buffer) && weighted.count(name))
      value.sums.assign(count, 0);
    if (!hasOpenChannels(*buffer) && depthwise.count(name)) {
      value.channels.minima.assign(count, INFINITY);
      value.channels.maxima.assign(count, -INFINITY);
    }
    profiler->values.push_back(std::move(value));
  }
  return profiler;
}

/// Returns what \p buffer has in the run of \p session: the elements up to the
/// extents that the run decides, as others may be anything.
static Tensor getElements(const Session &session, const Buffer &buffer) {
  std::map<std::string, int64_t> values = session.getSymbolValues();
  Tensor whole = session.getTensor(&buffer);
  Dims shape = evaluateShape(
      buffer.getShape(), getExtents(buffer), [&](llvm::StringRef symbol) {
        auto found = values.find(symbol.str());
        return found == values.end() ? std::nullopt
                                     : std::optional(found->second);
      });
  if (DimsRef(shape) == buffer.getShape())
    return whole;
  Tensor part(whole.getType().withShape(shape));
  copyCorner(whole, part);
  return part;
}

llvm::Error RangeProfiler::run(const Session &from) {
  GLOWISH_RETURN_IF_ERROR(session->copyInputs(from));
  GLOWISH_RETURN_IF_ERROR(session->run());
  for (Value &value : values) {
    Tensor tensor = getElements(*session, *value.buffer);
    value.histogram.add(tensor.data<float>());
    if (!value.sums.empty())
      for (auto [i, number] : llvm::enumerate(tensor.data<float>()))
        value.sums[i % value.sums.size()] += number;
    if (value.channels.minima.empty())
      continue;
    auto &[minima, maxima] = value.channels;
    for (auto [i, number] : llvm::enumerate(tensor.data<float>())) {
      size_t channel = i % minima.size();
      minima[channel] = std::min(minima[channel], number);
      maxima[channel] = std::max(maxima[channel], number);
    }
  }
  return llvm::Error::success();
}

RangeProfile RangeProfiler::getProfile() const {
  RangeProfile profile;
  profile.model = model;
  profile.checksum = checksum;
  for (const Value &value : values) {
    if (value.histogram.isEmpty() || value.histogram.hasNonFinite())
      continue;
    profile.values.emplace(value.name, value.histogram);
    if (!value.sums.empty()) {
      double count = double(value.histogram.getTotal() / value.sums.size());
      std::vector<float> &means = profile.means[value.name];
      for (double sum : value.sums)
        means.push_back(float(sum / count));
    }
    if (!value.channels.minima.empty())
      profile.channels.emplace(value.name, value.channels);
  }
  return profile;
}
