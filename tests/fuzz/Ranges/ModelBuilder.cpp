//===- ModelBuilder.cpp - Builds random models with ranges ----------------===//

#include "ModelBuilder.h"
#include "../GraphTarget.h"
#include "../Values.h"
#include "Forms/Form.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

/// What a value has at most, so that a model is quick.
static constexpr int64_t mostElements = 6000;
static constexpr unsigned mostRank = 6;

//===- Attributes ---------------------------------------------------------===//

static onnx::AttributeProto makeAttr(const char *name,
                                     onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto attr;
  attr.set_name(name);
  attr.set_type(type);
  return attr;
}
onnx::AttributeProto fuzz::makeAttr(const char *name, int64_t value) {
  onnx::AttributeProto attr = ::makeAttr(name, onnx::AttributeProto::INT);
  attr.set_i(value);
  return attr;
}
onnx::AttributeProto fuzz::makeAttr(const char *name, double value) {
  onnx::AttributeProto attr = ::makeAttr(name, onnx::AttributeProto::FLOAT);
  attr.set_f(float(value));
  return attr;
}
onnx::AttributeProto fuzz::makeAttr(const char *name, const char *value) {
  onnx::AttributeProto attr = ::makeAttr(name, onnx::AttributeProto::STRING);
  attr.set_s(value);
  return attr;
}
onnx::AttributeProto fuzz::makeAttr(const char *name,
                                    llvm::ArrayRef<int64_t> values) {
  onnx::AttributeProto attr = ::makeAttr(name, onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attr.add_ints(value);
  return attr;
}

//===- Symbols ------------------------------------------------------------===//

static const IntRange ranges[] = {{0, 9},  {1, 17}, {1, 33}, {0, 5},
                                  {2, 11}, {1, 7},  {3, 21}, {0, 14}};

ModelBuilder::ModelBuilder(Random &random, const Form *form) : random(random) {
  model.form = form;
  model.ranges["S"] = ranges[random.below(std::size(ranges))];
  if (chance(50))
    model.ranges["P"] = ranges[random.below(std::size(ranges))];
  // The least, the largest and one between, of each symbol in an order of its
  // own.
  constexpr unsigned numRuns = 3;
  model.runs.resize(numRuns);
  for (const auto &[symbol, range] : model.ranges) {
    int64_t extents[] = {range.low, range.high,
                         pickFrom(range.low + 1, range.high - 1)};
    for (unsigned i = numRuns; i-- > 0;) {
      std::swap(extents[i], extents[random.below(i + 1)]);
      model.runs[i][symbol] = extents[i];
    }
  }
  points = model.runs;
  // What fits together at these points does so at all.
  for (auto pickExtent :
       {+[](IntRange range) { return range.low; },
        +[](IntRange range) { return range.high; },
        +[](IntRange range) { return (2 * range.low + range.high + 1) / 3; }}) {
    RunExtents point;
    for (const auto &[symbol, range] : model.ranges)
      point[symbol] = pickExtent(range);
    if (!llvm::is_contained(points, point))
      points.push_back(point);
  }
  model.proto.set_ir_version(10);
  model.proto.add_opset_import()->set_version(23);
  onnx::OperatorSetIdProto *microsoft = model.proto.add_opset_import();
  microsoft->set_domain("com.microsoft");
  microsoft->set_version(1);
  model.proto.mutable_graph()->set_name("fuzz");
  for (const char *text : {"S", "P", "P + S", "S + 1", "2*S", "S + 3"})
    if (model.ranges.count("P") || !llvm::StringRef(text).contains('P'))
      addDim(text);
  numRanged = dims.size();
  for (const char *text : {"1", "2", "3", "4", "5", "8", "16"})
    addDim(text);
  committed = getSizes();
}

void ModelBuilder::addDim(const std::string &text) {
  ExtentPoints extent;
  for (const RunExtents &point : points)
    extent.push_back(*llvm::cantFail(evaluateDim(text, point)));
  dims.emplace_back(text, extent);
}

ExtentPoints ModelBuilder::pickRanged() {
  // Symbols are the most frequent.
  size_t index = random.below(numRanged);
  return dims[chance(60) ? random.below(model.ranges.size()) : index].second;
}

ExtentPoints ModelBuilder::pickExtent() {
  if (chance(50))
    return pickRanged();
  return dims[numRanged + random.below(dims.size() - numRanged)].second;
}

std::optional<std::string>
ModelBuilder::getText(const ExtentPoints &extent) const {
  for (const auto &[text, own] : dims)
    if (own == extent)
      return text;
  if (isConstant(extent) && extent[0] >= 0)
    return std::to_string(extent[0]);
  return std::nullopt;
}

//===- Values -------------------------------------------------------------===//

const ModelValue *
ModelBuilder::pick(llvm::function_ref<bool(const ModelValue &)> fits) const {
  std::vector<const ModelValue *> found;
  for (const ModelValue &value : values)
    if (fits(value))
      found.push_back(&value);
  if (found.empty())
    return nullptr;
  // Mostly one of the last, so that models are deep.
  size_t index = random.below(found.size());
  if (random.below(2))
    index = std::max(index, size_t(random.below(found.size())));
  return found[index];
}

const ModelValue *ModelBuilder::pickFixed(
    llvm::function_ref<bool(const ModelValue &)> fits) const {
  return pick(
      [&](const ModelValue &value) { return !value.isOpen && fits(value); });
}

const ModelValue *ModelBuilder::pickFloats(unsigned leastRank) const {
  return pickFixed([&](const ModelValue &value) {
    return value.isFloat() && value.getRank() >= leastRank;
  });
}

//===- Transactions -------------------------------------------------------===//

std::vector<std::string>
ModelBuilder::addNode(const char *op, std::vector<std::string> inputs,
                      std::vector<onnx::AttributeProto> attrs,
                      unsigned numOutputs, const char *domain) {
  onnx::NodeProto *node = model.proto.mutable_graph()->add_node();
  node->set_op_type(op);
  if (*domain)
    node->set_domain(domain);
  for (std::string &input : inputs)
    node->add_input(std::move(input));
  for (onnx::AttributeProto &attr : attrs)
    *node->add_attribute() = std::move(attr);
  std::vector<std::string> outputs;
  for (unsigned i = 0; i < numOutputs; ++i) {
    outputs.push_back("v" + std::to_string(nextName++));
    node->add_output(outputs.back());
  }
  return outputs;
}

std::string ModelBuilder::addConstant(const Tensor &tensor) {
  onnx::TensorProto *proto = model.proto.mutable_graph()->add_initializer();
  proto->set_name("c" + std::to_string(nextName++));
  ElemKind kind = tensor.getType().getKind();
  proto->set_data_type(*getOnnxDataType(kind));
  for (int64_t dim : tensor.getType().getShape())
    proto->add_dims(dim);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (kind == ElemKind::Float)
      proto->add_float_data(float(tensor.getAsDouble(i)));
    else if (kind == ElemKind::Double)
      proto->add_double_data(tensor.getAsDouble(i));
    else if (kind == ElemKind::Int64)
      proto->add_int64_data(tensor.getAsInt(i));
    else if (isFloatKind(kind)) {
      uint16_t bits;
      std::memcpy(&bits, tensor.getByteRange().data() + 2 * i, sizeof(bits));
      proto->add_int32_data(bits);
    } else
      proto->add_int32_data(int32_t(tensor.getAsInt(i)));
  }
  return proto->name();
}

