//===- Bindings.h - The parts of the extension module -----------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_BINDINGS_BINDINGS_H
#define GLOWISH_PYTHON_BINDINGS_BINDINGS_H

#include "core/Settings.h"
#include <exception>
#include <pybind11/pybind11.h>

namespace glowish::python {

void addBundleBindings(pybind11::module_ &module);
void addModelBindings(pybind11::module_ &module);
void addTrainingBindings(pybind11::module_ &module);

/// Makes Python's error of a failure, or of another exception.
void translateFailure(std::exception_ptr pointer);

/// The options that \p pairs of names and texts state, in their order.
Settings makeSettings(SettingUse use, const pybind11::list &pairs);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_BINDINGS_BINDINGS_H
