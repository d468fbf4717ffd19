//===- NetImporter.cpp - Convert Caffe2 nets to a function ----------------===//

#include "Caffe2/NetFile.h"
#include "Caffe2/NetOp.h"
#include "Common/OperatorList.h"
#include "Common/Outputs.h"
#include "Common/ProtobufFile.h"
#include "Common/SymbolInputs.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::caffe2;
using schema::OperatorDef;

namespace {

/// Imports the operators of the init net, then those of the predict net. A blob
/// is the last value assigned to its name.
class NetImporter {
public:
  NetImporter(NetPair &nets, const ImportOptions &options)
      : nets(nets), options(options),
        module(std::make_unique<Module>(
            nets.predict.name().empty() ? "model" : nets.predict.name())),
        context{*module->createFunction("main"), options} {
    context.hasZeroWeights = !nets.hasInit;
  }

  llvm::Expected<std::unique_ptr<Module>> import();

private:
  /// A blob that is read before an operator computes it.
  struct OpenBlob {
    const OperatorDef *reader;
    unsigned index;
  };

  void bindGivenTypes();
  llvm::StringSet<> findStatedWeights() const;
  void findLive();
  llvm::Error checkOperators() const;
  llvm::Error checkNames() const;
  llvm::Error createInputs();
  llvm::Error createInput(const std::string &name, const Type &type);
  void createZeros(llvm::StringRef name, const Type &type);
  llvm::Error checkOpen() const;
  llvm::Error importOp(OperatorDef &op);
  void makeVariables();
  llvm::Error importOutputs();
  llvm::Error warnOfZeroWeights() const;
  std::vector<std::string> getFreeInputs() const;

  NetPair &nets;
  const ImportOptions &options;
  std::unique_ptr<Module> module;
  NetContext context;
  /// Types of inputs by name, from the options and from the tensors that will
  /// be passed.
  std::map<std::string, Type> types;
  /// Names of the inputs whose types come from tensors.
  llvm::StringSet<> given;
  /// Operators that the outputs depend on, in their order, those of the init
  /// net first.
  std::vector<OperatorDef *> live;
  size_t numInitOps = 0;
  /// Blobs that operators read without listing them as inputs.
  llvm::StringSet<> implicitInputs;
  /// Open blobs by name, in the order in which the net lists or reads them.
  llvm::MapVector<llvm::StringRef, OpenBlob> open;
};

} // namespace

//===- Inputs -------------------------------------------------------------===//

/// Returns the blobs that the predict net reads before an operator computes
/// them, those listed as inputs first.
std::vector<std::string> NetImporter::getFreeInputs() const {
  llvm::StringSet<> computed, seen;
  std::vector<std::string> read, names;
  for (const OperatorDef &op : nets.predict.op()) {
    for (const std::string &name : op.input())
      if (!computed.contains(name) && seen.insert(name).second)
        read.push_back(name);
    for (const std::string &name : op.output())
      computed.insert(name);
  }
  for (const OperatorDef &op : nets.init.op())
    for (const std::string &name : op.output())
      seen.erase(name);
  for (const std::string &name : nets.predict.external_input())
    if (seen.erase(name))
      names.push_back(name);
  for (const std::string &name : read)
    if (seen.erase(name))
      names.push_back(name);
  return names;
}

/// Tensors without a name are for the inputs by position.
void NetImporter::bindGivenTypes() {
  types = options.inputTypes;
  auto bind = [&](const std::string &name, const Type &type) {
    types.try_emplace(name, type);
    given.insert(name);
  };
  for (const auto &[name, type] : options.givenTypes)
    bind(name, type);
  std::vector<std::string> names = getFreeInputs();
  for (size_t i = 0; i < names.size(); ++i)
    if (i < options.givenTypesInOrder.size())
      bind(names[i], options.givenTypesInOrder[i]);
}

/// Returns the blobs whose types are given and that are read only as weights,
/// if there is no init_net and no tensor will be passed for them.
llvm::StringSet<> NetImporter::findStatedWeights() const {
  llvm::StringSet<> weights;
  if (!context.hasZeroWeights)
    return weights;
  auto isWeight = [&](const OperatorDef &op, unsigned index) {
    return index >= findCaffe2Operator(op.type(), options)->traits.firstWeight;
  };
  for (const OperatorDef *op : live)
    for (int i = 0; i < op->input_size(); ++i)
      if (isWeight(*op, unsigned(i)) &&
          options.inputTypes.count(op->input(i)) &&
          !given.contains(op->input(i)))
        weights.insert(op->input(i));
  for (const OperatorDef *op : live)
    for (int i = 0; i < op->input_size(); ++i)
      if (!isWeight(*op, unsigned(i)))
        weights.erase(op->input(i));
  return weights;
}

