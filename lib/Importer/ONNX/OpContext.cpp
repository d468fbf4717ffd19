//===- OpContext.cpp - An ONNX node being imported ------------------------===//

#include "ONNX/OpContext.h"
#include "ONNX/FunctionExtents.h"
#include "ONNX/GraphScope.h"
#include "ONNX/ModelFile.h"
#include "glowish/Support/Escape.h"

using namespace glowish;
using namespace glowish::onnximport;
using onnx::AttributeProto;

OpContext::OpContext(const onnx::NodeProto &proto, GraphContext &graph,
                     std::vector<NodeValue> inputs)
    : ImportedOp(graph.function, "",
                 {graph.evaluate, graph.foldingBudget,
                  graph.variables != nullptr, graph.variables}),
      proto(proto), graph(graph), opset(graph.opsets.get(proto).getVersion("")),
      inputs(std::move(inputs)), inputRead(this->inputs.size()),
      attrRead(proto.attribute_size()) {
  nameAfterOutput(0);
}

llvm::StringRef OpContext::getNodeName() const {
  return proto.name().empty() && proto.output_size() ? proto.output(0)
                                                     : proto.name();
}

void OpContext::setClassNames(unsigned index, std::vector<std::string> names) {
  graph.scope->getState().classNames[getOutputName(index)] = std::move(names);
}

llvm::Error OpContext::warn(llvm::StringRef line) const {
  return graph.scope->warn(proto, line);
}

//===- Inputs -------------------------------------------------------------===//

llvm::Expected<NodeValue> OpContext::getInput(unsigned index) const {
  if (hasSequence(index))
    return refuseInput(index, "a tensor");
  if (!hasInput(index))
    return makeError("input {0} is missing", index);
  inputRead[index] = true;
  return peekInput(index);
}

NodeValue OpContext::peekInput(unsigned index) const {
  return keepsExtents ? inputs[index] : graph.extents->drop(inputs[index]);
}

const Sequence *OpContext::findSequence(unsigned index) const {
  if (index >= inputs.size() || inputs[index] || proto.input(index).empty())
    return nullptr;
  return graph.scope->lookupSequence(proto.input(index));
}

llvm::Expected<const Sequence *> OpContext::getSequence(unsigned index) const {
  const Sequence *sequence = findSequence(index);
  if (!sequence)
    return makeError("input {0} is no sequence", index);
  inputRead[index] = true;
  return sequence;
}

llvm::Expected<GraphValue> OpContext::getValue(unsigned index) const {
  if (hasSequence(index)) {
    GLOWISH_ASSIGN_OR_RETURN(const Sequence *sequence, getSequence(index));
    return GraphValue{.tensor = {}, .sequence = *sequence};
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor, getInput(index));
  return GraphValue{.tensor = tensor};
}

NodeValue OpContext::input(unsigned index) const {
  if (!hasInput(index))
    return {};
  inputRead[index] = true;
  return peekInput(index);
}

std::string OpContext::describeInput(unsigned index) const {
  return hasSequence(index) ? "a sequence or an optional"
                            : ImportedOp::describeInput(index);
}

//===- Strings ------------------------------------------------------------===//

bool OpContext::hasStrings(unsigned index) const {
  return graph.scope->hasStrings(getInputName(index));
}

std::vector<int64_t>
OpContext::numberStrings(llvm::ArrayRef<std::string> texts) const {
  return graph.scope->getState().strings.getAll(texts);
}

llvm::Error OpContext::setStrings(const onnx::TensorProto &proto) {
  GLOWISH_ASSIGN_OR_RETURN(Tensor numbers,
                           graph.scope->getState().strings.read(proto));
  areStrings = true;
  return setOutput(0, createConstant(std::move(numbers)));
}

//===- Extents ------------------------------------------------------------===//

NodeValue OpContext::compute(const Extent &extent) {
  return graph.extents->getValue(extent);
}

