//===- RangeProfiler.cpp - Runs that collect ranges -----------------------===//

#include "glowish/Driver/RangeProfiler.h"
#include "glowish/Driver/InnerOutputs.h"

using namespace glowish;

/// The options of \p options that don't change what is computed or printed.
static CompilationOptions getPlainOptions(const CompilationOptions &options) {
  CompilationOptions plain;
  plain.function = options.function;
  plain.verifyEach = options.verifyEach;
  return plain;
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
                           Session::create(*profiler->program));
  for (const auto &[name, placeholder] : names) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             profiler->session->findPlaceholder(placeholder));
    profiler->values.push_back({buffer, name, Histogram(numBins)});
  }
  return profiler;
}

llvm::Error RangeProfiler::run(const Session &from) {
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *source,
                             from.findPlaceholder(buffer->getModelName()));
    GLOWISH_RETURN_IF_ERROR(session->setInput(buffer, from.getTensor(source)));
  }
  GLOWISH_RETURN_IF_ERROR(session->run());
  for (Value &value : values)
    value.histogram.add(session->getTensor(value.buffer).data<float>());
  return llvm::Error::success();
}

RangeProfile RangeProfiler::getProfile() const {
  RangeProfile profile;
  profile.model = model;
  profile.checksum = checksum;
  for (const Value &value : values)
    if (!value.histogram.isEmpty() && !value.histogram.hasNonFinite())
      profile.values.emplace(value.name, value.histogram);
  return profile;
}
