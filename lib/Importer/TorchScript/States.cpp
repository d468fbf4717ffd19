//===- States.cpp - Attributes that a program changes ---------------------===//
//
// A program is imported with the attributes that the archive states. If it
// changes some of them, it is imported again, with these as states: tensors, or
// numbers that the graph computes. Where an attribute that decides what is
// executed changes in the first run (whether there is a state at all, the
// extent of it), the graph has two programs, one for the first run and one for
// all others. A run begins with states of zeros; a flag among them tells that
// it is the first one.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/States.h"
#include "Common/Messages.h"
#include "Common/Outputs.h"
#include "Common/StateSet.h"
#include "TorchScript/Exits.h"
#include "TorchScript/ModelInputs.h"
#include <set>

using namespace glowish;
using namespace glowish::torchscript;

namespace {

/// What attributes become. Those of an execution, and those that later runs
/// begin with.
struct AttributePlan {
  /// States that are tensors, or numbers that the graph computes.
  std::map<std::string, Type> states;
  /// Those that are numbers.
  std::set<std::string> numbers;
  /// What others are known to be from the second run on.
  std::map<std::string, ScriptValue> known;
  /// Pairs of attributes that share memory after a run.
  std::set<std::pair<std::string, std::string>> sharing;
  /// Whether the first run executes another program than the others.
  bool hasFirstRun = false;
};

/// An attribute after an execution.
struct ChangedAttribute {
  std::string name;
  ScriptValue value;
  /// The elements of a tensor, or a number that the graph computes.
  NodeValue leaf = {};
  /// The type of what it was before, if that was a tensor or a number.
  std::optional<Type> before = {};
};

/// What an execution of the program leaves.
struct Execution {
  std::vector<ModelOutput> outputs;
  std::vector<ModelInputs::Written> inputs;
  std::vector<ChangedAttribute> changes;
  /// Pairs of attributes that share memory.
  std::set<std::pair<std::string, std::string>> sharing;

  const ChangedAttribute *find(llvm::StringRef name) const {
    for (const ChangedAttribute &change : changes)
      if (change.name == name)
        return &change;
    return nullptr;
  }
};

/// Imports a program with attributes as planned.
class PlannedImport {
public:
  PlannedImport(const Program &program, const ImportOptions &options,
                AttributePlan &plan)
      : program(program), options(options), plan(plan),
        module(std::make_unique<Module>(program.name)),
        function(*module->createFunction("main")),
        inputs(program, *module, options), flag(function) {}

  /// The module; none if the plan was wrong. It is a better one then.
  llvm::Expected<std::unique_ptr<Module>> import();

private:
  llvm::Expected<Execution> execute(ScriptScope &scope,
                                    const ScriptAttributes &attributes);
  llvm::Error readChanges(ScriptInterpreter &in, Execution &execution);
  void findSharing(ScriptInterpreter &in, Execution &execution);
  llvm::Expected<bool> improvePlan(const Execution &execution, bool isFirst);
  void createStates();
  void setState(ScriptAttributes &attributes, const std::string &name,
                NodeValue value) const {
    if (plan.numbers.contains(name))
      attributes[name].other = value;
    else
      attributes[name].tensor = value;
  }
  llvm::Expected<ScriptAttributes> getInitial();
  ScriptAttributes getLater() const;
  llvm::Expected<NodeValue> orInitial(const std::string &name);
  llvm::Expected<NodeValue> getArchived(const std::string &name,
                                        const Type &type);
  llvm::Expected<bool> importOnce();
  llvm::Expected<bool> importWithFirstRun();
  llvm::Expected<std::vector<NodeValue>>
  getResults(const Execution &execution, bool isFirst, OpenBody *body);
  void saveOutputs(const Execution &execution,
                   llvm::ArrayRef<NodeValue> values);
  void saveStates(llvm::ArrayRef<NodeValue> values);

  const Program &program;
  const ImportOptions &options;
  AttributePlan &plan;
  std::unique_ptr<Module> module;
  Function &function;
  ModelInputs inputs;
  FoldingBudget budget;
  /// By the names of the plan's states.
  std::map<std::string, Placeholder *> states;
  RunFlag flag;
};

} // namespace

//===- Executions ---------------------------------------------------------===//

