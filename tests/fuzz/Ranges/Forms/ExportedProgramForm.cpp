//===- ExportedProgramForm.cpp - Ranged models as .pt2 archives -----------===//
//
// What torch.export.save() writes, schema version 8: the graph as JSON, with
// the extents of all tensors as expressions of symbols, and weights beside it.
//
//===----------------------------------------------------------------------===//

#include "../../../common/ZipArchive.h"
#include "Aten/AtenProgram.h"
#include "Aten/Schema.h"
#include "glowish/Importer/Aten.h"
#include "glowish/Importer/TorchExport.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/MemoryFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"

using namespace glowish;
using namespace glowish::fuzz;
namespace json = llvm::json;

//===- Values -------------------------------------------------------------===//

/// The number of \p kind in the schema.
static int64_t getKindNumber(ElemKind kind) {
  switch (kind) {
  case ElemKind::UInt8:
    return 1;
  case ElemKind::Int8:
    return 2;
  case ElemKind::Int16:
    return 3;
  case ElemKind::Int32:
    return 4;
  case ElemKind::Int64:
    return 5;
  case ElemKind::Float16:
    return 6;
  case ElemKind::Float:
    return 7;
  case ElemKind::Double:
    return 8;
  case ElemKind::Bool:
    return 12;
  case ElemKind::BFloat16:
    return 13;
  default:
    llvm_unreachable("no kind of PyTorch");
  }
}

namespace {

/// Writes extents as calls of SymPy's functions, as newer exporters do.
struct CallWriter {
  std::string getConstant(int64_t number) {
    return "Integer(" + std::to_string(number) + ")";
  }
  std::string getSymbol(llvm::StringRef name) {
    return ("Symbol('" + name + "', positive=True, integer=True)").str();
  }
  std::string add(const std::string &x, const std::string &y) {
    return "Add(" + x + ", " + y + ")";
  }
  std::string multiply(const std::string &x, const std::string &y) {
    return "Mul(" + x + ", " + y + ")";
  }
  std::string divideDown(const std::string &x, int64_t divisor) {
    return "FloorDiv(" + x + ", " + getConstant(divisor) + ")";
  }
};

} // namespace

static json::Value writeExtent(const Extent &extent) {
  if (auto constant = extent.getConstant())
    return json::Object{{"as_int", *constant}};
  CallWriter writer;
  // Either notation, by the extent: both mean the same.
  std::string text = llvm::xxh3_64bits(extent.str()) % 2
                         ? extent.str()
                         : extent.compute(writer);
  return json::Object{
      {"as_expr", json::Object{{"expr_str", text}, {"hint", nullptr}}}};
}

/// A TensorMeta, with its elements in row-major order.
static json::Value writeMeta(const AtenTensorType &type) {
  json::Array sizes, strides;
  std::vector<json::Value> reversed;
  std::optional<Extent> stride(1);
  for (const Extent &dim : llvm::reverse(type.dims)) {
    reversed.push_back(writeExtent(*stride));
    stride = multiply(*stride, dim);
    // What has more symbols than extents may have: nothing reads it.
    if (!stride)
      stride = Extent(1);
  }
  for (const Extent &dim : type.dims)
    sizes.push_back(writeExtent(dim));
  for (json::Value &value : llvm::reverse(reversed))
    strides.push_back(std::move(value));
  return json::Object{
      {"dtype", getKindNumber(type.kind)},
      {"sizes", std::move(sizes)},
      {"requires_grad", false},
      {"device", json::Object{{"type", "cpu"}, {"index", nullptr}}},
      {"strides", std::move(strides)},
      {"storage_offset", json::Object{{"as_int", 0}}},
      {"layout", 7}};
}

static json::Value writeName(const std::string &name) {
  return json::Object{{"name", name}};
}

/// An element of the list \p list.
static json::Value writeArgument(const AtenArg &argument);

template <typename T> static bool hasAll(const AtenArg::List &list) {
  return llvm::all_of(
      list, [](const AtenArg &element) { return element.getIf<T>(); });
}

static json::Value writeList(const AtenArg::List &list) {
  json::Array values;
  if (hasAll<int64_t>(list)) {
    for (const AtenArg &element : list)
      values.push_back(*element.getIf<int64_t>());
    return json::Object{{"as_ints", std::move(values)}};
  }
  if (hasAll<AtenTensor>(list)) {
    for (const AtenArg &element : list)
      values.push_back(writeName(element.getIf<AtenTensor>()->name));
    return json::Object{{"as_tensors", std::move(values)}};
  }
  if (hasAll<double>(list)) {
    for (const AtenArg &element : list)
      values.push_back(*element.getIf<double>());
    return json::Object{{"as_floats", std::move(values)}};
  }
  bool isNumbers = false;
  for (const AtenArg &element : list) {
    const auto *number = element.getIf<AtenNumber>();
    isNumbers |= number || element.getIf<int64_t>();
    values.push_back(number ? json::Object{{"as_name", number->name}}
                            : writeArgument(element));
  }
  return json::Object{
      {isNumbers ? "as_sym_ints" : "as_optional_tensors", std::move(values)}};
}