std::string ModelBuilder::addConstant(ElemKind kind, DimsRef shape) {
  std::string name =
      (chance(70) ? "unit" : "whole") + std::to_string(random.below(10000));
  return addConstant(makeValues(name, Type(kind, shape)));
}

std::string ModelBuilder::addInts(llvm::ArrayRef<int64_t> ints) {
  return addConstant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {int64_t(ints.size())}), ints));
}

std::string ModelBuilder::addInt(int64_t value) {
  return addConstant(
      Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {value}));
}

std::optional<ModelValue> ModelBuilder::addInput(ElemKind kind,
                                                 const Shape &shape) {
  onnx::ValueInfoProto input;
  auto *type = input.mutable_type()->mutable_tensor_type();
  type->set_elem_type(*getOnnxDataType(kind));
  auto *dimList = type->mutable_shape();
  ModelValue value;
  for (const ExtentPoints &extent : shape) {
    std::optional<std::string> text = getText(extent);
    if (!text)
      return std::nullopt;
    if (isConstant(extent))
      dimList->add_dim()->set_dim_value(extent[0]);
    else
      dimList->add_dim()->set_dim_param(*text);
    auto range = llvm::cantFail(boundDim(*text, model.ranges));
    value.largest.push_back(range ? range->high : extent[0]);
  }
  // Special values are few: what they spread to is not compared.
  unsigned number = unsigned(random.below(100));
  const char *name = number < 55   ? "unit"
                     : number < 70 ? "whole"
                     : number < 85 ? "positive"
                     : number < 99 ? "wide"
                                   : "special";
  if (!isFloatKind(kind))
    name = "whole";
  // Numbers of their own: no two are alike.
  value.name = name + std::to_string(1000 * random.below(1000) + nextName++);
  value.kind = kind;
  value.shape = shape;
  input.set_name(value.name);
  *model.proto.mutable_graph()->add_input() = std::move(input);
  values.push_back(value);
  return value;
}

