//===- Sessions.cpp - Running by the C interface --------------------------===//

#include "Handles.h"

using namespace glowish;

/// Null unless there is no value \p index of \p values, which are called
/// \p what.
static glowish_error *
checkIndex(const std::vector<std::unique_ptr<ProgramValue>> &values,
           size_t index, const char *what) {
  if (index < values.size())
    return nullptr;
  return makeCError(GLOWISH_ERROR_ARGUMENT, llvm::Twine("there is no ") + what +
                                                " " + llvm::Twine(index) +
                                                "; the program has " +
                                                llvm::Twine(values.size()));
}

glowish_error *glowish_session_create(const glowish_program *program,
                                      glowish_session **session) {
  GLOWISH_RETURN_IF_NULL(program);
  GLOWISH_RETURN_IF_NULL(session);
  auto created = Session::create(program->shared->getProgram());
  if (!created)
    return toCError(created.takeError());
  auto result = std::make_unique<glowish_session>();
  result->shared = program->shared;
  result->session = std::move(*created);
  result->cut.resize(program->shared->outputs.size());
  *session = result.release();
  return nullptr;
}

void glowish_session_free(glowish_session *session) { delete session; }

glowish_error *glowish_session_set_input(glowish_session *session, size_t index,
                                         const void *data,
                                         const int64_t *extents) {
  GLOWISH_RETURN_IF_NULL(session);
  GLOWISH_RETURN_IF_NULL(data);
  const auto &inputs = session->shared->inputs;
  if (glowish_error *error = checkIndex(inputs, index, "input"))
    return error;
  const Buffer *buffer = inputs[index]->buffer;
  Type type = buffer->getType();
  if (extents) {
    DimsRef shape(extents, type.getRank());
    if (llvm::Error error = checkShape(type.getKind(), shape))
      return toCError(addContext(std::move(error),
                                 "input '" + buffer->getModelName() + "': "));
    type = type.withShape(shape);
  }
  return toCError(session->session->setInput(
      buffer, Tensor::borrow(type, const_cast<void *>(data))));
}

static glowish_error *bind(Session &session, const Buffer *buffer, void *data) {
  if (session.bind(buffer, data))
    return nullptr;
  return makeCError(GLOWISH_ERROR_REFUSED,
                    "'" + buffer->getModelName() +
                        "' is in the memory of the session, which the program "
                        "lays out; accepted: to copy it");
}

glowish_error *glowish_session_bind_input(glowish_session *session,
                                          size_t index, const void *data) {
  GLOWISH_RETURN_IF_NULL(session);
  const auto &inputs = session->shared->inputs;
  if (glowish_error *error = checkIndex(inputs, index, "input"))
    return error;
  return bind(*session->session, inputs[index]->buffer,
              const_cast<void *>(data));
}

glowish_error *glowish_session_bind_output(glowish_session *session,
                                           size_t index, void *data) {
  GLOWISH_RETURN_IF_NULL(session);
  const auto &outputs = session->shared->outputs;
  if (glowish_error *error = checkIndex(outputs, index, "output"))
    return error;
  session->cut[index].reset();
  return bind(*session->session, outputs[index]->buffer, data);
}

glowish_error *glowish_session_run(glowish_session *session) {
  GLOWISH_RETURN_IF_NULL(session);
  for (std::unique_ptr<Tensor> &tensor : session->cut)
    tensor.reset();
  return toCError(session->session->run());
}

glowish_error *glowish_session_output(glowish_session *session, size_t index,
                                      const void **data, int64_t *extents) {
  GLOWISH_RETURN_IF_NULL(session);
  GLOWISH_RETURN_IF_NULL(data);
  const auto &outputs = session->shared->outputs;
  if (glowish_error *error = checkIndex(outputs, index, "output"))
    return error;
  std::unique_ptr<Tensor> &tensor = session->cut[index];
  if (!tensor)
    tensor = std::make_unique<Tensor>(
        session->session->getOutput(outputs[index]->buffer));
  *data = tensor->getBytes();
  if (extents)
    llvm::copy(tensor->getType().getShape(), extents);
  return nullptr;
}

glowish_error *glowish_session_state(glowish_session *session, size_t index,
                                     void **data) {
  GLOWISH_RETURN_IF_NULL(session);
  GLOWISH_RETURN_IF_NULL(data);
  const auto &states = session->shared->states;
  if (glowish_error *error = checkIndex(states, index, "state"))
    return error;
  *data = session->session->getTensor(states[index]->buffer).getBytes();
  return nullptr;
}
