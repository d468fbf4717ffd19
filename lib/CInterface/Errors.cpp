//===- Errors.cpp - Errors and versions of the C interface ----------------===//

#include "Handles.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;

glowish_error *glowish::makeCError(int32_t code, const llvm::Twine &message) {
  return new glowish_error{code, message.str()};
}

glowish_error *glowish::toCError(llvm::Error error, const glowish_job *job) {
  if (!error)
    return nullptr;
  std::string message =
      spellSettings(llvm::toString(std::move(error)), spellAsOption);
  if (job && job->task.isCancelled())
    return makeCError(GLOWISH_ERROR_CANCELLED, "cancelled");
  return makeCError(GLOWISH_ERROR_REFUSED, message);
}

glowish_error *glowish::makeNullError(const char *function, const char *name) {
  return makeCError(GLOWISH_ERROR_ARGUMENT,
                    llvm::Twine(function) + ": '" + name +
                        "' is null; accepted: a pointer");
}

int32_t glowish_error_code(const glowish_error *error) {
  return error ? error->code : 0;
}

const char *glowish_error_message(const glowish_error *error) {
  return error ? error->message.c_str() : "";
}

void glowish_error_free(glowish_error *error) { delete error; }

int32_t glowish_interface_version() { return GLOWISH_INTERFACE_VERSION; }

const char *glowish_release() { return GLOWISH_VERSION; }