/// Finds attributes that were set to tensors which share memory with other
/// ones: in the next run these are states of their own.
void PlannedImport::findSharing(ScriptInterpreter &in, Execution &execution) {
  std::map<const ScriptStorage *, std::set<std::string>> users;
  for (const ChangedAttribute &change : execution.changes)
    if (change.value.isTensor())
      change.value.getTensor()->place->forEachStorage(
          [&](const std::shared_ptr<ScriptStorage> &storage) {
            users[storage.get()].insert(change.name);
          });
  for (const ScriptAttribute &attribute : in.getTensors())
    if (auto own = users.find(attribute.storage.get());
        own != users.end() && !execution.find(attribute.name))
      own->second.insert(attribute.name);
  for (const auto &[storage, names] : users)
    for (const std::string &name : names)
      for (const std::string &other : names)
        if (name < other)
          execution.sharing.emplace(name, other);
}

/// Finds the attributes that are others after the execution.
llvm::Error PlannedImport::readChanges(ScriptInterpreter &in,
                                       Execution &execution) {
  for (const auto &[index, object] : in.getObjects()) {
    const std::string &path = object->stored->path;
    for (const auto &[name, value] : object->attributes) {
      auto *before = object->before.find(name);
      if (before != object->before.end() && areSame(before->second, value))
        continue;
      ChangedAttribute change{.name = path + (path.empty() ? "" : ".") + name,
                              .value = value};
      if (value.isList() || value.isDict() || value.isObject())
        return makeError("it sets the attribute {0} to {1}; accepted: tensors "
                         "and numbers",
                         quote(change.name), value.describe());
      if (value.isOpen())
        return makeError("it sets the attribute {0} to {1}; accepted: extents "
                         "that no run decides",
                         quote(change.name), value.describe());
      if (value.isTensor()) {
        GLOWISH_ASSIGN_OR_RETURN(change.leaf,
                                 in.memory.read(value.getTensor()->place));
      } else if (value.isComputed()) {
        change.leaf = in.makeScalar(value);
      }
      if (before != object->before.end())
        change.before = before->second.getType();
      execution.changes.push_back(std::move(change));
    }
  }
  findSharing(in, execution);
  for (const ScriptAttribute &attribute : in.getTensors()) {
    NodeValue value = attribute.storage->value;
    if (execution.find(attribute.name))
      continue;
    if (attribute.storage->isConflicting)
      return makeError("it is known only when the model runs whether the "
                       "attribute {0} shares memory with another tensor, which "
                       "is changed",
                       quote(attribute.name));
    if (value == attribute.before)
      continue;
    ChangedAttribute change{attribute.name, in.memory.createDense(value), value,
                            value.getType()};
    execution.changes.push_back(std::move(change));
  }
  return llvm::Error::success();
}

llvm::Expected<Execution>
PlannedImport::execute(ScriptScope &scope, const ScriptAttributes &attributes) {
  ScriptInterpreter in(program, scope, options, budget, attributes);
  inputs.set(in);
  // The archive has what is shared before the first run.
  if (!attributes.empty()) {
    in.sharing = plan.sharing;
    for (const auto &[name, other] : plan.sharing) {
      GLOWISH_RETURN_IF_ERROR(in.loadAttribute(name));
      GLOWISH_RETURN_IF_ERROR(in.loadAttribute(other));
    }
  }
  GLOWISH_RETURN_IF_ERROR(in.run(program.body));
  Execution execution;
  GLOWISH_ASSIGN_OR_RETURN(execution.outputs, readOutputs(in));
  execution.inputs = inputs.getWritten();
  for (const ModelInputs::Written &input : execution.inputs)
    if (input.value.getType().hasExtents())
      return makeError("it changes the input {0}, {1}; accepted: extents that "
                       "no run decides",
                       quote(input.placeholder->getModelName()),
                       input.value.getType().str());
  GLOWISH_RETURN_IF_ERROR(readChanges(in, execution));
  return execution;
}

//===- Plans --------------------------------------------------------------===//

