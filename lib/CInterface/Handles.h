//===- Handles.h - What the handles of glowish.h are ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_CINTERFACE_HANDLES_H
#define GLOWISH_LIB_CINTERFACE_HANDLES_H

#include "glowish.h"
#include "glowish/Compiler/ModelCompiler.h"
#include "glowish/Driver/RunnableProgram.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/MemoryFile.h"
#include "glowish/Support/Task.h"

struct glowish_error {
  int32_t code;
  std::string message;
};

struct glowish_options {
  glowish::CompilerSettings settings;
  std::vector<glowish::Setting *> all = settings.getSettings();
  /// Descriptions of `all`, in that order.
  std::vector<std::string> descriptions = describeAll();

private:
  std::vector<std::string> describeAll() const;
};

namespace glowish {

struct ModelFile {
  std::string path;
  /// The file at the path; null where that is the caller's.
  std::unique_ptr<MemoryFile> memory = nullptr;
};

} // namespace glowish

struct glowish_model {
  /// Compilations that were cancelled may read it for a while.
  std::shared_ptr<const glowish::ModelFile> file;
};

struct glowish_job {
  glowish_progress_function progress = nullptr;
  void *progressContext = nullptr;
  glowish_warning_function warning = nullptr;
  void *warningContext = nullptr;
  glowish::Task task{[this](llvm::StringRef step, double done) {
    if (progress)
      progress(progressContext, step.str().c_str(), done);
  }};
};

namespace glowish {

/// A value of a program, and what describes it to the caller.
struct ProgramValue {
  const Buffer *buffer;
  std::string name;
  llvm::SmallVector<int64_t, 4> extents;
  glowish_value value;
};

/// What a program and its sessions need.
struct SharedProgram {
  std::unique_ptr<Backend> backend;
  RunnableModel model;
  /// Elements stay where they are: values point to their names.
  std::vector<std::unique_ptr<ProgramValue>> inputs, outputs, states;

  const RunnableProgram &getProgram() const {
    return model.programs.front().program;
  }
};

/// An error with the code \p code, for the caller to free.
glowish_error *makeCError(int32_t code, const llvm::Twine &message);
/// Null for success; else the messages of \p error, with the code for what is
/// refused, or for what is cancelled if \p job is.
glowish_error *toCError(llvm::Error error, const glowish_job *job = nullptr);
/// The error that argument \p name of \p function is null.
glowish_error *makeNullError(const char *function, const char *name);

} // namespace glowish

/// Returns from a function of the interface if one of its pointers is null.
#define GLOWISH_RETURN_IF_NULL(POINTER)                                        \
  if (!(POINTER))                                                              \
  return glowish::makeNullError(__func__, #POINTER)

struct glowish_program {
  std::shared_ptr<const glowish::SharedProgram> shared;
};

struct glowish_session {
  std::shared_ptr<const glowish::SharedProgram> shared;
  std::unique_ptr<glowish::Session> session;
  /// Outputs cut to the extents of the last run, until the next one.
  std::vector<std::unique_ptr<glowish::Tensor>> cut;
};

#endif // GLOWISH_LIB_CINTERFACE_HANDLES_H