NodeValue OpContext::declare(NodeValue value,
                             llvm::ArrayRef<NodeValue> lengths) {
  Lengths open(lengths.begin(), lengths.end());
  for (auto [d, length] : llvm::enumerate(open))
    if (auto *constant = length.getNodeAs<Constant>(); value && constant) {
      value = crop(value, d, constant->getTensor().getAsInt(0), std::nullopt);
      length = {};
    }
  if (!value || llvm::none_of(open, [](NodeValue x) { return bool(x); }))
    return value;
  for (auto [d, length] : llvm::enumerate(open))
    if (const Extent *own = value.getType().getExtent(d); own && !length)
      length = compute(*own);
  return graph.extents->declare(value, open);
}

ExtentFinder OpContext::makeFinder() const {
  return graph.extents->makeFinder();
}

Extent OpContext::getExtent(NodeValue length, int64_t bound) {
  return graph.extents->getExtent(length, bound, getName());
}

NodeValue OpContext::restate(NodeValue value, const Type &type) {
  return value ? graph.extents->restate(value, type) : value;
}

NodeValue OpContext::repack(NodeValue value, const Type &type) {
  if (!value || !type.hasExtents())
    return NodeBuilder::repack(value, type);
  return graph.extents->repack(value, type);
}

NodeValue OpContext::dropExtents(NodeValue value) {
  return graph.extents->drop(value);
}

Lengths OpContext::getLengths(NodeValue value) {
  Lengths lengths;
  if (value)
    lengths = graph.extents->getValues(value.getType());
  lengths.resize(value ? value.getShape().size() : 0);
  return lengths;
}

NodeValue OpContext::crop(NodeValue value, unsigned dim, int64_t size,
                          std::optional<Extent> extent) {
  const Extent *own = value ? value.getType().getExtent(dim) : nullptr;
  bool isSame = own ? extent == *own : !extent;
  if (!value || (isSame && value.getShape()[dim] == size))
    return value;
  ExtentList extents(value.getType().getExtents());
  extents.resize(value.getShape().size());
  extents[dim] = std::move(extent);
  NodeValue part = slice(dropExtents(value), dim, 0, size);
  return part ? restate(part, part.getType().withExtents(extents)) : part;
}

void OpContext::setBound(NodeValue extent, int64_t bound) {
  // A constant is its own bound, and its address may be reused.
  if (!llvm::isa<Constant>(extent.node))
    graph.scope->getState().bounds[extent] = bound;
}

std::optional<int64_t> OpContext::findBound(NodeValue extent) const {
  const auto &bounds = graph.scope->getState().bounds;
  auto found = bounds.find(extent);
  if (found == bounds.end())
    return std::nullopt;
  return found->second;
}

llvm::Expected<int64_t> OpContext::getMaxExtent(unsigned index, unsigned dim,
                                                double known) const {
  std::string output =
      int(index) < proto.output_size() ? proto.output(index) : "";
  double most = std::max(known, 0.0);
  const auto &maxExtents = graph.scope->getState().options.maxExtents;
  auto stated = maxExtents.find(output);
  if (stated != maxExtents.end()) {
    graph.scope->getState().boundValues.insert(output);
    most = std::min(most, double(stated->second));
  }
  // Larger values are the range of the element kind, not an extent.
  if (most < double(INT32_MAX))
    return int64_t(most);
  return makeError("the extent of dimension {0} of its output '{1}' is known "
                   "only when the model runs, and nothing bounds it; state "
                   "«max-extent={1},N»",
                   dim, output);
}

//===- Attributes ---------------------------------------------------------===//

const AttributeProto *OpContext::findAttr(llvm::StringRef name) const {
  for (int i = 0; i < proto.attribute_size(); ++i) {
    if (proto.attribute(i).name() != name)
      continue;
    attrRead[i] = true;
    return &proto.attribute(i);
  }
  return nullptr;
}

