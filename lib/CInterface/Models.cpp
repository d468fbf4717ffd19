//===- Models.cpp - Models and jobs of the C interface --------------------===//

#include "Handles.h"
#include "glowish/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace fs = llvm::sys::fs;

ModelFile::~ModelFile() {
  if (!temporaryFolder.empty())
    fs::remove_directories(temporaryFolder);
}

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

/// Models are read by paths, some of them as mappings of their files: the
/// contents go to a file of their own.
static llvm::Expected<std::shared_ptr<const ModelFile>>
keepModel(llvm::StringRef bytes, llvm::StringRef name) {
  if (name.empty() || llvm::sys::path::filename(name) != name)
    return makeError("'{0}' is no name of a file", name);
  auto file = std::make_shared<ModelFile>();
  llvm::SmallString<128> folder;
  if (std::error_code code = fs::createUniqueDirectory("glowish", folder))
    return makeError("cannot make a temporary folder: {0}", code.message());
  file->temporaryFolder = folder.str().str();
  llvm::sys::path::append(folder, name);
  file->path = folder.str().str();
  GLOWISH_RETURN_IF_ERROR(writeFile(file->path, bytes));
  return file;
}

glowish_error *glowish_model_open_memory(const void *bytes, size_t size,
                                         const char *name,
                                         glowish_model **model) {
  GLOWISH_RETURN_IF_NULL(bytes);
  GLOWISH_RETURN_IF_NULL(name);
  GLOWISH_RETURN_IF_NULL(model);
  auto kept =
      keepModel(llvm::StringRef(static_cast<const char *>(bytes), size), name);
  if (!kept)
    return toCError(kept.takeError());
  *model = new glowish_model{std::move(*kept)};
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
