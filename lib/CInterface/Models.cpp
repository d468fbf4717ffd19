//===- Models.cpp - Models and jobs of the C interface --------------------===//

#include "Handles.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace fs = llvm::sys::fs;

glowish_error *glowish_model_open(const char *path, glowish_model **model) {
  GLOWISH_RETURN_IF_NULL(path);
  GLOWISH_RETURN_IF_NULL(model);
  if (!fs::exists(path))
    return makeCError(GLOWISH_ERROR_REFUSED,
                      llvm::Twine("'") + path + "': there is no such file");
  auto file = std::make_shared<ModelFile>();
  file->path = path;
  *model = new glowish_model{std::move(file)};
  return nullptr;
}

glowish_error *glowish_model_open_memory(const void *bytes, size_t size,
                                         const char *name,
                                         glowish_model **model) {
  GLOWISH_RETURN_IF_NULL(bytes);
  GLOWISH_RETURN_IF_NULL(name);
  GLOWISH_RETURN_IF_NULL(model);
  if (!*name || llvm::sys::path::filename(name) != name)
    return makeCError(GLOWISH_ERROR_REFUSED,
                      llvm::Twine("'") + name + "' is no name of a file");
  auto file = std::make_shared<ModelFile>();
  file->memory = std::make_unique<MemoryFile>(
      llvm::StringRef(static_cast<const char *>(bytes), size), name);
  file->path = file->memory->getPath();
  *model = new glowish_model{std::move(file)};
  return nullptr;
}

void glowish_model_free(glowish_model *model) { delete model; }

glowish_job *glowish_job_create() { return new glowish_job; }

void glowish_job_free(glowish_job *job) { delete job; }

void glowish_job_on_progress(glowish_job *job,
                             glowish_progress_function function,
                             void *context) {
  if (!job)
    return;
  job->progress = function;
  job->progressContext = context;
}

void glowish_job_on_warning(glowish_job *job, glowish_warning_function function,
                            void *context) {
  if (!job)
    return;
  job->warning = function;
  job->warningContext = context;
}

void glowish_job_cancel(glowish_job *job) {
  if (job)
    job->task.cancel();
}
