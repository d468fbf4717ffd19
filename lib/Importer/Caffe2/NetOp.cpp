//===- NetOp.cpp - A Caffe2 operator being imported -----------------------===//

#include "Caffe2/NetOp.h"
#include "Caffe2/ExternalOp.h"
#include "Common/External.h"
#include "Common/ProtobufFile.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;
using namespace glowish::caffe2;
using schema::Argument;

//===- Registry -----------------------------------------------------------===//

const RegisteredNetOp *
caffe2::findCaffe2Operator(llvm::StringRef name, const ImportOptions &options) {
  static const RegisteredNetOp external{
      "", importExternalNetOp, {.inputs = {0, manyInputs}}};
  if (findExternalOperator(options, caffe2Domain, name))
    return &external;
  return Caffe2Operators::find(name);
}

bool caffe2::isImplied(const schema::OperatorDef &op,
                       const RegisteredNetOp &registered, unsigned index) {
  const NetOpTraits &traits = registered.traits;
  return index >= traits.firstImplied &&
         (traits.impliedBy.empty() ||
          llvm::any_of(op.arg(), [&](const Argument &arg) {
            return arg.name() == traits.impliedBy;
          }));
}

std::vector<Caffe2OperatorInfo> glowish::listCaffe2Operators() {
  return Caffe2Operators::list<Caffe2OperatorInfo>();
}

//===- Inputs -------------------------------------------------------------===//

NetOp::NetOp(schema::OperatorDef &proto, NetContext &net)
    : ImportedOp(net.function, proto.type(),
                 {net.options.evaluate, net.budget,
                  net.options.variables != nullptr, net.options.variables}),
      proto(proto), net(net), outputs(proto.output_size()),
      argRead(proto.arg_size()) {
  nameAfterOutput(0);
}

llvm::Error NetOp::readInputs() {
  const RegisteredNetOp *registered =
      findCaffe2Operator(getType(), net.options);
  assert(registered && "operators are checked before they are imported");
  const NetOpTraits &traits = registered->traits;
  GLOWISH_RETURN_IF_ERROR(traits.inputs.check(getNumInputs()));
  for (unsigned i = 0; i < getNumInputs(); ++i) {
    inputs.push_back(net.blobs.lookup(getInputName(i)));
    bool mayMiss = net.hasZeroWeights && isImplied(proto, *registered, i);
    if (!inputs[i].value && !mayMiss)
      return makeError("nothing computes its input {0} ({1})", i,
                       quote(getInputName(i)));
    if (inputs[i].quant && !traits.isQuantized)
      return refuseInput(i, "tensors that are not quantized");
    if (inputs[i].fusedRows && !(traits.takesFusedRows && i == 0))
      return refuseInput(i, "plain numbers, as only tables of operators with "
                            "'Fused' in their names have scales in the rows");
  }
  return llvm::Error::success();
}

std::string NetOp::describeInput(unsigned index) const {
  std::string type = ImportedOp::describeInput(index);
  if (!hasInput(index))
    return type;
  if (const FusedRows *rows = inputs[index].fusedRows)
    type += llvm::formatv(", stated as {0}", rows->name);
  return type + (inputs[index].quant ? ", quantized" : "");
}

NodeValue NetOp::weight(unsigned index, DimsRef shape) {
  if (inputs[index].value || hasFailed())
    return inputs[index].value;
  if (llvm::Error error = checkShape(ElemKind::Float, shape))
    return keep(std::move(error));
  inputs[index].value = splat(ElemKind::Float, shape, 0);
  net.blobs[getInputName(index)] = inputs[index];
  net.zeroWeights.push_back(getInputName(index).str());
  return inputs[index].value;
}

//===- Arguments ----------------------------------------------------------===//

const google::protobuf::RepeatedPtrField<Argument> &NetOp::getArgs() const {
  argRead.assign(argRead.size(), true);
  return proto.arg();
}

const Argument *NetOp::findArg(llvm::StringRef name) const {
  readNames.insert(name.str());
  const Argument *found = nullptr;
  for (int i = 0; i < proto.arg_size(); ++i)
    if (proto.arg(i).name() == name) {
      argRead[i] = true;
      found = found ? found : &proto.arg(i);
    }
  return found;
}

void NetOp::failArg(const Argument &arg, llvm::StringRef accepted) {
  keep(makeError("argument {0} has the wrong type; accepted: {1}",
                 quote(arg.name()), accepted));
}

int64_t NetOp::getInt(llvm::StringRef name, int64_t defaultValue) {
  const Argument *arg = findArg(name);
  if (!arg)
    return defaultValue;
  if (arg->has_i())
    return arg->i();
  double number = arg->f();
  if (arg->has_f() && std::abs(number) < 1e15 && number == std::trunc(number))
    return int64_t(number);
  failArg(*arg, "an integer");
  return defaultValue;
}

double NetOp::getFloat(llvm::StringRef name, double defaultValue) {
  const Argument *arg = findArg(name);
  if (!arg)
    return double(float(defaultValue)); // what a file would state
  if (arg->has_f())
    return arg->f();
  if (arg->has_i())
    return double(arg->i());
  failArg(*arg, "a number");
  return defaultValue;
}

std::string NetOp::getString(llvm::StringRef name,
                             llvm::StringRef defaultValue) {
  const Argument *arg = findArg(name);
  if (!arg)
    return defaultValue.str();
  if (!arg->has_s())
    failArg(*arg, "a string");
  return arg->s();
}

