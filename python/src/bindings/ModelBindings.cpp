//===- ModelBindings.cpp - Models that run in this process ----------------===//

#include "bindings/Arrays.h"
#include "bindings/Bindings.h"
#include "bindings/Watch.h"
#include "core/Failure.h"
#include "core/LoadedModel.h"
#include <mutex>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace glowish;
using namespace glowish::python;

namespace {

/// Holds the lock of a model. A thread that waits for it has released the GIL,
/// so that the thread that has it can take that.
class ModelLock {
public:
  explicit ModelLock(std::mutex &mutex) : mutex(mutex) {
    if (mutex.try_lock())
      return;
    py::gil_scoped_release released;
    mutex.lock();
  }
  ModelLock(const ModelLock &) = delete;
  ~ModelLock() { mutex.unlock(); }

private:
  std::mutex &mutex;
};

/// Lets other threads run Python. Less than pybind11's class does, in the way
/// of every call.
class GilRelease {
public:
  GilRelease() : state(PyEval_SaveThread()) {}
  GilRelease(const GilRelease &) = delete;
  ~GilRelease() { PyEval_RestoreThread(state); }

private:
  PyThreadState *state;
};

/// What a call is given, and what it makes.
struct Call {
  /// For each input of the model; null where none is given.
  std::vector<PyObject *> objects;
  /// What keeps the elements of those that are no plain arrays.
  std::vector<InputArray> arrays;
  /// For each input of the program.
  std::vector<ArrayShape> shapes;
  std::vector<py::object> outputs;
};

/// A model as Python calls it.
class Model {
public:
  Model(std::unique_ptr<LoadedModel> loaded, py::object progress)
      : owned(std::move(loaded)), model(*owned), progress(std::move(progress)) {
    readNames();
    readProgram();
  }

  /// Arguments of a call: by position, then those with the names \p keywords, a
  /// tuple or null.
  py::object call(PyObject *const *arguments, size_t numArguments,
                  PyObject *keywords);
  py::dict run(const py::dict &inputs, const py::object &out);
  /// Lets Python show the warnings that a compilation has left.
  void showNewWarnings();
  py::tuple getInputs();
  py::tuple getOutputs();
  py::object getState(const std::string &name);
  void setState(const std::string &name, const py::object &value);
  size_t countCompiled() { return model.countCompiled(); }
  std::vector<std::pair<size_t, size_t>> getSequences() {
    return model.getSequences();
  }

  /// What the Python files keep of the model's file and options.
  py::object origin = py::none();

private:
  void readNames();
  void readProgram();
  size_t findInput(PyObject *name) const;
  void setKeyword(Call &call, PyObject *name, PyObject *object) const;
  void checkGiven(const Call &call, size_t index) const;
  bool readPlain(Call &call) const;
  void readAny(Call &call);
  void makeOutputs(Call &call, const std::vector<py::object> &given);
  void execute(Call &call, const std::vector<py::object> &given);
  std::vector<py::object> readOutArguments(const py::object &out);

  std::unique_ptr<LoadedModel> owned;
  LoadedModel &model;
  /// Told how far compilations are, unless it is None.
  py::object progress;
  std::mutex mutex;
  /// Of the inputs, as interned strings of Python.
  std::vector<py::object> names;
  std::vector<std::optional<ElemKind>> kinds;
  std::vector<bool> isState;
  /// Of the current program.
  const LoadedProgram *program = nullptr;
  std::vector<int> typeNumbers;
  /// Those that Python has not been shown yet.
  std::vector<std::string> warnings;
  /// The call that is under way, whose memory the next one uses again.
  Call current;
};

} // namespace

//===- What the model has -------------------------------------------------===//

void Model::readNames() {
  names.clear();
  kinds.clear();
  isState.clear();
  for (const ValueInfo &info : model.getInputs()) {
    names.push_back(py::reinterpret_steal<py::object>(
        PyUnicode_InternFromString(info.name.c_str())));
    kinds.push_back(info.kind);
    isState.push_back(info.isState);
  }
}

void Model::readProgram() {
  program = model.getProgram();
  typeNumbers.clear();
  if (!program)
    return;
  for (const LoadedProgram::Slot &slot : program->inputs)
    typeNumbers.push_back(getTypeNumber(slot.kind));
}

py::tuple Model::getInputs() {
  ModelLock lock(mutex);
  py::list result;
  for (const ValueInfo &info : model.getInputs())
    result.append(makeValue(info));
  return result;
}

py::tuple Model::getOutputs() {
  ModelLock lock(mutex);
  py::list result;
  for (const ValueInfo &info : model.getOutputs())
    result.append(makeValue(info));
  return result;
}

//===- Arguments ----------------------------------------------------------===//