static json::Value writeArgument(const AtenArg &argument) {
  if (const auto *tensor = argument.getIf<AtenTensor>())
    return json::Object{{"as_tensor", writeName(tensor->name)}};
  if (const auto *number = argument.getIf<AtenNumber>())
    return json::Object{
        {"as_sym_int", json::Object{{"as_name", number->name}}}};
  if (const auto *number = argument.getIf<int64_t>())
    return json::Object{{"as_int", *number}};
  if (const auto *number = argument.getIf<double>())
    return json::Object{{"as_float", *number}};
  if (const auto *flag = argument.getIf<bool>())
    return json::Object{{"as_bool", *flag}};
  if (const auto *text = argument.getIf<std::string>())
    return json::Object{{"as_string", *text}};
  if (const auto *kind = argument.getIf<ElemKind>())
    return json::Object{{"as_scalar_type", getKindNumber(*kind)}};
  if (const auto *list = argument.getIf<AtenArg::List>())
    return writeList(*list);
  return json::Object{{"as_none", true}};
}

//===- Nodes --------------------------------------------------------------===//

/// The schema of an operator that is imported.
static const aten::AtenSchema &getSchema(const std::string &op) {
  static const auto schemas = [] {
    std::map<std::string, aten::AtenSchema> all;
    for (const AtenOperatorInfo &info : listAtenOperators())
      all[info.name] = llvm::cantFail(aten::parseAtenSchema(info.schema));
    return all;
  }();
  auto found = schemas.find(op);
  if (found == schemas.end())
    llvm::report_fatal_error(llvm::Twine("no operator '") + op +
                             "' is imported");
  return found->second;
}

static bool isOfNumbers(const AtenCall &call) {
  return call.form == AtenResult::Number && call.op != "sym_size.int";
}

static json::Value writeInputs(const AtenCall &call) {
  json::Array inputs;
  auto add = [&](const std::string &name, const AtenArg &argument,
                 int64_t kind) {
    inputs.push_back(json::Object{
        {"name", name}, {"arg", writeArgument(argument)}, {"kind", kind}});
  };
  for (size_t i = 0; i < call.arguments.size(); ++i)
    // Those of Python's functions have none.
    add(isOfNumbers(call) ? "" : getSchema(call.op).arguments[i].name,
        call.arguments[i], 1);
  for (const auto &[name, argument] : call.named)
    add(name, argument, 2);
  return inputs;
}

static json::Value writeOutputs(const AtenCall &call) {
  json::Array names;
  for (const std::string &result : call.results)
    names.push_back(writeName(result));
  if (call.form == AtenResult::ListOfTensors)
    return json::Array{json::Object{{"as_tensors", std::move(names)}}};
  json::Array outputs;
  for (const std::string &result : call.results)
    outputs.push_back(
        call.form == AtenResult::Number
            ? json::Object{{"as_sym_int", json::Object{{"as_name", result}}}}
            : json::Object{{"as_tensor", writeName(result)}});
  return outputs;
}

static json::Value writeCall(const AtenCall &call) {
  llvm::StringRef op = call.op;
  auto [space, name] =
      op.contains("::") ? op.split("::") : std::pair("aten", op);
  std::string target =
      isOfNumbers(call)
          ? ((op.starts_with("sym_") ? "torch." : "_operator.") + op).str()
          : ("torch.ops." + space + "." + name +
             (name.contains('.') ? "" : ".default"))
                .str();
  return json::Object{{"target", target},
                      {"inputs", writeInputs(call)},
                      {"outputs", writeOutputs(call)},
                      {"metadata", json::Object{}},
                      {"is_hop_single_tensor_return", nullptr},
                      {"name", call.results.front()}};
}

//===- Archives -----------------------------------------------------------===//

static json::Value writeGraph(const AtenProgram &program, json::Array inputs,
                              json::Array outputs) {
  json::Array nodes;
  json::Object tensors, numbers;
  for (const AtenCall &call : program.calls) {
    nodes.push_back(writeCall(call));
    for (const std::string &result : call.results)
      if (call.form == AtenResult::Number)
        numbers[result] = writeExtent(program.numbers.at(result));
      else
        tensors[result] = writeMeta(program.types.at(result));
  }
  for (const std::string &input : program.inputs)
    tensors[input] = writeMeta(program.types.at(input));
  for (const auto &[name, tensor] : program.weights)
    tensors[name] = writeMeta(program.types.at(name));
  return json::Object{{"inputs", std::move(inputs)},
                      {"outputs", std::move(outputs)},
                      {"nodes", std::move(nodes)},
                      {"tensor_values", std::move(tensors)},
                      {"sym_int_values", std::move(numbers)},
                      {"sym_bool_values", json::Object{}},
                      {"is_single_tensor_return", false},
                      {"custom_obj_values", json::Object{}},
                      {"sym_float_values", json::Object{}}};
}

