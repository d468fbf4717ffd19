//===- RunnableProgram.cpp - What is needed to run ------------------------===//

#include "glowish/Driver/RunnableProgram.h"
#include "ProgramImages.h"
#include "ProgramKey.h"
#include "glowish/Driver/ProgramCache.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/Log.h"

using namespace glowish;

namespace {

/// Programs with their places, before there is code.
struct PlannedModel {
  std::vector<std::string> titles;
  std::vector<PlannedProgram> programs;
  std::shared_ptr<const Tensor> constants;
};

} // namespace

static llvm::Expected<PlannedModel> compileModel(const ModelRequest &request,
                                                 ImportOptions importOptions) {
  ModelVariants model(request.backend, request.options);
  GLOWISH_RETURN_IF_ERROR(
      model.open(request.path, std::move(importOptions), request.symbols));
  GLOWISH_RETURN_IF_ERROR(model.select());
  GLOWISH_ASSIGN_OR_RETURN(std::optional<CompiledVariants> compiled,
                           model.compile());
  assert(compiled && "the compilation stops before there is a program");
  PlannedModel planned;
  for (auto [i, program] : llvm::enumerate(compiled->getPrograms())) {
    planned.titles.push_back(model.describe(i));
    GLOWISH_RETURN_IF_ERROR(checkMemory(program.getPlan()));
  }
  planned.constants =
      std::make_shared<const Tensor>(compiled->makeConstantRegion());
  planned.programs = compiled->takePrograms();
  return planned;
}

static void beginPhase(const ModelRequest &request, llvm::StringRef name) {
  if (request.options.timer)
    request.options.timer->begin(name);
}

llvm::Expected<RunnableProgram>
RunnableProgram::create(PlannedProgram program,
                        std::shared_ptr<const Tensor> constants) {
  GLOWISH_RETURN_IF_ERROR(checkMemory(program.getPlan()));
  const IRFunction &function = program.getIR();
  const MemoryPlan &plan = program.getPlan();
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                           program.getBackend().compile(function, plan));
  if (!constants)
    constants =
        std::make_shared<const Tensor>(makeConstantRegion(function, plan));
  // The interpreter's code reads the instructions.
  auto owner = std::make_shared<const PlannedProgram>(std::move(program));
  return RunnableProgram{
      std::shared_ptr<const IRFunction>(owner, &owner->getIR()),
      std::shared_ptr<const MemoryPlan>(owner, &owner->getPlan()),
      std::move(executable), std::move(constants)};
}

/// Without a cache.
static llvm::Expected<RunnableModel> makeNew(const ModelRequest &request) {
  GLOWISH_ASSIGN_OR_RETURN(PlannedModel planned,
                           compileModel(request, request.importOptions));
  beginPhase(request, "codegen");
  RunnableModel model;
  for (auto [title, program] :
       llvm::zip_equal(planned.titles, planned.programs)) {
    GLOWISH_ASSIGN_OR_RETURN(
        RunnableProgram runnable,
        RunnableProgram::create(std::move(program), planned.constants));
    model.programs.push_back({title, std::move(runnable)});
  }
  return model;
}

//===- With a cache -------------------------------------------------------===//

/// Compiles what is to be kept.
static llvm::Expected<ProgramImages> makeImages(const ModelRequest &request,
                                                CodeSerializer &serializer) {
  ProgramImages images;
  ImportOptions importOptions = request.importOptions;
  importOptions.sequenceOutputs = &images.sequences;
  // They are kept for others, too.
  importOptions.isRepeated = false;
  importOptions.warn = [&](llvm::StringRef line) {
    images.warnings.push_back(line.str());
    if (request.importOptions.warn && !request.importOptions.isRepeated)
      request.importOptions.warn(line);
  };
  GLOWISH_ASSIGN_OR_RETURN(PlannedModel planned,
                           compileModel(request, std::move(importOptions)));
  beginPhase(request, "codegen");
  images.constants = std::move(planned.constants);
  for (auto [title, program] :
       llvm::zip_equal(planned.titles, planned.programs)) {
    ProgramImage image(program);
    image.title = title;
    GLOWISH_ASSIGN_OR_RETURN(
        image.code, serializer.serialize(program.getIR(), program.getPlan()));
    images.programs.push_back(std::move(image));
  }
  return images;
}

static llvm::Expected<RunnableModel> load(const ProgramImages &images,
                                          CodeSerializer &serializer) {
  RunnableModel model;
  for (const ProgramImage &image : images.programs) {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                             serializer.load(image.code));
    model.programs.push_back({image.title,
                              {image.placeholders, image.plan,
                               std::move(executable), images.constants}});
  }
  return model;
}

static void tellSequences(const ModelRequest &request,
                          const ProgramImages &images) {
  if (request.importOptions.sequenceOutputs)
    *request.importOptions.sequenceOutputs = images.sequences;
}

/// The programs that \p cache has under \p key; nothing if it has none.
static std::optional<RunnableModel> findKept(const ModelRequest &request,
                                             ProgramCache &cache,
                                             const KeyHasher::Digest &key,
                                             CodeSerializer &serializer) {
  std::unique_ptr<ProgramImages> images = cache.find(key);
  if (!images)
    return std::nullopt;
  llvm::Expected<RunnableModel> model = load(*images, serializer);
  if (!model) {
    std::string message = llvm::toString(model.takeError());
    GLOWISH_VLOG(1, "program cache: the program cannot be loaded: {0}",
                 message);
    return std::nullopt;
  }
  for (const std::string &line : images->warnings)
    request.importOptions.tell(line);
  tellSequences(request, *images);
  model->isFromCache = true;
  return std::move(*model);
}

llvm::Expected<RunnableModel> glowish::makeRunnable(ModelRequest request,
                                                    ProgramCache *cache) {
  std::unique_ptr<PhaseTimer> timer = makeTimerForLog(request.options.timer);
  std::unique_ptr<CodeSerializer> serializer =
      cache ? request.backend.createCodeSerializer() : nullptr;
  if (!serializer)
    return makeNew(request);
  beginPhase(request, "cache");
  std::optional<KeyHasher::Digest> key =
      computeProgramKey(request, *serializer);
  if (!key) {
    GLOWISH_VLOG(1, "program cache: not for these options or this model");
    return makeNew(request);
  }
  if (std::optional<RunnableModel> kept =
          findKept(request, *cache, *key, *serializer))
    return std::move(*kept);
  GLOWISH_ASSIGN_OR_RETURN(ProgramImages images,
                           makeImages(request, *serializer));
  tellSequences(request, images);
  GLOWISH_ASSIGN_OR_RETURN(RunnableModel model, load(images, *serializer));
  // The model's file may have been written while it was compiled.
  beginPhase(request, "cache");
  if (computeProgramKey(request, *serializer) == key)
    cache->keep(*key, images);
  return model;
}