/// Throws: the model has no input called \p name.
[[noreturn]] static void failName(const std::vector<py::object> &names,
                                  PyObject *name) {
  std::string list;
  for (const py::object &each : names)
    list += (list.empty() ? "'" : ", '") + py::cast<std::string>(each) + "'";
  throw Failure{Failure::Kind::Type,
                "the model has no input '" +
                    std::string(py::str(py::handle(name))) + "'; it has " +
                    list};
}

size_t Model::findInput(PyObject *name) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].ptr() == name)
      return i;
  for (size_t i = 0; i < names.size(); ++i)
    if (PyUnicode_Check(name) && PyUnicode_Compare(names[i].ptr(), name) == 0)
      return i;
  failName(names, name);
}

void Model::setKeyword(Call &call, PyObject *name, PyObject *object) const {
  size_t index = findInput(name);
  if (call.objects[index])
    throw Failure{Failure::Kind::Type, "the input '" +
                                           py::cast<std::string>(names[index]) +
                                           "' is given twice"};
  call.objects[index] = object;
}

/// Throws if input number \p index, which is no state, is not given.
void Model::checkGiven(const Call &call, size_t index) const {
  if (!call.objects[index] && !isState[index])
    throw Failure{Failure::Kind::Type, "the input '" +
                                           py::cast<std::string>(names[index]) +
                                           "' is not given"};
}

/// Whether all inputs are plain arrays that the current program takes.
bool Model::readPlain(Call &call) const {
  if (!program)
    return false;
  for (size_t i = 0; i < call.objects.size(); ++i) {
    PyObject *object = call.objects[i];
    if (!object) {
      if (!isState[i])
        return false;
      call.shapes[i].data = nullptr;
      continue;
    }
    if (!isPlainArray(object, typeNumbers[i], call.shapes[i]) ||
        !program->inputs[i].accepts(call.shapes[i].extents,
                                    call.shapes[i].rank))
      return false;
  }
  return true;
}

/// Reads inputs of any kind, and makes the program for them the current one.
void Model::readAny(Call &call) {
  size_t count = call.objects.size();
  call.arrays.resize(count);
  bool isOther = !program;
  std::map<std::string, TensorView> given;
  for (size_t i = 0; i < count; ++i) {
    std::string name = py::cast<std::string>(names[i]);
    if (!call.objects[i]) {
      call.shapes[i].data = nullptr;
      // Only a program tells which inputs are states.
      if (program)
        checkGiven(call, i);
      continue;
    }
    InputArray &array = call.arrays[i];
    array = readArray(call.objects[i], name, kinds[i]);
    std::vector<int64_t> &shape = array.view.shape;
    call.shapes[i] = {shape.data(), shape.size(), array.view.data};
    given[name] = array.view;
    isOther |=
        !isOther && !program->inputs[i].accepts(shape.data(), shape.size());
  }
  if (!isOther)
    return;
  program = nullptr;
  watch(progress, [&] { model.prepare(given); });
  for (std::string &line : model.takeWarnings())
    warnings.push_back(std::move(line));
  if (model.getInputs().size() != count)
    throw Failure{
        Failure::Kind::Compiler,
        "the compiled model has other inputs than the model declares"};
  readNames();
  readProgram();
  for (size_t i = 0; i < count; ++i)
    checkGiven(call, i);
}

//===- Running ------------------------------------------------------------===//

/// Throws if two outputs that are written at once, or one and an input, share
/// memory.
static void checkOverlaps(const Call &call,
                          const std::vector<LoadedProgram::Slot> &inputs,
                          const std::vector<LoadedProgram::Slot> &outputs) {
  struct Range {
    const char *begin, *end;
    const std::string &name;
  };
  std::vector<Range> ranges;
  auto add = [&](const LoadedProgram::Slot &slot, const void *data) {
    const char *begin = static_cast<const char *>(data);
    for (const Range &other : ranges)
      if (begin < other.end && other.begin < begin + slot.bytes)
        throw Failure{Failure::Kind::Value, "out: the array for '" + slot.name +
                                                "' overlaps with that of '" +
                                                other.name + "'"};
    return Range{begin, begin + slot.bytes, slot.name};
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const char *begin = static_cast<const char *>(call.shapes[i].data);
    if (begin)
      ranges.push_back({begin, begin + inputs[i].bytes, inputs[i].name});
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (call.outputs[i])
      ranges.push_back(add(
          outputs[i], py::detail::array_proxy(call.outputs[i].ptr())->data));
}

/// Makes arrays for the outputs that the program writes itself, or takes those
/// of \p given.
void Model::makeOutputs(Call &call, const std::vector<py::object> &given) {
  const auto &slots = program->outputs;
  call.outputs.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const LoadedProgram::Slot &slot = slots[i];
    if (!slot.isBound)
      continue;
    ArrayShape shape;
    if (i < given.size() && given[i]) {
      if (!isPlainArray(given[i], getTypeNumber(slot.kind), shape) ||
          !slot.accepts(shape.extents, shape.rank) ||
          !py::reinterpret_borrow<py::array>(given[i]).writeable())
        throw Failure{Failure::Kind::Type,
                      "out: the array for '" + slot.name + "' is not " +
                          getTypeName(slot.kind) +
                          " of the output's shape, contiguous and writeable"};
      call.outputs[i] = given[i];
      model.bind(slot, shape.data);
      continue;
    }
    py::array array =
        makeArray(slot.kind, slot.shape.data(), slot.shape.size());
    model.bind(slot, py::detail::array_proxy(array.ptr())->data);
    call.outputs[i] = std::move(array);
  }
  if (!given.empty())
    checkOverlaps(call, program->inputs, slots);
}

