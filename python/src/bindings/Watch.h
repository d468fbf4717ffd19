//===- Watch.h - Progress and Ctrl-C ----------------------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_BINDINGS_WATCH_H
#define GLOWISH_PYTHON_BINDINGS_WATCH_H

#include <functional>
#include <pybind11/pybind11.h>

namespace glowish::python {

/// Runs \p work, which uses nothing of Python's, without the GIL. \p progress
/// is None, or called with what is done and the share that is done. An
/// exception of that, or of a handler of signals (KeyboardInterrupt), cancels
/// the work and is thrown. The log goes to Python's logging meanwhile.
void watch(const pybind11::object &progress, std::function<void()> work);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_BINDINGS_WATCH_H