/// Returns the types whose contents \p attr has: one as a rule, none of an
/// empty list, or where a writer leaves out a number that is 0.
static llvm::SmallVector<AttributeProto::AttributeType, 1>
getStoredTypes(const AttributeProto &attr) {
  const std::pair<bool, AttributeProto::AttributeType> stored[] = {
      {attr.has_f(), AttributeProto::FLOAT},
      {attr.has_i(), AttributeProto::INT},
      {attr.has_s(), AttributeProto::STRING},
      {attr.has_t(), AttributeProto::TENSOR},
      {attr.has_g(), AttributeProto::GRAPH},
      {attr.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR},
      {attr.has_tp(), AttributeProto::TYPE_PROTO},
      {attr.floats_size() > 0, AttributeProto::FLOATS},
      {attr.ints_size() > 0, AttributeProto::INTS},
      {attr.strings_size() > 0, AttributeProto::STRINGS},
      {attr.tensors_size() > 0, AttributeProto::TENSORS},
      {attr.graphs_size() > 0, AttributeProto::GRAPHS},
      {attr.sparse_tensors_size() > 0, AttributeProto::SPARSE_TENSORS},
      {attr.type_protos_size() > 0, AttributeProto::TYPE_PROTOS}};
  llvm::SmallVector<AttributeProto::AttributeType, 1> types;
  for (auto [isStored, type] : stored)
    if (isStored)
      types.push_back(type);
  return types;
}

/// Returns the type that \p attr states, or that of its contents, as files
/// before IR version 2 do not state it.
static AttributeProto::AttributeType getType(const AttributeProto &attr) {
  if (attr.type() != AttributeProto::UNDEFINED)
    return attr.type();
  auto stored = getStoredTypes(attr);
  return stored.empty() ? AttributeProto::UNDEFINED : stored.front();
}

static llvm::Error checkType(const AttributeProto &attr,
                             AttributeProto::AttributeType type) {
  bool hasMessage = type == AttributeProto::GRAPH ||
                    type == AttributeProto::TENSOR ||
                    type == AttributeProto::SPARSE_TENSOR;
  AttributeProto::AttributeType own = getType(attr);
  if (own == type || (own == AttributeProto::UNDEFINED && !hasMessage))
    return llvm::Error::success();
  return makeError("attribute '{0}' is of type {1}; accepted: {2}", attr.name(),
                   AttributeProto::AttributeType_Name(own),
                   AttributeProto::AttributeType_Name(type));
}

/// Returns an error if \p attr has the contents of several types, or of another
/// one than it states.
static llvm::Error checkContents(const AttributeProto &attr) {
  auto stored = getStoredTypes(attr);
  if (stored.size() > 1)
    return makeError("attribute '{0}' has values of the types {1} and {2}; "
                     "accepted: one",
                     attr.name(), AttributeProto::AttributeType_Name(stored[0]),
                     AttributeProto::AttributeType_Name(stored[1]));
  if (!stored.empty() && stored[0] != getType(attr))
    return makeError("attribute '{0}' is of type {1} and has a value of type "
                     "{2}; accepted: one type",
                     attr.name(),
                     AttributeProto::AttributeType_Name(attr.type()),
                     AttributeProto::AttributeType_Name(stored[0]));
  return llvm::Error::success();
}

const AttributeProto *
OpContext::findAttr(llvm::StringRef name,
                    AttributeProto::AttributeType type) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return nullptr;
  if (llvm::Error error = checkType(*attr, type)) {
    std::string text = llvm::toString(std::move(error));
    if (wrongAttr.empty())
      wrongAttr = std::move(text);
    return nullptr;
  }
  return attr;
}

int64_t OpContext::getInt(llvm::StringRef name, int64_t defaultValue) const {
  const AttributeProto *attr = findAttr(name, AttributeProto::INT);
  return attr ? attr->i() : defaultValue;
}

double OpContext::getFloat(llvm::StringRef name, double defaultValue) const {
  const AttributeProto *attr = findAttr(name, AttributeProto::FLOAT);
  return attr ? attr->f() : float(defaultValue); // as a file would state it
}

std::string OpContext::getString(llvm::StringRef name,
                                 llvm::StringRef defaultValue) const {
  const AttributeProto *attr = findAttr(name, AttributeProto::STRING);
  return attr ? attr->s() : defaultValue.str();
}