/// Runs the program for what \p call has. The outputs go to \p given, where
/// these are not null.
void Model::execute(Call &call, const std::vector<py::object> &given) {
  call.shapes.resize(call.objects.size());
  if (!readPlain(call))
    readAny(call);
  makeOutputs(call, given);
  const auto &inputs = program->inputs;
  {
    GilRelease released;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ArrayShape &shape = call.shapes[i];
      if (inputs[i].isBound)
        model.bind(inputs[i], shape.data);
      else if (call.objects[i])
        model.setInput(inputs[i], {inputs[i].kind,
                                   {shape.extents, shape.extents + shape.rank},
                                   shape.data});
    }
    model.run();
  }
  for (size_t i = 0; i < program->outputs.size(); ++i) {
    if (program->outputs[i].isBound)
      continue;
    py::array array = makeArray(model.getOutput(program->outputs[i]));
    if (i < given.size() && given[i])
      given[i].attr("__setitem__")(py::ellipsis(), array);
    call.outputs[i] = i < given.size() && given[i] ? given[i] : array;
  }
}

py::object Model::call(PyObject *const *arguments, size_t numArguments,
                       PyObject *keywords) {
  ModelLock lock(mutex);
  Call &call = current;
  // What an earlier call has left that failed.
  call.outputs.clear();
  call.arrays.clear();
  call.objects.assign(names.size(), nullptr);
  if (numArguments > names.size())
    throw Failure{Failure::Kind::Type,
                  "the model has " + std::to_string(names.size()) +
                      " inputs, and " + std::to_string(numArguments) +
                      " are given"};
  for (size_t i = 0; i < numArguments; ++i)
    call.objects[i] = arguments[i];
  for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i)
    setKeyword(call, PyTuple_GET_ITEM(keywords, i),
               arguments[numArguments + size_t(i)]);
  execute(call, {});
  py::object result;
  if (call.outputs.size() == 1) {
    result = std::move(call.outputs[0]);
  } else {
    py::tuple tuple(call.outputs.size());
    for (size_t i = 0; i < call.outputs.size(); ++i)
      PyTuple_SET_ITEM(tuple.ptr(), Py_ssize_t(i),
                       call.outputs[i].release().ptr());
    result = std::move(tuple);
  }
  call.outputs.clear();
  call.arrays.clear();
  return result;
}

/// The arrays of \p out, a dictionary, in the order of the outputs.
std::vector<py::object> Model::readOutArguments(const py::object &out) {
  std::vector<py::object> given;
  if (out.is_none())
    return given;
  auto arrays = out.cast<std::map<std::string, py::object>>();
  for (const ValueInfo &info : model.getOutputs()) {
    auto found = arrays.find(info.name);
    given.push_back(found == arrays.end() ? py::object() : found->second);
    if (found != arrays.end())
      arrays.erase(found);
  }
  if (!arrays.empty())
    throw Failure{Failure::Kind::Type, "out: the model has no output '" +
                                           arrays.begin()->first + "'"};
  return given;
}

py::dict Model::run(const py::dict &inputs, const py::object &out) {
  ModelLock lock(mutex);
  Call call;
  call.objects.assign(names.size(), nullptr);
  for (auto [name, object] : inputs)
    setKeyword(call, name.ptr(), object.ptr());
  execute(call, readOutArguments(out));
  py::dict result;
  for (size_t i = 0; i < call.outputs.size(); ++i)
    result[py::str(program->outputs[i].name)] = call.outputs[i];
  return result;
}

/// Not while the lock is held: Python's filters may run anything.
void Model::showNewWarnings() {
  if (!warnings.empty())
    showWarnings(std::exchange(warnings, {}));
}

//===- States -------------------------------------------------------------===//

static const LoadedProgram::Slot &findState(const LoadedProgram *program,
                                            const std::string &name) {
  std::string list;
  if (program)
    for (const LoadedProgram::Slot &slot : program->inputs)
      if (slot.isState) {
        if (slot.name == name)
          return slot;
        list += (list.empty() ? "'" : ", '") + slot.name + "'";
      }
  throw Failure{Failure::Kind::Value,
                "there is no state '" + name + "'; " +
                    (list.empty() ? "there are none" : "there are " + list)};
}

