//===- ExtentRuns.h - Programs whose runs decide extents --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_EXTENTRUNS_H
#define GLOWISH_TESTS_UNIT_EXTENTRUNS_H

#include "ExtentTemplates.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/ForEachIndex.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include <cmath>

namespace glowish {

/// A module compiled for one back end, to be run several times.
struct Program {
  std::unique_ptr<Backend> backend;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;

  /// The placeholder that a model calls \p name, which it has.
  const Buffer *find(llvm::StringRef name) const {
    return llvm::cantFail(session->findPlaceholder(name));
  }
};

/// The back end for \p target, or the interpreter.
inline std::unique_ptr<Backend>
createBackend(bool isCPU, const TargetOptions &target = TargetOptions()) {
  if (!isCPU)
    return createInterpreter();
  return llvm::cantFail(CPUBackend::create(target));
}

/// Compiles \p module, verified after each pass.
inline llvm::Expected<Program>
compileProgram(std::unique_ptr<Module> module, std::unique_ptr<Backend> backend,
               CompilationOptions options = CompilationOptions()) {
  Program result;
  result.backend = std::move(backend);
  options.verifyEach = true;
  Compilation compilation(*result.backend, std::move(options));
  GLOWISH_ASSIGN_OR_RETURN(result.program,
                           compilation.compile(std::move(module)));
  GLOWISH_ASSIGN_OR_RETURN(result.session, Session::create(*result.program));
  return result;
}

/// The shape that \p input has in a run with \p values.
inline Dims evaluateShape(const Buffer *input, const ExtentValues &values) {
  return evaluateShape(input->getShape(), input->getInputExtents().dims,
                       [&](llvm::StringRef symbol) {
                         return std::optional(values.find(symbol)->second);
                       });
}

/// Makes the elements of \p input that lie outside of \p shape NaN, or
/// \p integer in a kind of more than one byte.
inline void poisonOutside(const Session &session, const Buffer *input,
                          DimsRef shape, double integer = 0x7FFFFFFF) {
  Tensor whole = session.getTensor(input);
  ElemKind kind = whole.getType().getKind();
  double value = isFloatKind(kind)        ? std::nan("")
                 : kind == ElemKind::Bool ? 1
                 : getElemSize(kind) == 1 ? 117
                                          : integer;
  int64_t element = 0;
  forEachIndex(whole.getType().getShape(), [&](DimsRef index) {
    bool isInside = true;
    for (auto [i, extent] : llvm::zip_equal(index, shape))
      isInside &= i < extent;
    if (!isInside)
      whole.setFromDouble(element, value);
    ++element;
  });
}

/// Gives \p tensor, whose extents are those of the run, to \p input of \p open,
/// with elements that show beyond it, and to the input of this name of \p
/// fixed, which may be null.
inline llvm::Error setInput(Program &open, Program *fixed, const Buffer *input,
                            const Tensor &tensor) {
  GLOWISH_RETURN_IF_ERROR(open.session->setInput(input, tensor));
  poisonOutside(*open.session, input, tensor.getType().getShape());
  if (!fixed)
    return llvm::Error::success();
  return fixed->session->setInput(fixed->find(input->getModelName()), tensor);
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTRUNS_H
