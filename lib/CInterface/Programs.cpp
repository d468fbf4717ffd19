//===- Programs.cpp - Compiling by the C interface ------------------------===//

#include "Handles.h"
#include "glowish/Support/BackgroundWork.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;

/// Where warnings of a compilation with \p job go; null without one. A thread
/// that is left behind must not use the job.
static std::function<void(llvm::StringRef)> getWarn(const glowish_job *job) {
  if (!job || !job->warning)
    return nullptr;
  return [job](llvm::StringRef line) {
    std::string spelled = spellSettings(line, spellAsOption);
    callInWaitingThread(
        [&] { job->warning(job->warningContext, spelled.c_str()); });
  };
}

/// Returns what compiles \p model, and refers to \p settings.
static ModelCompiler createCompiler(const glowish_model &model,
                                    CompilerSettings &settings,
                                    const glowish_job *job) {
  return ModelCompiler(settings, {{model.file->path}, getWarn(job)});
}

static Task *getTask(glowish_job *job) { return job ? &job->task : nullptr; }

glowish_error *glowish_compile_bundle(const glowish_model *model,
                                      glowish_options *options,
                                      const char *folder, glowish_job *job) {
  GLOWISH_RETURN_IF_NULL(model);
  GLOWISH_RETURN_IF_NULL(folder);
  if (!*folder)
    return makeCError(GLOWISH_ERROR_REFUSED,
                      "no folder is stated for the bundle");
  TaskScope scope(getTask(job));
  CompilerSettings none;
  ModelCompiler compiler =
      createCompiler(*model, options ? options->settings : none, job);
  llvm::Expected<BundleRequest> request = compiler.prepareBundle(folder);
  if (!request)
    return toCError(request.takeError(), job);
  auto make = [file = model->file, own = std::move(*request)]() mutable {
    return makeBundle(std::move(own));
  };
  return toCError(runCancellable(std::move(make)), job);
}

static std::unique_ptr<ProgramValue> makeValue(const Buffer *buffer) {
  auto value = std::make_unique<ProgramValue>();
  value->buffer = buffer;
  value->name = buffer->getModelName().str();
  const Type &type = buffer->getType();
  value->extents.assign(type.getShape().begin(), type.getShape().end());
  value->value = {value->name.c_str(), int32_t(type.getKind()),
                  int32_t(type.getRank()), value->extents.data(),
                  size_t(type.getSizeInBytes())};
  return value;
}

/// Describes what \p shared's program has, but for the extents that make others
/// smaller and that are read with them.
static void addValues(SharedProgram &shared) {
  std::vector<const Buffer *> all;
  for (const auto &buffer : shared.getProgram().placeholders->getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      all.push_back(buffer.get());
  auto isExtents = [&](const Buffer *buffer) {
    return buffer->getInputExtents().range ||
           llvm::any_of(all, [&](const Buffer *other) {
             return other->getExtents() == buffer;
           });
  };
  for (const Buffer *buffer : all) {
    if (isExtents(buffer))
      continue;
    auto &values = !buffer->isInput()    ? shared.outputs
                   : !buffer->isOutput() ? shared.inputs
                                         : shared.states;
    values.push_back(makeValue(buffer));
  }
}

static llvm::Expected<std::shared_ptr<const SharedProgram>>
compile(const glowish_model &model, ModelCompiler compiler) {
  GLOWISH_ASSIGN_OR_RETURN(PreparedCompilation prepared,
                           compiler.prepareProgram(SymbolForm::ValueOrRange));
  auto shared = std::make_shared<SharedProgram>();
  shared->backend = std::move(prepared.backend);
  ModelRequest request = {*shared->backend, std::move(prepared.path),
                          std::move(prepared.importOptions),
                          std::move(prepared.options)};
  auto make = [shared, request = std::move(request), file = model.file,
               tuner = std::move(prepared.tuner)]() mutable -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(shared->model, makeRunnable(std::move(request)));
    addValues(*shared);
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(runCancellable(std::move(make)));
  return shared;
}

glowish_error *glowish_compile(const glowish_model *model,
                               glowish_options *options, glowish_job *job,
                               glowish_program **program) {
  GLOWISH_RETURN_IF_NULL(model);
  GLOWISH_RETURN_IF_NULL(program);
  TaskScope scope(getTask(job));
  CompilerSettings none;
  auto shared = compile(
      *model, createCompiler(*model, options ? options->settings : none, job));
  if (!shared)
    return toCError(shared.takeError(), job);
  *program = new glowish_program{std::move(*shared)};
  return nullptr;
}

void glowish_program_free(glowish_program *program) { delete program; }

using Values = std::vector<std::unique_ptr<ProgramValue>>;

static size_t count(const glowish_program *program,
                    Values SharedProgram::*values) {
  return program ? ((*program->shared).*values).size() : 0;
}

static const glowish_value *get(const glowish_program *program,
                                Values SharedProgram::*values, size_t index) {
  return index < count(program, values)
             ? &((*program->shared).*values)[index]->value
             : nullptr;
}

size_t glowish_program_input_count(const glowish_program *program) {
  return count(program, &SharedProgram::inputs);
}

const glowish_value *glowish_program_input(const glowish_program *program,
                                           size_t index) {
  return get(program, &SharedProgram::inputs, index);
}

size_t glowish_program_output_count(const glowish_program *program) {
  return count(program, &SharedProgram::outputs);
}

const glowish_value *glowish_program_output(const glowish_program *program,
                                            size_t index) {
  return get(program, &SharedProgram::outputs, index);
}

size_t glowish_program_state_count(const glowish_program *program) {
  return count(program, &SharedProgram::states);
}

const glowish_value *glowish_program_state(const glowish_program *program,
                                           size_t index) {
  return get(program, &SharedProgram::states, index);
}