/// Adds to the plan what \p execution changes that it doesn't have: whether
/// there is nothing. \p isFirst: attributes were those of the archive.
llvm::Expected<bool> PlannedImport::improvePlan(const Execution &execution,
                                                bool isFirst) {
  bool isRight = true;
  for (const auto &pair : execution.sharing)
    isRight &= !plan.sharing.insert(pair).second;
  for (const ChangedAttribute &change : execution.changes) {
    const std::string &name = change.name;
    bool isState = plan.states.contains(name);
    std::optional<Type> type = change.value.getType();
    if (isState && (!type || *type != plan.states.at(name)))
      return makeError("the attribute {0} is {1} after one run and {2} after "
                       "another one; accepted: one type",
                       quote(name), plan.states.at(name).str(),
                       change.value.describe());
    if (isState)
      continue;
    if (auto known = plan.known.find(name); known != plan.known.end()) {
      if (areSame(known->second, change.value) || isFirst)
        continue;
      // It changes in each run.
      plan.known.erase(known);
      if (!type)
        return makeError("the attribute {0} changes in each run; accepted: "
                         "tensors and numbers",
                         quote(name));
      plan.numbers.insert(name);
    } else if (!change.value.isTensor() && !change.value.isComputed()) {
      plan.known[name] = change.value;
      plan.hasFirstRun = true;
      isRight = false;
      continue;
    }
    if (change.value.isComputed())
      plan.numbers.insert(name);
    plan.states.insert_or_assign(name, *type);
    plan.hasFirstRun |= !change.before || *change.before != *type;
    isRight = false;
  }
  return isRight;
}

/// Returns the tensor called \p name: \p value, which is called \p own, or a
/// part of it where it is complex or quantized. None if it is another one.
static ScriptValue takeNamed(const ScriptValue &value, const std::string &own,
                             llvm::StringRef name) {
  if (!value.isComplex() && !value.isQuantized())
    return name == own ? value : ScriptValue();
  const ScriptList &parts = value.getList();
  for (auto [part, tensor] : llvm::zip_equal(parts.names, parts.elements))
    if (name == own + "." + part)
      return tensor;
  return {};
}

/// What the archive has for the state \p name, of type \p type.
llvm::Expected<NodeValue> PlannedImport::getArchived(const std::string &name,
                                                     const Type &type) {
  ScriptAttributes attributes;
  ScriptScope scope{function};
  ScriptInterpreter in(program, scope, options, budget, attributes);
  for (size_t i = 0; i < program.objects.size(); ++i) {
    std::shared_ptr<ScriptObject> object = in.getObject(i);
    const std::string &path = object->stored->path;
    for (const auto &[own, constant] : object->stored->attributes) {
      std::string full = path + (path.empty() ? "" : ".") + own;
      if (!llvm::StringRef(name).starts_with(full))
        continue;
      GLOWISH_ASSIGN_OR_RETURN(ScriptValue value,
                               in.getAttribute(*object, own));
      value = takeNamed(value, full, name);
      if (value.getType() != type)
        continue;
      return value.isTensor() ? in.memory.read(value.getTensor()->place)
                              : in.makeScalar(value);
    }
  }
  for (auto [i, tensor] : llvm::enumerate(program.tensors)) {
    ProgramConstant constant{.kind = ProgramConstant::Kind::Tensor, .index = i};
    ScriptValue value = takeNamed(in.makeConstant(constant),
                                  ScriptInterpreter::getConstantName(i), name);
    if (value.isTensor() && value.getTensor()->getType() == type)
      return value.getTensor()->place->getStorage()->value;
  }
  return makeError("the attribute {0} has no value of type {1} before the "
                   "first run",
                   quote(name), type.str());
}

static bool isZero(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  return constant && llvm::all_of(constant->getTensor().getByteRange(),
                                  [](uint8_t byte) { return byte == 0; });
}

void PlannedImport::createStates() {
  for (const auto &[name, type] : plan.states) {
    states[name] = module->createPlaceholder(
        getUniqueModelName(*module, name, "_state"), type, /*isInput=*/true,
        /*isOutput=*/true);
  }
}

/// The state \p name, or, before the first run, what the archive has for it.
llvm::Expected<NodeValue> PlannedImport::orInitial(const std::string &name) {
  NodeValue state(states[name]);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue archived,
                           getArchived(name, state.getType()));
  if (isZero(archived))
    return state;
  NodeBuilder b(function, name);
  return b.finish(b.select(flag.get(), state, archived));
}

llvm::Expected<ScriptAttributes> PlannedImport::getInitial() {
  ScriptAttributes attributes;
  for (const auto &[name, type] : plan.states) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, orInitial(name));
    setState(attributes, name, value);
  }
  return attributes;
}

/// Attributes from the second run on.
ScriptAttributes PlannedImport::getLater() const {
  ScriptAttributes attributes;
  for (const auto &[name, placeholder] : states)
    setState(attributes, name, NodeValue(placeholder));
  for (const auto &[name, value] : plan.known)
    attributes[name].other = value;
  return attributes;
}