/// Returns an error if the options name an input that the net neither reads nor
/// lists, or a symbol that no input has.
llvm::Error NetImporter::checkNames() const {
  const schema::NetDef &net = nets.predict;
  std::vector<std::string> others(net.external_input().begin(),
                                  net.external_input().end());
  llvm::append_range(others, net.external_output());
  for (const OperatorDef &op : net.op())
    llvm::append_range(others, op.input());
  GLOWISH_RETURN_IF_ERROR(checkStatedInputs(options, getFreeInputs(), others));
  return checkStatedSymbols(options);
}

/// A quantized input becomes an input of integers in the graph.
llvm::Error NetImporter::createInput(const std::string &name,
                                     const Type &type) {
  ElemKind kind = type.getKind();
  Blob blob;
  if (type.isQuantized()) {
    blob.quant = std::make_shared<QuantParams>(type.getQuantParams());
    kind = kind == ElemKind::Int8Q    ? ElemKind::Int8
           : kind == ElemKind::UInt8Q ? ElemKind::UInt8
           : kind == ElemKind::Int16Q ? ElemKind::Int16
                                      : ElemKind::Int32;
  }
  bool isOutput = llvm::is_contained(nets.predict.external_output(), name) &&
                  llvm::none_of(live, [&](const OperatorDef *op) {
                    return llvm::is_contained(op->output(), name);
                  });
  if (isOutput && type.hasExtents())
    return makeError("the input {0} is {1} and an output; accepted: outputs "
                     "that operators compute where a run decides extents",
                     quote(name), type.str());
  blob.value = NodeValue(glowish::createInput(
      *module,
      {name, Type(kind, type.getShape()).withExtents(type.getExtents()),
       isOutput},
      SymbolRanges(options.symbolRanges), getFreeInputs()));
  if (auto fused = options.fusedInputs.find(name);
      fused != options.fusedInputs.end())
    blob.fusedRows = fused->second;
  context.blobs[name] = std::move(blob);
  return llvm::Error::success();
}

void NetImporter::createZeros(llvm::StringRef name, const Type &type) {
  context.blobs[name].value = NodeValue(
      module->createConstant(name, std::make_shared<const Tensor>(type)));
  context.zeroWeights.push_back(name.str());
}

/// Inputs given by the options replace values computed by the init net: many
/// models compute placeholder values for inputs there.
llvm::Error NetImporter::createInputs() {
  for (const auto &[name, tensor] : options.constantInputs)
    context.blobs[name].value = NodeValue(module->createConstant(name, tensor));
  llvm::StringSet<> weights = findStatedWeights();
  for (const auto &[name, blob] : open) {
    auto type = types.find(name.str());
    if (type == types.end() || context.blobs.count(name))
      continue;
    bool hasForm = type->second.isQuantized() || type->second.hasExtents();
    if (weights.contains(name) && !hasForm)
      createZeros(name, type->second);
    else
      GLOWISH_RETURN_IF_ERROR(createInput(name.str(), type->second));
  }
  return checkOpen();
}

/// Reports in one message all open blobs without a value or a type.
llvm::Error NetImporter::checkOpen() const {
  std::vector<std::string> missing;
  std::string first;
  for (const auto &[name, blob] : open) {
    if (context.blobs.count(name))
      continue;
    if (!blob.reader)
      return makeError("nothing computes the output {0}", quote(name));
    if (context.hasZeroWeights &&
        isImplied(*blob.reader,
                  *findCaffe2Operator(blob.reader->type(), options),
                  blob.index))
      continue;
    if (missing.empty())
      first = name.str();
    missing.push_back(llvm::formatv("{0}: input {1}, {2}",
                                    describe(*blob.reader), blob.index,
                                    quote(name)));
  }
  if (missing.empty())
    return llvm::Error::success();
  if (missing.size() == 1)
    return makeError("the type of the input {0} is not in the file; state it "
                     "with «model-input={1},float,[...]»",
                     quote(first), first);
  return makeError("{0} blobs have neither a value, as init_net would give "
                   "them, nor a type; state «model-input=NAME,float,[...]» for "
                   "them:\n{1}",
                   missing.size(), llvm::join(missing, "\n"));
}