std::vector<int64_t>
OpContext::getInts(llvm::StringRef name,
                   llvm::ArrayRef<int64_t> defaultValue) const {
  const AttributeProto *attr = findAttr(name, AttributeProto::INTS);
  return attr ? std::vector<int64_t>(attr->ints().begin(), attr->ints().end())
              : defaultValue.vec();
}

std::vector<std::string> OpContext::getStrings(llvm::StringRef name) const {
  const AttributeProto *attr = findAttr(name, AttributeProto::STRINGS);
  if (!attr)
    return {};
  return {attr->strings().begin(), attr->strings().end()};
}

std::vector<double> OpContext::getFloats(llvm::StringRef name) const {
  const AttributeProto *attr = findAttr(name, AttributeProto::FLOATS);
  if (!attr)
    return {};
  return {attr->floats().begin(), attr->floats().end()};
}

llvm::Expected<std::shared_ptr<const Tensor>>
OpContext::getTensor(llvm::StringRef name) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return makeError("attribute '{0}' is missing", name);
  GLOWISH_RETURN_IF_ERROR(checkType(*attr, AttributeProto::TENSOR));
  return addContext(readTensor(attr->t(), graph.external),
                    "attribute '" + name + "': ");
}

llvm::Expected<std::shared_ptr<const Tensor>>
OpContext::getSparseTensor(llvm::StringRef name) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return makeError("attribute '{0}' is missing", name);
  GLOWISH_RETURN_IF_ERROR(checkType(*attr, AttributeProto::SPARSE_TENSOR));
  return addContext(readSparseTensor(attr->sparse_tensor(), graph.external),
                    "attribute '" + name + "': ");
}

llvm::Expected<const onnx::GraphProto *>
OpContext::getGraph(llvm::StringRef name) const {
  const AttributeProto *attr = findAttr(name);
  if (!attr)
    return makeError("attribute '{0}' is missing", name);
  GLOWISH_RETURN_IF_ERROR(checkType(*attr, AttributeProto::GRAPH));
  return &attr->g();
}

llvm::Expected<std::vector<int64_t>>
OpContext::getIntsOrInput(llvm::StringRef name, unsigned index,
                          llvm::ArrayRef<int64_t> defaultValue) const {
  if (hasInput(index))
    return getConstantInts(index);
  return getInts(name, defaultValue);
}

llvm::Expected<std::vector<int64_t>>
OpContext::getRequiredInts(llvm::StringRef name, unsigned index) const {
  if (hasInput(index) || hasAttr(name))
    return getIntsOrInput(name, index, {});
  return makeError("'{0}' is given neither as input {1} nor as an attribute",
                   name, index);
}

llvm::Expected<int64_t> OpContext::getAxis(llvm::StringRef name,
                                           int64_t defaultValue,
                                           unsigned rank) const {
  int64_t axis = getInt(name, defaultValue);
  // Some exporters write -1 as an unsigned 32-bit number.
  if (axis > INT32_MAX && axis <= UINT32_MAX)
    axis = int32_t(axis);
  return addContext(normalizeAxis(axis, rank), "attribute '" + name + "' is ");
}

//===- Creating nodes -----------------------------------------------------===//

llvm::Expected<NodeValue> OpContext::reshape(NodeValue value, DimsRef shape,
                                             llvm::StringRef suffix) {
  if (value.getShape() == shape)
    return value;
  return createHelper<ReshapeNode>(suffix, value, shape);
}

//===- Outputs ------------------------------------------------------------===//

bool OpContext::wantsOutput(unsigned index) const {
  return int(index) < proto.output_size() && !proto.output(index).empty() &&
         graph.uses.count(proto.output(index));
}

void OpContext::nameAfterOutput(unsigned index) {
  if (!getOutputName(index).empty())
    setName(getOutputName(index));
  if (getName().empty())
    setName(proto.name().empty() ? proto.op_type() : proto.name());
}

llvm::Error OpContext::setOutput(unsigned index,
                                 llvm::Expected<NodeValue> value) {
  if (!value)
    return value.takeError();
  if (outputs.size() <= index)
    outputs.resize(index + 1);
  outputs[index] = *value;
  return llvm::Error::success();
}