/// The ranges that the file states: those of the model, wider ones or ones
/// without an end, which the command line narrows.
static std::map<std::string, IntRange> getFileRanges(const RangedModel &model) {
  std::map<std::string, IntRange> ranges = model.ranges;
  for (auto &[symbol, range] : ranges) {
    // An input has it.
    uint64_t choice =
        llvm::xxh3_64bits(model.proto.graph().input(0).name()) % 3;
    if (choice == 1)
      range = {0, range.high + 7};
    if (choice == 2)
      range.high = INT64_MAX;
  }
  return ranges;
}

static json::Value writeProgram(const AtenProgram &program,
                                const RangedModel &model) {
  json::Array inputs, outputs, inputSpecs, outputSpecs;
  auto makeTensor = [](const std::string &name) {
    return json::Object{{"as_tensor", writeName(name)}};
  };
  for (const auto &[name, tensor] : program.weights) {
    inputs.push_back(makeTensor(name));
    inputSpecs.push_back(
        json::Object{{"parameter", json::Object{{"arg", writeName(name)},
                                                {"parameter_name", name}}}});
  }
  for (const std::string &name : program.inputs) {
    inputs.push_back(makeTensor(name));
    inputSpecs.push_back(
        json::Object{{"user_input", json::Object{{"arg", makeTensor(name)}}}});
  }
  for (const std::string &name : program.outputs) {
    outputs.push_back(makeTensor(name));
    outputSpecs.push_back(
        json::Object{{"user_output", json::Object{{"arg", makeTensor(name)}}}});
  }
  json::Object ranges;
  for (const auto &[symbol, range] : getFileRanges(model))
    ranges[symbol] = json::Object{{"min_val", range.low},
                                  {"max_val", range.high == INT64_MAX
                                                  ? json::Value(nullptr)
                                                  : json::Value(range.high)}};
  json::Object module{
      {"graph", writeGraph(program, std::move(inputs), std::move(outputs))},
      {"signature", json::Object{{"input_specs", std::move(inputSpecs)},
                                 {"output_specs", std::move(outputSpecs)}}},
      {"module_call_graph", json::Array{}},
      {"metadata", json::Object{}},
      {"treespec_namedtuple_fields", json::Object{}}};
  return json::Object{
      {"graph_module", std::move(module)},
      {"opset_version", json::Object{{"aten", 10}}},
      {"range_constraints", std::move(ranges)},
      {"schema_version", json::Object{{"major", 8}, {"minor", 2}}},
      {"verifiers", json::Array{"ATEN"}},
      {"torch_version", "2.8.0"},
      {"guards_code", json::Array{}}};
}

static std::string print(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static llvm::Expected<FormModel> writeExported(const TypedModel &model) {
  GLOWISH_ASSIGN_OR_RETURN(AtenProgram program,
                           translateToAten(model, AtenDialect::Exported));
  ArchiveEntries entries = {
      {"net/archive_format", "pt2"},
      {"net/byteorder", "little"},
      {"net/.data/version", "0"},
      {"net/models/model.json", print(writeProgram(program, model.model))}};
  json::Object config;
  for (const auto &[name, tensor] : program.weights) {
    std::string path = "weight_" + std::to_string(config.size());
    llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
    entries.emplace_back("net/data/weights/" + path,
                         std::string(bytes.begin(), bytes.end()));
    config[name] =
        json::Object{{"path_name", path},
                     {"is_param", true},
                     {"use_pickle", false},
                     {"tensor_meta", writeMeta(program.types.at(name))}};
  }
  entries.emplace_back("net/data/weights/model_weights_config.json",
                       print(json::Object{{"config", std::move(config)}}));
  entries.emplace_back("net/data/constants/model_constants_config.json",
                       print(json::Object{{"config", json::Object{}}}));
  return FormModel{{makeArchive(entries)}, program.getOperators()};
}

static llvm::Expected<std::unique_ptr<Module>>
importExported(const FormModel &written, const TypedModel &model) {
  MemoryFile file(written.files[0], "net.pt2");
  ImportOptions options = makeFormOptions(model, /*statesTypes=*/false);
  // Those of the file are the same.
  if (getFileRanges(model.model) == model.model.ranges)
    options.symbolRanges.clear();
  return importTorchExportFile(file.getPath(), options);
}

static std::vector<std::string> listOperators() {
  std::vector<std::string> names;
  for (const AtenOperatorInfo &info : listAtenOperators())
    names.push_back(info.name);
  return names;
}

const Form fuzz::exportedProgramForm = {.name = "pt2",
                                        .takes = isTranslatedToAten,
                                        .listOperators = listOperators,
                                        .write = writeExported,
                                        .import = importExported};