py::object Model::getState(const std::string &name) {
  ModelLock lock(mutex);
  return makeArray(model.getOutput(findState(program, name)));
}

void Model::setState(const std::string &name, const py::object &value) {
  ModelLock lock(mutex);
  const LoadedProgram::Slot &slot = findState(program, name);
  model.setInput(slot, readArray(value, name, slot.kind).view);
}

//===- The class ----------------------------------------------------------===//

// Calls do not go through pybind11, nor through a tuple and a dictionary of
// their arguments: an instance ends with a pointer to a function, by the
// protocol that PEP 590 describes.
static constexpr size_t callOffset = sizeof(py::detail::instance);

static Model &getModel(PyObject *self) {
  auto *instance = reinterpret_cast<py::detail::instance *>(self);
  return *static_cast<Model *>(instance->simple_value_holder[0]);
}

static PyObject *callModel(PyObject *self, PyObject *const *arguments,
                           size_t numArguments, PyObject *keywords) {
  try {
    Model &model = getModel(self);
    py::object result = model.call(
        arguments, size_t(PyVectorcall_NARGS(numArguments)), keywords);
    model.showNewWarnings();
    return result.release().ptr();
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (...) {
    translateFailure(std::current_exception());
  }
  return nullptr;
}

static void setUpCalls(PyHeapTypeObject *heapType) {
  PyTypeObject *type = &heapType->ht_type;
  type->tp_basicsize = callOffset + sizeof(vectorcallfunc);
  type->tp_vectorcall_offset = callOffset;
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  type->tp_call = PyVectorcall_Call;
}

static py::object loadModel(const std::vector<std::string> &paths,
                            const py::list &options,
                            const std::string &cacheFolder, size_t capacity,
                            const py::dict &constants, bool compilesNow,
                            bool compilesQuickly, const py::object &progress) {
  LoadRequest request;
  request.paths = paths;
  request.cacheFolder = cacheFolder;
  request.capacity = capacity;
  request.compilesNow = compilesNow;
  request.compilesQuickly = compilesQuickly;
  std::vector<InputArray> arrays;
  for (auto [name, value] : constants) {
    std::string text = py::cast<std::string>(name);
    if (py::isinstance<py::str>(value)) {
      request.texts[text] = py::cast<std::string>(value);
      continue;
    }
    arrays.push_back(readArray(value, text, std::nullopt));
    request.constants[text] = arrays.back().view;
  }
  Settings settings = makeSettings(SettingUse::Load, options);
  std::unique_ptr<LoadedModel> loaded;
  watch(progress, [&] {
    loaded = std::make_unique<LoadedModel>(std::move(settings), request);
  });
  showWarnings(loaded->takeWarnings());
  py::object self =
      py::cast(std::make_unique<Model>(std::move(loaded), progress));
  auto *call = reinterpret_cast<char *>(self.ptr()) + callOffset;
  *reinterpret_cast<vectorcallfunc *>(call) = callModel;
  return self;
}

void glowish::python::addModelBindings(py::module_ &module) {
  py::class_<Model>(module, "Model", py::custom_type_setup(setUpCalls))
      .def(
          "run",
          [](Model &model, const py::dict &inputs, const py::object &out) {
            py::dict result = model.run(inputs, out);
            model.showNewWarnings();
            return result;
          },
          py::arg("inputs"), py::arg("out") = py::none(),
          "The outputs by their names. inputs: by their names. out: arrays "
          "that "
          "outputs are written to.")
      .def_property_readonly("inputs", &Model::getInputs,
                             "The inputs, of the shapes that were called last, "
                             "or as declared.")
      .def_property_readonly(
          "outputs", &Model::getOutputs,
          "The outputs, of the shapes that were called last, "
          "or as declared.")
      .def("get_state", &Model::getState, py::arg("name"),
           "A copy of what a state has now.")
      .def("set_state", &Model::setState, py::arg("name"), py::arg("value"),
           "Replaces what a state has: zeros begin anew.")
      .def_property_readonly("num_compiled", &Model::countCompiled,
                             "How many programs were compiled, without those "
                             "that a cache had.")
      .def_property_readonly("sequences", &Model::getSequences,
                             "Position and length of each output that is a "
                             "sequence.")
      .def_property(
          "_origin", [](const Model &model) { return model.origin; },
          [](Model &model, py::object origin) {
            model.origin = std::move(origin);
          });
  module.def("load_model", loadModel, py::arg("paths"), py::arg("options"),
             py::arg("cache"), py::arg("capacity"), py::arg("constants"),
             py::arg("compiles_now"), py::arg("compiles_quickly"),
             py::arg("progress") = py::none());
}
