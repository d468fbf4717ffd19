//===- Module.cpp - The extension module _glowish -------------------------===//

#include "bindings/Arrays.h"
#include "bindings/Bindings.h"
#include "core/Checksum.h"
#include "core/Failure.h"
#include "core/MemoryModel.h"

namespace py = pybind11;
using namespace glowish::python;

Settings glowish::python::makeSettings(SettingUse use, const py::list &pairs) {
  Settings settings(use);
  for (py::handle pair : pairs) {
    auto both = pair.cast<std::pair<std::string, std::string>>();
    settings.set(both.first, both.second);
  }
  return settings;
}

static py::list listOptions() {
  py::list result;
  for (const SettingInfo &info : listSettings()) {
    py::list choices, uses;
    for (const auto &[name, description] : info.choices)
      choices.append(py::make_tuple(name, description));
    for (const std::string &use : info.uses)
      uses.append(use);
    result.append(py::make_tuple(info.name, info.group, info.description,
                                 info.form, info.valueName, py::tuple(choices),
                                 py::tuple(uses)));
  }
  return result;
}

/// The element types of the compiler, in the order of their numbers, with the
/// types of arrays.
static py::dict listKinds() {
  py::dict result;
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  result[SPELLING] = py::dtype(getTypeName(glowish::ElemKind::ENUM));
#include "glowish/Base/ElemKinds.def"
  return result;
}

static uint64_t checksum(const py::buffer &buffer) {
  py::buffer_info info = buffer.request();
  py::gil_scoped_release released;
  return computeChecksum(info.ptr, size_t(info.size * info.itemsize));
}

static std::unique_ptr<MemoryModel> makeMemoryModel(const py::buffer &buffer,
                                                    const std::string &name) {
  py::buffer_info info = buffer.request();
  py::gil_scoped_release released;
  return std::make_unique<MemoryModel>(info.ptr,
                                       size_t(info.size * info.itemsize), name);
}

/// The class of the module glowish for failures of a kind.
static const char *getErrorClass(Failure::Kind kind) {
  switch (kind) {
  case Failure::Kind::Value:
    return "ArgumentError";
  case Failure::Kind::Type:
    return "ArgumentTypeError";
  default:
    return "Error";
  }
}

/// pybind11 asks for those that it does not have itself.
static void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Failure &failure) {
    py::object type = py::module_::import("glowish._errors")
                          .attr(getErrorClass(failure.kind));
    PyErr_SetString(type.ptr(), failure.line.c_str());
  }
}

void glowish::python::translateFailure(std::exception_ptr pointer) {
  try {
    translate(pointer);
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

PYBIND11_MODULE(_glowish, module) {
  module.doc() = "The compiler glowish: what its Python module calls.";
  module.attr("version") = GLOWISH_VERSION;
  py::register_exception_translator(translate);
  module.def("list_options", listOptions);
  module.def("list_kinds", listKinds);
  py::class_<MemoryModel>(module, "MemoryModel")
      .def(py::init(&makeMemoryModel), py::arg("buffer"), py::arg("name"))
      .def_property_readonly("path", &MemoryModel::getPath);
  module.def("checksum", checksum, py::arg("buffer"),
             "XXH64 with seed 0: of a bundle's weights.");
  addBundleBindings(module);
  addModelBindings(module);
  addTrainingBindings(module);
}
