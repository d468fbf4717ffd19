//===- Failure.h - Errors as exceptions -------------------------*- C++ -*-===//
//
// The library returns llvm::Error; Python wants exceptions. What is in core/ is
// compiled without RTTI, as the library's headers demand, and throws this; what
// is in bindings/ has RTTI, as pybind11 demands, and catches it.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_PYTHON_CORE_FAILURE_H
#define GLOWISH_PYTHON_CORE_FAILURE_H

#include <string>

namespace glowish::python {

/// An error with its one line.
struct Failure {
  enum class Kind {
    /// Of the model, or of what is asked for: glowish.Error.
    Compiler,
    /// Of an argument: also a ValueError, or a TypeError.
    Value,
    Type
  };
  Kind kind;
  std::string line;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_FAILURE_H