std::optional<ModelValue> ModelBuilder::findOperand(ElemKind kind,
                                                    const Shape &shape) {
  if (chance(60))
    if (const ModelValue *found = pickFixed([&](const ModelValue &value) {
          return value.kind == kind && value.shape == shape;
        }))
      return *found;
  if (!isConstant(shape) || chance(30))
    return addInput(kind, shape);
  Dims dims;
  for (const ExtentPoints &extent : shape)
    dims.push_back(extent[0]);
  ModelValue value;
  if (countElements(dims) > mostElements)
    return std::nullopt;
  value.name = addConstant(kind, dims);
  value.kind = kind;
  value.shape = shape;
  value.largest = dims;
  return value;
}

std::string ModelBuilder::addExtent(const ModelValue &value, unsigned dim) {
  if (chance(50))
    return addNode("Shape", {value.name},
                   {fuzz::makeAttr("start", int64_t(dim)),
                    fuzz::makeAttr("end", int64_t(dim + 1))});
  std::string shape = addNode("Shape", {value.name});
  return addNode("Gather", {shape, addInts({int64_t(dim)})});
}

std::optional<std::string> ModelBuilder::addShape(const Shape &shape,
                                                  const ModelValue &value) {
  std::vector<std::string> parts;
  for (const ExtentPoints &extent : shape) {
    if (isConstant(extent)) {
      parts.push_back(addInts({extent[0]}));
      continue;
    }
    auto found = llvm::find(value.shape, extent);
    if (found == value.shape.end())
      return std::nullopt;
    parts.push_back(addExtent(value, unsigned(found - value.shape.begin())));
  }
  if (parts.empty())
    return addInts({});
  return parts.size() == 1
             ? parts[0]
             : addNode("Concat", parts, {fuzz::makeAttr("axis", int64_t(0))});
}

//===- Import -------------------------------------------------------------===//

ModelBuilder::Sizes ModelBuilder::getSizes() const {
  const onnx::GraphProto &graph = model.proto.graph();
  return {graph.node_size(), graph.input_size(), graph.initializer_size(),
          values.size(), model.states.size()};
}

void ModelBuilder::cancel() {
  onnx::GraphProto &graph = *model.proto.mutable_graph();
  auto shorten = [](auto &list, int size) {
    list.DeleteSubrange(size, list.size() - size);
  };
  shorten(*graph.mutable_node(), committed.nodes);
  shorten(*graph.mutable_input(), committed.inputs);
  shorten(*graph.mutable_initializer(), committed.initializers);
  values.resize(committed.values);
  model.states.resize(committed.states);
}

RangedModel ModelBuilder::finish(std::vector<std::string> outputs,
                                 bool withStates) const {
  RangedModel result = model;
  if (withStates)
    for (const StateNames &state : model.states)
      if (!llvm::is_contained(outputs, state.output))
        outputs.push_back(state.output);
  for (const std::string &output : outputs)
    result.proto.mutable_graph()->add_output()->set_name(output);
  result.dropUnused();
  return result;
}

/// The outputs of the nodes of the transaction, without types.
std::vector<ModelValue> ModelBuilder::getAdded() const {
  std::vector<ModelValue> added;
  const onnx::GraphProto &graph = model.proto.graph();
  for (int i = committed.nodes; i < graph.node_size(); ++i)
    for (const std::string &output : graph.node(i).output())
      added.emplace_back().name = output;
  return added;
}

/// The elements that are saved to \p output, if it is a small constant.
static std::optional<std::vector<int64_t>> findElements(Module &module,
                                                        Placeholder &output) {
  constexpr int64_t mostKnown = 64;
  if (!isIntegerKind(output.getType().getKind()) ||
      output.getType().getNumElements() > mostKnown)
    return std::nullopt;
  for (Node &node : module.getFunctions().front()->getNodes()) {
    auto *save = llvm::dyn_cast<SaveNode>(&node);
    if (!save || save->getOutput().node != &output)
      continue;
    auto *constant = save->getInput().getNodeAs<Constant>();
    if (!constant)
      return std::nullopt;
    std::vector<int64_t> elements;
    for (int64_t i = 0; i < output.getType().getNumElements(); ++i)
      elements.push_back(constant->getTensor().getAsInt(i));
    return elements;
  }
  return std::nullopt;
}

