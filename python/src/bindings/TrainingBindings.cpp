//===- TrainingBindings.cpp - Models that learn in this process -----------===//

#include "bindings/Arrays.h"
#include "bindings/Bindings.h"
#include "bindings/Watch.h"
#include "core/TrainedModel.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace glowish;
using namespace glowish::python;

static std::unique_ptr<TrainedModel>
makeTrainedModel(const std::vector<std::string> &paths, const py::list &options,
                 const py::dict &batches, const py::array &labels,
                 const std::string &initializer) {
  TrainRequest request;
  request.paths = paths;
  request.initializer = initializer;
  // Only their types are used.
  for (auto [name, batch] : batches) {
    std::string text = py::cast<std::string>(name);
    request.batches[text] = readArray(batch, text, std::nullopt).view;
  }
  request.labels = readArray(labels, "labels", std::nullopt).view;
  Settings settings = makeSettings(SettingUse::Train, options);
  std::unique_ptr<TrainedModel> model;
  watch(py::none(), [&] {
    model = std::make_unique<TrainedModel>(std::move(settings), request);
  });
  return model;
}

static py::list listInputs(const TrainedModel &model) {
  py::list result;
  for (const ValueInfo &info : model.getInputs())
    result.append(makeValue(info));
  return result;
}

/// Sets inputs and label, and makes one step.
static double runStep(TrainedModel &model, const py::dict &arrays,
                      double learningRate) {
  std::map<std::string, ElemKind> kinds;
  for (const ValueInfo &info : model.getInputs())
    kinds[info.name] = *info.kind;
  for (auto [name, object] : arrays) {
    std::string text = py::cast<std::string>(name);
    model.setInput(text, readArray(object, text, kinds.at(text)).view);
  }
  py::gil_scoped_release released;
  return model.runStep(learningRate);
}

static py::dict infer(TrainedModel &model, const py::dict &arrays) {
  std::map<std::string, ElemKind> kinds;
  for (const ValueInfo &info : model.getInputs())
    kinds[info.name] = *info.kind;
  std::vector<InputArray> owners;
  std::map<std::string, TensorView> views;
  for (auto [name, object] : arrays) {
    std::string text = py::cast<std::string>(name);
    owners.push_back(readArray(object, text, kinds.at(text)));
    views[text] = owners.back().view;
  }
  std::vector<NamedView> outputs;
  watch(py::none(), [&] { outputs = model.infer(views); });
  py::dict result;
  for (const NamedView &output : outputs)
    result[py::str(output.name)] = makeArray(output.view);
  return result;
}

static py::dict getVariables(const TrainedModel &model) {
  py::dict result;
  for (const ValueInfo &info : model.getVariables())
    result[py::str(info.name)] = makeArray(model.getVariable(info.name));
  return result;
}

static void setVariable(TrainedModel &model, const std::string &name,
                        const py::object &value) {
  for (const ValueInfo &info : model.getVariables())
    if (info.name == name)
      return model.setVariable(name, readArray(value, name, info.kind).view);
  throw py::key_error(name);
}

void glowish::python::addTrainingBindings(py::module_ &module) {
  py::class_<TrainedModel>(module, "TrainedModel")
      .def(py::init(&makeTrainedModel), py::arg("paths"), py::arg("options"),
           py::arg("batches"), py::arg("labels"), py::arg("initializer"))
      .def_property_readonly("inputs", &listInputs)
      .def_property_readonly("output_name", &TrainedModel::getOutputName)
      .def_property_readonly("loss_name", &TrainedModel::getLossName)
      .def("run_step", &runStep, py::arg("arrays"), py::arg("learning_rate"))
      .def("prediction",
           [](const TrainedModel &model) {
             return makeArray(model.getPrediction());
           })
      .def("find_non_finite", &TrainedModel::findNonFinite,
           py::call_guard<py::gil_scoped_release>())
      .def("infer", &infer, py::arg("arrays"))
      .def("variables", &getVariables)
      .def("set_variable", &setVariable, py::arg("name"), py::arg("value"))
      .def("save", &TrainedModel::save, py::arg("path"),
           py::call_guard<py::gil_scoped_release>())
      .def("take_warnings", &TrainedModel::takeWarnings);
}