//===- Results ------------------------------------------------------------===//

/// Saves the outputs and the inputs that were written to, with \p values in
/// their place.
void PlannedImport::saveOutputs(const Execution &execution,
                                llvm::ArrayRef<NodeValue> values) {
  for (const ModelOutput &output : execution.outputs) {
    NodeValue value = values.front();
    values = values.drop_front();
    // An input may have the name.
    createOutput(function, getUniqueModelName(*module, output.name, "_output"),
                 value);
  }
  for (const ModelInputs::Written &input : execution.inputs) {
    NodeValue value = values.front();
    values = values.drop_front();
    Placeholder &placeholder = *input.placeholder;
    module->makeState(placeholder, placeholder.getType().getShape());
    function.create<SaveNode>(("save_" + placeholder.getName()).str(), value,
                              NodeValue(&placeholder));
  }
}

void PlannedImport::saveStates(llvm::ArrayRef<NodeValue> values) {
  for (auto [state, value] : llvm::zip_equal(states, values))
    function.create<SaveNode>("save_" + state.first, value,
                              NodeValue(state.second));
  flag.save();
}

/// Outputs, inputs that were written to, and states after \p execution, in the
/// function that it made nodes in.
llvm::Expected<std::vector<NodeValue>>
PlannedImport::getResults(const Execution &execution, bool isFirst,
                          OpenBody *body) {
  std::vector<NodeValue> values;
  for (const ModelOutput &output : execution.outputs)
    values.push_back(output.value);
  for (const ModelInputs::Written &input : execution.inputs)
    values.push_back(input.value);
  for (const auto &[name, placeholder] : states) {
    const ChangedAttribute *change = execution.find(name);
    NodeValue value;
    if (change && change->leaf) {
      value = change->leaf;
    } else if (change) {
      ScriptAttributes none;
      ScriptScope scope{function};
      value = ScriptInterpreter(program, scope, options, budget, none)
                  .makeScalar(change->value);
    } else if (isFirst) {
      GLOWISH_ASSIGN_OR_RETURN(value,
                               getArchived(name, placeholder->getType()));
    } else if (body) {
      value = NodeValue(placeholder);
    } else {
      // Another method changes it.
      GLOWISH_ASSIGN_OR_RETURN(value, orInitial(name));
    }
    bool isOutside = llvm::isa<Placeholder>(value.node) &&
                     !llvm::cast<Placeholder>(value.node)->getOwner();
    values.push_back(body && isOutside ? body->enter(value) : value);
  }
  return values;
}

//===- Import -------------------------------------------------------------===//

llvm::Expected<bool> PlannedImport::importOnce() {
  GLOWISH_ASSIGN_OR_RETURN(ScriptAttributes attributes, getInitial());
  ScriptScope scope{function};
  GLOWISH_ASSIGN_OR_RETURN(Execution execution, execute(scope, attributes));
  GLOWISH_ASSIGN_OR_RETURN(bool isRight,
                           improvePlan(execution, /*isFirst=*/true));
  if (!isRight)
    return false;
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<NodeValue> values,
      getResults(execution, /*isFirst=*/false, /*body=*/nullptr));
  size_t count = values.size() - states.size();
  saveOutputs(execution, values);
  saveStates(llvm::ArrayRef(values).drop_front(count));
  return true;
}

