//===- RunText.h - Running models in protobuf text --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_RUNTEXT_H
#define GLOWISH_TESTS_UNIT_RUNTEXT_H

#include "OnnxText.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"

namespace glowish {

/// What \p backend makes of \p model, whose inputs are zeros: type and elements
/// of y, as TextModel::importConstant writes them.
inline std::string
runText(TextModel model,
        std::unique_ptr<Backend> backend = createInterpreter()) {
  auto module = model.import();
  if (!module)
    return llvm::toString(module.takeError());
  Compilation compilation(*backend, CompilationOptions());
  PlannedProgram program =
      llvm::cantFail(compilation.compile(std::move(*module)));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *buffer : session->getPlaceholders())
    if (buffer->isInput())
      llvm::cantFail(session->setInput(buffer, Tensor(buffer->getType())));
  llvm::cantFail(session->run());
  return toText(
      session->getTensor(llvm::cantFail(session->findPlaceholder("y"))));
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_RUNTEXT_H