std::vector<int64_t> NetOp::getInts(llvm::StringRef name) {
  const Argument *arg = findArg(name);
  if (!arg)
    return {};
  if (arg->floats_size() || arg->has_f() || arg->has_s())
    failArg(*arg, "a list of integers");
  if (arg->has_i() && !arg->ints_size())
    return {arg->i()};
  return std::vector<int64_t>(arg->ints().begin(), arg->ints().end());
}

std::vector<double> NetOp::getFloats(llvm::StringRef name) {
  const Argument *arg = findArg(name);
  if (!arg)
    return {};
  if (arg->ints_size() || arg->has_i() || arg->has_s())
    failArg(*arg, "a list of numbers");
  if (arg->has_f() && !arg->floats_size())
    return {arg->f()};
  return std::vector<double>(arg->floats().begin(), arg->floats().end());
}

llvm::Expected<int64_t> NetOp::getAxis(llvm::StringRef name,
                                       int64_t defaultValue, unsigned rank) {
  llvm::Expected<int64_t> axis =
      normalizeAxis(getInt(name, defaultValue), rank);
  if (!axis)
    return addContext(axis.takeError(), "argument '" + name + "' is ");
  return axis;
}

Argument *NetOp::takeValues() {
  readNames.insert("values");
  for (int i = 0; i < proto.arg_size(); ++i)
    if (proto.arg(i).name() == "values") {
      argRead[i] = true;
      return proto.mutable_arg(i);
    }
  return nullptr;
}

llvm::Expected<bool> NetOp::isNHWC() {
  std::string order = getString("order", "NCHW");
  if (order != "NCHW" && order != "NHWC")
    return makeError("argument 'order' is {0}; accepted: NCHW, NHWC",
                     quote(order));
  return order == "NHWC";
}

llvm::Error NetOp::warn(llvm::StringRef line) const {
  return net.options.report(cleanMessage(line.str()));
}

/// Returns the value of \p arg in a message; several where it has several.
static std::string describeValues(const Argument &arg) {
  std::vector<std::string> values;
  if (arg.has_f())
    values.push_back(typerules::formatDouble(double(arg.f())));
  if (arg.has_i())
    values.push_back(std::to_string(arg.i()));
  if (arg.has_s())
    values.push_back(quote(arg.s()));
  if (int count = arg.floats_size())
    values.push_back(llvm::formatv("{0} floats", count));
  if (int count = arg.ints_size())
    values.push_back(llvm::formatv("{0} integers", count));
  if (int count = arg.strings_size())
    values.push_back(llvm::formatv("{0} strings", count));
  if (arg.has_n() || arg.nets_size())
    values.push_back("a net");
  return llvm::join(values, " and ");
}

/// Whether \p arg has values of several forms.
static bool isAmbiguous(const Argument &arg) {
  int forms = arg.has_f() + arg.has_i() + arg.has_s() +
              (arg.floats_size() > 0) + (arg.ints_size() > 0) +
              (arg.strings_size() > 0) + (arg.has_n() || arg.nets_size());
  return forms > 1;
}

llvm::Error NetOp::checkArgs() {
  std::set<std::string> known = readNames;
  // Hints for libraries of other processors, and arguments of training.
  ignoreArgs({"exhaustive_search", "cudnn_exhaustive_search", "use_cudnn",
              "cudnn_state", "ws_nbytes_limit", "shared_buffer", "is_test",
              "deterministic", "enable_tensor_core", "float16_compute",
              "convolution_transform_strategy", "training_mode", "init_params",
              "allow_broadcast_fastpath", "debug_info", "save_mean"});
  for (int i = 0; i < proto.arg_size(); ++i) {
    const Argument &arg = proto.arg(i);
    if (isAmbiguous(arg))
      return makeError("argument {0} is {1}; accepted: values of one form",
                       quote(arg.name()), describeValues(arg));
    if (!argRead[i])
      return makeError("argument {0} is {1}; accepted: {2}", quote(arg.name()),
                       describeValues(arg),
                       known.empty() ? "no arguments"
                                     : "arguments " + llvm::join(known, ", "));
  }
  return llvm::Error::success();
}

//===- Outputs and nodes --------------------------------------------------===//

void NetOp::nameAfterOutput(unsigned index) {
  if (index < getNumOutputs() && !proto.output(index).empty())
    setName(proto.output(index));
}

llvm::Error NetOp::setOutput(unsigned index, NodeValue value,
                             std::shared_ptr<const QuantParams> quant) {
  GLOWISH_ASSIGN_OR_RETURN(value, finish(value));
  if (index < outputs.size())
    outputs[index] = {value, std::move(quant)};
  return llvm::Error::success();
}

NodeValue NetOp::flattenAt(NodeValue x, unsigned axis) {
  if (!x)
    return x;
  const Type &type = x.getType();
  DimsRef shape = type.getShape();
  std::vector<Extent> lengths = type.getLengths();
  std::optional<Extent> extents[] = {
      multiplyAll(llvm::ArrayRef(lengths).take_front(axis)),
      multiplyAll(llvm::ArrayRef(lengths).drop_front(axis))};
  if (type.hasExtents() && !(extents[0] && extents[1]))
    return keep(makeError("the extents of {0} have too many terms to be joined "
                          "at dimension {1}; accepted: at most {2}, each of at "
                          "most {3} factors",
                          type.str(), axis, Extent::maxTerms,
                          Extent::maxDegree));
  Type matrix = type.withShape({countElements(shape.take_front(axis)),
                                countElements(shape.drop_front(axis))});
  return repack(x, type.hasExtents() ? matrix.withExtents(extents) : matrix);
}
