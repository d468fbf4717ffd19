//===- SpecializedSessions.cpp - A program for each shape -----------------===//

#include "glowish/Driver/SpecializedSessions.h"

using namespace glowish;

struct SpecializedSessions::Program {
  /// The types that it is for, by the inputs' names.
  std::map<std::string, Type> types;
  RunnableModel model;
  std::unique_ptr<Session> session;
};

SpecializedSessions::SpecializedSessions(Backend &backend, std::string path,
                                         ImportOptions importOptions,
                                         CompilationOptions options,
                                         size_t capacity, ProgramCache *cache)
    : request{backend, std::move(path), std::move(importOptions),
              std::move(options)},
      capacity(std::max<size_t>(capacity, 1)), cache(cache) {}

SpecializedSessions::~SpecializedSessions() = default;

static std::map<std::string, Type>
getTypes(const SpecializedSessions::Inputs &inputs) {
  std::map<std::string, Type> types;
  for (const auto &[name, tensor] : inputs)
    types.emplace(name, tensor->getType());
  return types;
}

llvm::Expected<std::unique_ptr<SpecializedSessions::Program>>
SpecializedSessions::make(const std::map<std::string, Type> &types) {
  auto result = std::make_unique<Program>();
  result->types = types;
  ModelRequest own = request;
  for (const auto &[name, type] : result->types)
    own.importOptions.givenTypes.insert_or_assign(name, type);
  GLOWISH_ASSIGN_OR_RETURN(result->model, makeRunnable(std::move(own), cache));
  // The request has no symbols with several values.
  GLOWISH_ASSIGN_OR_RETURN(
      result->session, Session::create(result->model.programs.front().program));
  if (!result->model.isFromCache)
    ++numCompiled;
  return result;
}

llvm::Expected<Session *>
SpecializedSessions::prepare(const std::map<std::string, Type> &types) {
  auto found = llvm::find_if(
      programs, [&](const auto &program) { return program->types == types; });
  Program *last = programs.empty() ? nullptr : programs.front().get();
  if (found != programs.end()) {
    programs.splice(programs.begin(), programs, found);
  } else {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, make(types));
    programs.push_front(std::move(program));
  }
  Program *current = programs.front().get();
  if (last && last != current)
    current->session->takeStates(*last->session);
  while (programs.size() > capacity)
    programs.pop_back();
  return current->session.get();
}

llvm::Expected<Session *> SpecializedSessions::run(const Inputs &inputs) {
  GLOWISH_ASSIGN_OR_RETURN(Session *session, prepare(getTypes(inputs)));
  for (const auto &[name, tensor] : inputs) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *placeholder,
                             session->findPlaceholder(name));
    GLOWISH_RETURN_IF_ERROR(session->setInput(placeholder, *tensor));
  }
  GLOWISH_RETURN_IF_ERROR(session->run());
  return session;
}