bool ModelBuilder::importPoints(const RangedModel &candidate,
                                std::vector<ModelValue> &added) const {
  for (const RunExtents &point : points) {
    RunExtents own = point;
    std::erase_if(own, [&](const auto &value) {
      return !candidate.ranges.count(value.first);
    });
    auto module = candidate.importFixed(own);
    if (!module) {
      llvm::consumeError(module.takeError());
      return false;
    }
    for (ModelValue &value : added) {
      Placeholder *output = (*module)->findPlaceholder(value.name);
      const Type &type = output->getType();
      if (type.getRank() > mostRank || type.getNumElements() > mostElements)
        return false;
      if (value.shape.empty())
        value.shape.resize(type.getRank());
      if (value.shape.size() != type.getRank())
        return false;
      value.kind = type.getKind();
      value.isOpen |= output->getExtents() != nullptr;
      for (unsigned d = 0; d < type.getRank(); ++d)
        value.shape[d].push_back(type.getDim(d));
      if (auto elements = findElements(**module, *output))
        value.elements.push_back(std::move(*elements));
    }
  }
  for (ModelValue &value : added)
    if (value.elements.size() != points.size())
      value.elements.clear();
  return true;
}

/// "... node 'NAME' (OP): ..." names the operator OP; a state has none.
static std::string findOperator(llvm::StringRef message) {
  if (message.contains("«state»: the output '"))
    return "-state";
  auto [before, after] = message.split("node '");
  llvm::StringRef op = after.split("' (").second.split(')').first;
  return message.contains('\n') ? "" : op.str();
}

/// The dimensions of \p output whose extents are computed in a run.
static std::set<unsigned> findDynamicDims(Module &module,
                                          const Placeholder &output) {
  std::set<unsigned> dims;
  for (Node &node : module.getFunctions().front()->getNodes()) {
    auto *save = llvm::dyn_cast<SaveNode>(&node);
    if (!save || !output.getExtents() ||
        save->getOutput().node != output.getExtents())
      continue;
    // The extents of each dimension side by side.
    auto *all = save->getInput().getNodeAs<ConcatNode>();
    for (unsigned d = 0; d < output.getType().getRank(); ++d)
      if (!all || !all->getOperand(d).getNodeAs<Constant>())
        dims.insert(d);
  }
  return dims;
}

BuildVerdict ModelBuilder::importRanges(const RangedModel &candidate,
                                        std::vector<ModelValue> &added) {
  auto module = candidate.importRanged();
  if (module.errorIsA<Inexpressible>()) {
    llvm::consumeError(module.takeError());
    return BuildVerdict::Wrong;
  }
  if (!module) {
    refusal = llvm::toString(module.takeError());
    refusedOperator = findOperator(refusal);
    return BuildVerdict::Refused;
  }
  for (ModelValue &value : added) {
    if (Placeholder *output =
            (*module)->findPlaceholder(candidate.getOutputName(value.name))) {
      value.largest = Dims(output->getType().getShape());
      value.dynamicDims = findDynamicDims(**module, *output);
      continue;
    }
    // A state is in the place of its input.
    for (auto [d, extent] : llvm::enumerate(value.shape)) {
      value.largest.push_back(*std::max_element(extent.begin(), extent.end()));
      value.dynamicDims.insert(unsigned(d));
    }
  }
  return BuildVerdict::Accepted;
}

/// Whether the form has counterparts of the operators of the transaction.
bool ModelBuilder::isTaken() const {
  const onnx::GraphProto &graph = model.proto.graph();
  for (int i = committed.nodes; model.form && i < graph.node_size(); ++i)
    if (!model.form->takes(graph.node(i).op_type()))
      return false;
  return true;
}

BuildVerdict ModelBuilder::commit() {
  if (!isTaken()) {
    cancel();
    return BuildVerdict::Wrong;
  }
  std::vector<ModelValue> added = getAdded();
  std::vector<std::string> outputs;
  for (const ModelValue &value : added)
    outputs.push_back(value.name);
  RangedModel candidate = finish(outputs, /*withStates=*/false);
  if (trace)
    trace(candidate);
  BuildVerdict verdict = importPoints(candidate, added)
                             ? importRanges(candidate, added)
                             : BuildVerdict::Wrong;
  bool isSmall = llvm::all_of(added, [](const ModelValue &value) {
    return countElements(value.largest) <= mostElements;
  });
  if (verdict == BuildVerdict::Accepted && !isSmall)
    verdict = BuildVerdict::Wrong;
  if (verdict == BuildVerdict::Accepted) {
    values.insert(values.end(), added.begin(), added.end());
    committed = getSizes();
  } else {
    cancel();
  }
  return verdict;
}