//===- Operators ----------------------------------------------------------===//

/// Returns the blobs that a quantized convolution with per-channel scales reads
/// in addition to its inputs.
static std::vector<std::string> getImplicitInputs(const OperatorDef &op) {
  for (const schema::Argument &arg : op.arg())
    if (arg.name() == "quantize_groupwise" && arg.i() && op.input_size() > 1)
      return {op.input(1) + "_loaded_scales", op.input(1) + "_loaded_offsets"};
  return {};
}

/// Determines the operators that the outputs depend on, from the last to the
/// first. Blobs given by the options depend on nothing.
void NetImporter::findLive() {
  std::vector<OperatorDef *> all;
  for (OperatorDef &op : *nets.init.mutable_op())
    all.push_back(&op);
  for (OperatorDef &op : *nets.predict.mutable_op())
    all.push_back(&op);
  llvm::MapVector<llvm::StringRef, OpenBlob> required;
  for (const std::string &name : nets.predict.external_output())
    required.insert({name, {nullptr, 0}});
  size_t numInit = nets.init.op_size();
  for (size_t i = all.size(); i-- > 0;) {
    OperatorDef &op = *all[i];
    bool isRequired = false;
    for (const std::string &name : op.output()) {
      bool isReplaced = i < numInit && (types.count(name) ||
                                        options.constantInputs.count(name));
      isRequired |= !isReplaced && required.count(name);
    }
    if (!isRequired)
      continue;
    for (const std::string &name : op.output())
      required.erase(name);
    for (int index = 0; index < op.input_size(); ++index)
      required[op.input(index)] = {&op, unsigned(index)};
    for (const std::string &name : getImplicitInputs(op))
      required[implicitInputs.insert(name).first->first()] = {&op, 1};
    live.push_back(&op);
    numInitOps += i < numInit;
  }
  std::reverse(live.begin(), live.end());
  // In the order of the net's input list, then in the order of their users.
  for (const std::string &name : nets.predict.external_input())
    if (auto found = required.find(name); found != required.end())
      open.insert(*found);
  for (const OperatorDef *op : live)
    for (const std::string &name : op->input())
      if (auto found = required.find(name); found != required.end())
        open.insert(*found);
  for (const auto &each : required)
    open.insert(each);
}

llvm::Error NetImporter::checkOperators() const {
  std::vector<std::string> missing;
  for (const OperatorDef *op : live)
    if (!findCaffe2Operator(op->type(), options))
      missing.push_back(describe(*op));
  return refuseOperators(missing);
}

llvm::Error NetImporter::importOp(OperatorDef &proto) {
  NetOp op(proto, context);
  llvm::Error error = op.readInputs();
  if (!error)
    error = findCaffe2Operator(proto.type(), options)->importer(op);
  // The first error is the cause of the others.
  if (op.hasFailed()) {
    llvm::consumeError(std::move(error));
    error = op.takeError();
  }
  if (!error)
    error = op.checkArgs();
  if (error)
    return addContext(std::move(error), describe(proto) + ": ");
  for (int i = 0; i < proto.output_size(); ++i) {
    const Blob &blob = op.getOutputs()[i];
    // An operator may leave unused outputs unset.
    context.blobs.erase(proto.output(i));
    if (blob.value)
      context.blobs[proto.output(i)] = blob;
  }
  // Release the weights in the protobuf, which have been copied.
  proto.clear_arg();
  return llvm::Error::success();
}

/// In training, float weights become variables: inputs and outputs at once.
void NetImporter::makeVariables() {
  if (!options.variables)
    return;
  for (size_t i = 0; i < numInitOps; ++i)
    for (const std::string &name : live[i]->output()) {
      Blob &blob = context.blobs[name];
      auto *constant = blob.value.getNodeAs<Constant>();
      if (!constant || !isFloatKind(constant->getType().getKind()) ||
          !constant->getType().getRank() || options.variables->count(name))
        continue;
      (*options.variables)[name] = constant->getPayload();
      blob.value = NodeValue(module->createPlaceholder(
          name, constant->getType(), /*isInput=*/true, /*isOutput=*/true));
    }
}

