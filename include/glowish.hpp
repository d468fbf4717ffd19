//===- glowish.hpp - glowish.h for C++ ----------------------------------===//
//
// Handles that free themselves, and errors as exceptions: C++17, with nothing of
// LLVM. All of it is here; programs link libglowish. glowish.h says what the
// functions do.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_HPP
#define GLOWISH_HPP

#include "glowish.h"
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace glowish::api {

/// What a function of the interface refused.
class Error : public std::runtime_error {
public:
  Error(int32_t code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  /// One of GLOWISH_ERROR_...
  int32_t getCode() const { return code; }

private:
  int32_t code;
};

/// Throws \p error, which it frees, unless it is null.
inline void check(glowish_error *error) {
  if (!error)
    return;
  Error thrown(glowish_error_code(error), glowish_error_message(error));
  glowish_error_free(error);
  throw thrown;
}

/// Called with each line of the log: GLOWISH_LOG_..., the verbosity of a line of
/// GLOWISH_LOG_INFO, and the line. Throws nothing.
using Log = std::function<void(int32_t severity, int32_t verbosity,
                               const char *line)>;

/// glowish_set_log with a function object, which is kept; null ends the log. Any
/// thread may call it, but not \p log itself.
inline void setLog(Log log, int32_t verbosity = 0) {
  static std::mutex mutex;
  static Log current;
  std::lock_guard lock(mutex);
  glowish_set_log(nullptr, nullptr, 0);
  current = std::move(log);
  if (current)
    glowish_set_log(
        [](void *context, int32_t severity, int32_t level, const char *line) {
          (*static_cast<Log *>(context))(severity, level, line);
        },
        &current, verbosity);
}

/// A handle, freed by \p Free.
template <typename T, void (*Free)(T *)> class Handle {
public:
  T *get() const { return pointer.get(); }

protected:
  explicit Handle(T *pointer) : pointer(pointer, Free) {}
  std::unique_ptr<T, void (*)(T *)> pointer;
};

class Options : public Handle<glowish_options, glowish_options_free> {
public:
  Options() : Handle(glowish_options_create()) {}
  /// Returns the options, so that calls can be chained.
  Options &set(const std::string &name, const std::string &value = "") {
    check(glowish_options_set(get(), name.c_str(), value.c_str()));
    return *this;
  }
  Options &bindDimension(const std::string &symbol, int64_t value) {
    check(glowish_options_bind_dimension(get(), symbol.c_str(), value));
    return *this;
  }
};

/// Watches and cancels compilations. Stays where it is: functions are called
/// with its address.
class Job : public Handle<glowish_job, glowish_job_free> {
public:
  using Progress = std::function<void(const char *step, double done)>;
  using Warning = std::function<void(const char *line)>;

  explicit Job(Progress onProgress = nullptr, Warning onWarning = nullptr)
      : Handle(glowish_job_create()), progress(std::move(onProgress)),
        warning(std::move(onWarning)) {
    glowish_job_on_progress(
        get(),
        [](void *job, const char *step, double done) {
          if (auto &call = static_cast<Job *>(job)->progress)
            call(step, done);
        },
        this);
    glowish_job_on_warning(
        get(),
        [](void *job, const char *line) {
          if (auto &call = static_cast<Job *>(job)->warning)
            call(line);
        },
        this);
  }
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;
  /// Any thread may call it.
  void cancel() { glowish_job_cancel(get()); }

private:
  Progress progress;
  Warning warning;
};

class Session : public Handle<glowish_session, glowish_session_free> {
public:
  /// \p extents: those of this run; empty for those of the value.
  void setInput(size_t index, const void *data,
                const std::vector<int64_t> &extents = {}) {
    check(glowish_session_set_input(get(), index, data,
                                    extents.empty() ? nullptr
                                                    : extents.data()));
  }
  void bindInput(size_t index, const void *data) {
    check(glowish_session_bind_input(get(), index, data));
  }
  void bindOutput(size_t index, void *data) {
    check(glowish_session_bind_output(get(), index, data));
  }
  void run() { check(glowish_session_run(get())); }
  /// \p extents, unless it is null, has room for those of the output.
  template <typename T>
  const T *getOutput(size_t index, int64_t *extents = nullptr) const {
    const void *data = nullptr;
    check(glowish_session_output(get(), index, &data, extents));
    return static_cast<const T *>(data);
  }
  template <typename T> T *getState(size_t index) {
    void *data = nullptr;
    check(glowish_session_state(get(), index, &data));
    return static_cast<T *>(data);
  }

private:
  friend class Program;
  explicit Session(glowish_session *session) : Handle(session) {}
};

class Program : public Handle<glowish_program, glowish_program_free> {
public:
  std::vector<const glowish_value *> getInputs() const {
    return list(glowish_program_input_count, glowish_program_input);
  }
  std::vector<const glowish_value *> getOutputs() const {
    return list(glowish_program_output_count, glowish_program_output);
  }
  std::vector<const glowish_value *> getStates() const {
    return list(glowish_program_state_count, glowish_program_state);
  }
  Session createSession() const {
    glowish_session *session = nullptr;
    check(glowish_session_create(get(), &session));
    return Session(session);
  }

private:
  friend class Model;
  explicit Program(glowish_program *program) : Handle(program) {}
  template <typename Count, typename Get>
  std::vector<const glowish_value *> list(Count count, Get getValue) const {
    std::vector<const glowish_value *> values(count(get()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = getValue(get(), i);
    return values;
  }
};

class Model : public Handle<glowish_model, glowish_model_free> {
public:
  static Model open(const std::string &path) {
    glowish_model *model = nullptr;
    check(glowish_model_open(path.c_str(), &model));
    return Model(model);
  }
  static Model open(const void *bytes, size_t size, const std::string &name) {
    glowish_model *model = nullptr;
    check(glowish_model_open_memory(bytes, size, name.c_str(), &model));
    return Model(model);
  }
  void compileBundle(const std::string &folder, Options *options = nullptr,
                     Job *job = nullptr) const {
    check(glowish_compile_bundle(get(), getHandle(options), folder.c_str(),
                                 getHandle(job)));
  }
  Program compile(Options *options = nullptr, Job *job = nullptr) const {
    glowish_program *program = nullptr;
    check(glowish_compile(get(), getHandle(options), getHandle(job),
                          &program));
    return Program(program);
  }

private:
  explicit Model(glowish_model *model) : Handle(model) {}
  static glowish_options *getHandle(Options *options) {
    return options ? options->get() : nullptr;
  }
  static glowish_job *getHandle(Job *job) { return job ? job->get() : nullptr; }
};

} // namespace glowish::api

#endif // GLOWISH_HPP