llvm::Expected<bool> PlannedImport::importWithFirstRun() {
  if (!options.symbolRanges.empty())
    return makeError("the first run is another program than those after it, "
                     "and a run decides the symbol {0}; accepted: a value of "
                     "it",
                     quote(options.symbolRanges.begin()->first));
  ScriptScope scope{function};
  OpenBody later(*module, "later"), first(*module, "first");
  ScriptScope laterScope{later.getFunction(), &later, &scope},
      firstScope{first.getFunction(), &first, &scope};
  ScriptAttributes laterAttributes = getLater(), firstAttributes;
  GLOWISH_ASSIGN_OR_RETURN(Execution laterRun,
                           execute(laterScope, laterAttributes));
  GLOWISH_ASSIGN_OR_RETURN(bool isRight,
                           improvePlan(laterRun, /*isFirst=*/false));
  if (!isRight)
    return false;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> laterValues,
                           getResults(laterRun, /*isFirst=*/false, &later));
  first.enterCaptures(later);
  GLOWISH_ASSIGN_OR_RETURN(Execution firstRun,
                           execute(firstScope, firstAttributes));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> firstValues,
                           getResults(firstRun, /*isFirst=*/true, &first));
  later.enterCaptures(first);
  if (laterRun.outputs.size() != firstRun.outputs.size() ||
      laterRun.inputs.size() != firstRun.inputs.size())
    return makeError("the first run has other outputs than those after it");
  for (auto [x, y] : llvm::zip_equal(laterValues, firstValues)) {
    if (x.getType() != y.getType())
      return makeError("the first run computes {0}, and those after it {1}; "
                       "accepted: one type",
                       y.getType().str(), x.getType().str());
    later.getFunction().addResult("result", x);
    first.getFunction().addResult("result", y);
  }
  std::shared_ptr<Body> laterBody = later.getAttr(),
                        firstBody = first.getAttr();
  GLOWISH_ASSIGN_OR_RETURN(
      IfNode *node, function.tryCreate<IfNode>("run", flag.get(), laterBody,
                                               firstBody, later.getCaptures()));
  std::vector<NodeValue> values;
  for (unsigned i = 0; i < node->getNumResults(); ++i)
    values.push_back(node->getResult(i));
  saveOutputs(laterRun, values);
  saveStates(llvm::ArrayRef(values).take_back(states.size()));
  return true;
}

llvm::Expected<std::unique_ptr<Module>> PlannedImport::import() {
  GLOWISH_RETURN_IF_ERROR(inputs.create());
  createStates();
  GLOWISH_ASSIGN_OR_RETURN(bool isRight, plan.hasFirstRun ? importWithFirstRun()
                                                          : importOnce());
  if (!isRight)
    return nullptr;
  eraseUnusedConstants(*module);
  return std::move(module);
}

//===- Methods ------------------------------------------------------------===//

static bool hasAttribute(const Program &program, llvm::StringRef name) {
  return llvm::any_of(program.objects, [&](const ProgramObject &object) {
    llvm::StringRef own = name;
    if (!object.path.empty() &&
        !(own.consume_front(object.path) && own.consume_front(".")))
      return false;
    return llvm::any_of(object.attributes, [&](const auto &attribute) {
      return attribute.first == own;
    });
  });
}

/// Whether an input of \p program, or one in a list, may be called \p name.
static bool hasInput(const Program &program, llvm::StringRef name) {
  return llvm::any_of(program.inputs, [&](const ProgramInput &input) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(input.name))
      return false;
    bool isTensor = input.type.kind == ProgramType::Kind::Tensor;
    return rest.empty() || (!isTensor && rest.starts_with("."));
  });
}

/// Refuses states that are not the same ones in \p method as in others: those
/// that belong to its code, or have another name beside its inputs.
static llvm::Error checkShared(const ScriptMethod &method,
                               const AttributePlan &plan) {
  if (!plan.known.empty())
    return makeError("the attribute {0} is another one after the first run and "
                     "decides what is executed; accepted with several methods: "
                     "attributes that are tensors, or numbers that change in "
                     "each run",
                     quote(plan.known.begin()->first));
  auto names = llvm::to_vector(llvm::make_first_range(plan.states));
  for (const std::string &name : names)
    if (!hasAttribute(method.program, name))
      return makeError("a constant of the code, {0}, is written to; accepted "
                       "with several methods: attributes",
                       quote(name));
  if (!names.empty())
    names.push_back("initialized");
  for (const std::string &name : names)
    if (hasInput(method.program, name))
      return makeError("the method {0} has an input and a state {1}; accepted "
                       "with several methods: another name of the input",
                       quote(method.options.method), quote(name));
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::unique_ptr<Module>>>
torchscript::importMethods(llvm::ArrayRef<ScriptMethod> methods) {
  AttributePlan plan;
  const size_t maxAttempts = 8 * methods.size() * methods.size();
  std::vector<std::unique_ptr<Module>> modules;
  for (size_t attempt = 0; attempt < maxAttempts; ++attempt) {
    // With a better plan, all of them are imported again.
    const auto &[program, options] = methods[modules.size()];
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                             PlannedImport(program, options, plan).import());
    if (!module) {
      modules.clear();
      continue;
    }
    modules.push_back(std::move(module));
    if (modules.size() < methods.size())
      continue;
    for (const ScriptMethod &method : methods)
      if (methods.size() > 1)
        GLOWISH_RETURN_IF_ERROR(checkShared(method, plan));
    return std::move(modules);
  }
  return makeError("the attributes that it changes are others after each run");
}