llvm::Error NetImporter::warnOfZeroWeights() const {
  if (context.zeroWeights.empty())
    return llvm::Error::success();
  bool isOne = context.zeroWeights.size() == 1;
  return options.report(cleanMessage(
      llvm::formatv(
          "there is no init_net: {0} {1} zeros, {2}{3}",
          context.zeroWeights.size(), isOne ? "weight is" : "weights are",
          quote(context.zeroWeights.front()), isOne ? "" : " the first")
          .str()));
}

//===- Outputs ------------------------------------------------------------===//

llvm::Error NetImporter::importOutputs() {
  llvm::StringSet<> seen;
  for (const std::string &name : nets.predict.external_output()) {
    // Merged nets list some outputs twice.
    if (!seen.insert(name).second)
      continue;
    NodeValue value = context.blobs.lookup(name).value;
    if (!value)
      return makeError("nothing computes the output {0}", quote(name));
    auto *source = value.getNodeAs<Placeholder>();
    if (source && source->getModelName() == name)
      continue;
    if (module->findPlaceholder(name))
      return makeError("the output {0} has the name of an input but another "
                       "value",
                       quote(name));
    createOutput(context.function, name, value);
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>> NetImporter::import() {
  if (nets.predict.external_output_size() == 0)
    return makeError("the net has no external_output");
  bindGivenTypes();
  GLOWISH_RETURN_IF_ERROR(checkNames());
  findLive();
  GLOWISH_RETURN_IF_ERROR(checkOperators());
  GLOWISH_RETURN_IF_ERROR(createInputs());
  for (size_t i = 0; i < live.size(); ++i) {
    if (i == numInitOps)
      makeVariables();
    GLOWISH_RETURN_IF_ERROR(importOp(*live[i]));
  }
  GLOWISH_RETURN_IF_ERROR(importOutputs());
  GLOWISH_RETURN_IF_ERROR(warnOfZeroWeights());
  eraseUnusedConstants(*module);
  return std::move(module);
}

//===- Files --------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<Module>>
importNets(llvm::ArrayRef<llvm::StringRef> bytes,
           llvm::ArrayRef<std::string> names, llvm::StringRef name,
           const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(NetPair nets, parseNets(bytes, names));
  auto module = NetImporter(nets, options).import();
  if (!module)
    return makeError("'{0}': {1}", name,
                     cleanMessage(llvm::toString(module.takeError())));
  return module;
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importCaffe2(llvm::ArrayRef<llvm::StringRef> nets,
                      llvm::StringRef name, const ImportOptions &options) {
  std::vector<std::string> names(nets.size(), name.str());
  return importNets(nets, names, name, options);
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importCaffe2File(llvm::StringRef path, const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> files,
                           findCaffe2Files(path, options.secondFile));
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  std::vector<llvm::StringRef> nets;
  for (const std::string &file : files) {
    GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(file));
    nets.push_back(buffer->getBuffer());
    buffers.push_back(std::move(buffer));
  }
  return importNets(nets, files, path, options);
}

static llvm::Expected<std::vector<std::string>>
listCaffe2Files(llvm::StringRef path, const ImportOptions &options) {
  return findCaffe2Files(path, options.secondFile);
}

//===- The page with operators --------------------------------------------===//

static constexpr llvm::StringLiteral operatorHeading = R"(# Caffe2 operators

Generated by `model-compiler -list-operators=caffe2`. Do not edit. What else
there is to know of Caffe2 models is in [caffe2.md](caffe2.md).

)";

static void printOperatorPage(llvm::raw_ostream &os) {
  os << operatorHeading;
  printOperators(os, listCaffe2Operators());
}

static constexpr OperatorList operatorList = {
    .name = "caffe2", .description = "", .print = printOperatorPage};

static const ModelFormatRegistration format(
    {.name = "Caffe2",
     .description = "a Caffe2 model (predict_net and init_net, .pb or .pbtxt, "
                    "or the folder with them)",
     .extensions = {".pb", ".pbtxt"},
     .recognizes = isCaffe2Folder,
     .import = importCaffe2File,
     .hasSymbols = true,
     .hasSecondFile = true,
     .listFiles = listCaffe2Files,
     .operators = &operatorList});