llvm::Error OpContext::setValue(unsigned index, GraphValue value) {
  if (value.sequence) {
    setSequence(std::move(*value.sequence), index);
    return llvm::Error::success();
  }
  return setOutput(index, value.tensor);
}

//===- Checks before and after the operator's importer --------------------===//

const google::protobuf::RepeatedPtrField<AttributeProto> &
OpContext::getAttrs() const {
  attrRead.assign(attrRead.size(), true);
  return proto.attribute();
}

llvm::Error OpContext::checkAttrs() const {
  llvm::StringSet<> names;
  for (const AttributeProto &attr : proto.attribute()) {
    if (!names.insert(attr.name()).second)
      return makeError("attribute '{0}' is given twice", attr.name());
    if (attr.type() == AttributeProto::GRAPHS || attr.graphs_size())
      return makeError("attribute '{0}' is a list of graphs; accepted: "
                       "numbers, strings, tensors and graphs",
                       attr.name());
    GLOWISH_RETURN_IF_ERROR(checkContents(attr));
    if (!attr.ref_attr_name().empty())
      return makeError("attribute '{0}' refers to an attribute of a function",
                       attr.name());
  }
  return llvm::Error::success();
}

bool OpContext::isUnknownAttr(int index) const {
  return !attrRead[index] &&
         isUnknownAttribute(proto.domain(), proto.op_type(),
                            proto.attribute(index).name(),
                            graph.opsets.get(proto).getVersion(proto.domain()));
}

std::vector<llvm::StringRef> OpContext::getUnknownAttrs() const {
  std::vector<llvm::StringRef> names;
  for (int i = 0; i < proto.attribute_size(); ++i)
    if (isUnknownAttr(i))
      names.push_back(proto.attribute(i).name());
  return names;
}

/// Returns the version of the domain of \p node in a message: "opset 17", or
/// "version 1 of domain 'com.microsoft'".
static std::string describeVersion(const onnx::NodeProto &node,
                                   const NodeOpsets &opsets) {
  std::string domain = normalizeDomain(node.domain());
  int version = opsets.get(node).getVersion(domain);
  return domain.empty() ? "opset " + std::to_string(version)
                        : llvm::formatv("version {0} of domain {1}", version,
                                        quote(domain))
                              .str();
}

llvm::Error OpContext::checkAttrTypes() const {
  return wrongAttr.empty() ? llvm::Error::success()
                           : makeError("{0}", wrongAttr);
}

llvm::Error OpContext::checkAllRead() const {
  std::string where = describeVersion(proto, graph.opsets);
  for (int i = 0; i < proto.attribute_size(); ++i) {
    // A hint for in-place computation, removed in opset 6.
    bool isHint = opset < 6 && proto.attribute(i).name() == "consumed_inputs";
    if (!attrRead[i] && proto.attribute(i).has_g())
      return makeError("attribute '{0}' is a graph; accepted: numbers, "
                       "strings and tensors",
                       proto.attribute(i).name());
    if (!attrRead[i] && !isHint && !isUnknownAttr(i))
      return makeError("attribute '{0}' is not supported in {1}",
                       proto.attribute(i).name(), where);
  }
  for (unsigned i = 0; i < inputs.size(); ++i)
    if ((inputs[i] || hasSequence(i)) && !inputRead[i])
      return makeError("input {0} ('{1}') is not supported in {2}", i,
                       proto.input(i), where);
  return checkExtents();
}

llvm::Error OpContext::checkExtents() const {
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || keepsExtents)
      continue;
    for (auto [dim, extent] : llvm::enumerate(inputs[i].getType().getExtents()))
      if (extent)
        return makeError("the extent of dimension {0} of input {1} ('{2}') is "
                         "known only when the model runs, at most {3}; "
                         "accepted here: a constant one, as where the inputs "
                         "that decide it are constants",
                         dim, i, proto.input(i), inputs[i].getShape()[dim]);
  }
  return llvm::Error::success();
}
