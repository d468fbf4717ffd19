//===- SpecializedSessions.h - A program for each shape ---------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_SPECIALIZEDSESSIONS_H
#define GLOWISH_DRIVER_SPECIALIZEDSESSIONS_H

#include "glowish/Driver/RunnableProgram.h"
#include "glowish/Driver/Session.h"
#include <list>
#include <memory>

namespace glowish {

/// Runs a model on inputs whose extents may be others in each run: there is a
/// program for each combination of input types, compiled when it first arrives.
/// The programs used last are kept in memory, and all in a cache on disk if
/// there is one. States go from one to the next.
class SpecializedSessions {
public:
  using Inputs = std::map<std::string, const Tensor *>;

  /// \p path: a model or a text form, read for each program. \p backend
  /// outlives this; compilations run to their end. At most \p capacity programs
  /// are kept in memory, at least 1. \p cache outlives this, too; null: none.
  SpecializedSessions(Backend &backend, std::string path,
                      ImportOptions importOptions, CompilationOptions options,
                      size_t capacity = 8, ProgramCache *cache = nullptr);
  ~SpecializedSessions();

  /// Runs the program for the types of \p inputs, by their names in the model:
  /// its session, with the outputs, until the next call. Inputs that are not
  /// given keep what the last run of this program had, or are zeros. An error
  /// names an input that the model does not have, or what it does not accept.
  llvm::Expected<Session *> run(const Inputs &inputs);

  /// The session of the program for inputs of \p types, by their names in the
  /// model, with the states that the last one has left: until the next call.
  /// Inputs are for the caller to set.
  llvm::Expected<Session *> prepare(const std::map<std::string, Type> &types);

  /// The programs that were compiled so far, without those that were read from
  /// the cache, and those that are in memory.
  size_t countCompiled() const { return numCompiled; }
  size_t countKept() const { return programs.size(); }

private:
  struct Program;
  llvm::Expected<std::unique_ptr<Program>>
  make(const std::map<std::string, Type> &types);

  /// For all programs, but for the types of inputs.
  ModelRequest request;
  size_t capacity;
  ProgramCache *cache;
  size_t numCompiled = 0;
  /// The one used last is first.
  std::list<std::unique_ptr<Program>> programs;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_SPECIALIZEDSESSIONS_H
