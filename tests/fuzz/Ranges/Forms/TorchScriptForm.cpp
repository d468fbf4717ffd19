//===- TorchScriptForm.cpp - Ranged models as TorchScript archives --------===//
//
// What torch.jit.save() writes: the code of a module's forward() as text, and
// its attributes, which are the weights, as a pickle. -model-input states the
// extents of inputs.
//
//===----------------------------------------------------------------------===//

#include "../../../common/ZipArchive.h"
#include "Aten/AtenProgram.h"
#include "glowish/Importer/Aten.h"
#include "glowish/Importer/TorchScript.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/MemoryFile.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;
using namespace glowish::fuzz;

/// The number of \p kind among PyTorch's ScalarTypes, and its storage's class.
static std::pair<int64_t, llvm::StringRef> getKind(ElemKind kind) {
  switch (kind) {
  case ElemKind::UInt8:
    return {0, "ByteStorage"};
  case ElemKind::Int8:
    return {1, "CharStorage"};
  case ElemKind::Int16:
    return {2, "ShortStorage"};
  case ElemKind::Int32:
    return {3, "IntStorage"};
  case ElemKind::Int64:
    return {4, "LongStorage"};
  case ElemKind::Float16:
    return {5, "HalfStorage"};
  case ElemKind::Float:
    return {6, "FloatStorage"};
  case ElemKind::Double:
    return {7, "DoubleStorage"};
  case ElemKind::Bool:
    return {11, "BoolStorage"};
  case ElemKind::BFloat16:
    return {15, "BFloat16Storage"};
  default:
    llvm_unreachable("no kind of PyTorch");
  }
}

//===- Code ---------------------------------------------------------------===//

static std::string spell(const AtenArg &argument);

static std::string spellFloat(double number) {
  std::string text = llvm::formatv("{0:E17}", number);
  return number == std::floor(number) && std::fabs(number) < 1e9
             ? llvm::formatv("{0:F1}", number).str()
             : text;
}

/// Lists whose elements do not tell their type say what it is.
static std::string spellList(const AtenArg::List &list) {
  std::string text = "[";
  for (const AtenArg &element : list)
    text += (text.size() > 1 ? ", " : "") + spell(element);
  text += "]";
  if (list.empty())
    return "annotate(List[int], [])";
  bool isOptional = llvm::any_of(
      list, [](const AtenArg &element) { return element.isNone(); });
  return isOptional ? "annotate(List[Optional[Tensor]], " + text + ")" : text;
}

static std::string spell(const AtenArg &argument) {
  if (const auto *tensor = argument.getIf<AtenTensor>())
    return tensor->name;
  if (const auto *number = argument.getIf<AtenNumber>())
    return number->name;
  if (const auto *number = argument.getIf<int64_t>())
    return std::to_string(*number);
  if (const auto *number = argument.getIf<double>())
    return spellFloat(*number);
  if (const auto *flag = argument.getIf<bool>())
    return *flag ? "True" : "False";
  if (const auto *text = argument.getIf<std::string>())
    return "\"" + *text + "\"";
  if (const auto *kind = argument.getIf<ElemKind>())
    return std::to_string(getKind(*kind).first);
  if (const auto *list = argument.getIf<AtenArg::List>())
    return spellList(*list);
  return "None";
}

static std::string spellCall(const AtenCall &call) {
  std::vector<std::string> arguments;
  for (const AtenArg &argument : call.arguments)
    arguments.push_back(spell(argument));
  for (const auto &[name, argument] : call.named)
    arguments.push_back(name + "=" + spell(argument));
  bool isUnpacked =
      call.form == AtenResult::ListOfTensors || call.form == AtenResult::Tuple;
  std::string line = llvm::formatv(
      "{0}{1} = torch.{2}({3})\n", llvm::join(call.results, ", "),
      isUnpacked ? "," : "", llvm::StringRef(call.op).split('.').first,
      llvm::join(arguments, ", "));
  return line;
}

/// The statement with what it is in.
static std::string spellStatement(const AtenCall &call) {
  std::string line = spellCall(call);
  switch (call.place) {
  case AtenPlace::Here:
    return "    " + line;
  case AtenPlace::Branch:
    return llvm::formatv(
        "    if torch.ge({0}, {1}):\n      {2}    else:\n      {3} = {4}\n",
        spell(call.condition), call.least, line, call.results[0],
        spell(call.arguments[0]));
  case AtenPlace::Loop:
    return llvm::formatv("    {0} = {1}\n    for _{0} in range(1):\n      {2}",
                         call.results[0], spell(call.arguments[0]), line);
  }
  llvm_unreachable("not a place");
}

static std::string spellModule(const AtenProgram &program) {
  std::string fields, body, arguments;
  for (const auto &[name, tensor] : program.weights) {
    fields += "  " + name + " : Tensor\n";
    body += "    " + name + " = self." + name + "\n";
  }
  for (const std::string &input : program.inputs)
    arguments += ", " + input + ": Tensor";
  for (const AtenCall &call : program.calls)
    body += spellStatement(call);
  std::vector<std::string> items;
  for (const std::string &output : program.outputs)
    items.push_back("\"" + output + "\": " + output);
  return llvm::formatv("class Net(Module):\n  __parameters__ = []\n"
                       "  __buffers__ = []\n  training : bool\n{0}"
                       "  def forward(self: __torch__.Net{1}) -> "
                       "Dict[str, Tensor]:\n{2}    return {{{3}}\n",
                       fields, arguments, body, llvm::join(items, ", "));
}

//===- Pickles ------------------------------------------------------------===//

namespace {

/// Writes a pickle of protocol 2.
class Pickle {
public:
  std::string text = "\x80\x02";

  void addClass(llvm::StringRef module, llvm::StringRef name) {
    text += ("c" + module + "\n" + name + "\n").str();
  }
  void addText(llvm::StringRef value) {
    text += 'X';
    addBytes(uint32_t(value.size()));
    text += value;
  }
  void addInt(int64_t value) {
    text += 'J';
    addBytes(int32_t(value));
  }
  void addFlag(bool value) { text += value ? "\x88" : "\x89"; }
  void addInts(DimsRef values) {
    text += '(';
    for (int64_t value : values)
      addInt(value);
    text += 't';
  }
  /// A tensor, whose elements are in the file \p key.
  void addTensor(const Type &type, const std::string &key) {
    addClass("torch._utils", "_rebuild_tensor_v2");
    text += "((";
    addText("storage");
    addClass("torch", getKind(type.getKind()).second);
    addText(key);
    addText("cpu");
    addInt(type.getNumElements());
    text += "tQ";
    addInt(0);
    addInts(type.getShape());
    addInts(getDenseStrides(type.getShape()));
    addFlag(false);
    addClass("collections", "OrderedDict");
    text += ")RtR";
  }

private:
  template <typename T> void addBytes(T value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
};

} // namespace

/// The module with its attributes.
static std::string pickleModule(const AtenProgram &program) {
  Pickle pickle;
  pickle.addClass("__torch__", "Net");
  pickle.text += ")\x81}(";
  pickle.addText("training");
  pickle.addFlag(false);
  size_t key = 0;
  for (const auto &[name, tensor] : program.weights) {
    pickle.addText(name);
    pickle.addTensor(tensor.getType(), std::to_string(key++));
  }
  pickle.text += "ub.";
  return pickle.text;
}

//===- The form -----------------------------------------------------------===//

static llvm::Expected<FormModel> writeScript(const TypedModel &model) {
  GLOWISH_ASSIGN_OR_RETURN(AtenProgram program,
                           translateToAten(model, AtenDialect::Script));
  ArchiveEntries entries = {{"net/data.pkl", pickleModule(program)},
                            {"net/code/__torch__.py", spellModule(program)},
                            {"net/constants.pkl", "\x80\x02)."},
                            {"net/version", "3\n"}};
  size_t key = 0;
  for (const auto &[name, tensor] : program.weights) {
    llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
    entries.emplace_back("net/data/" + std::to_string(key++),
                         std::string(bytes.begin(), bytes.end()));
  }
  return FormModel{{makeArchive(entries)}, program.getOperators()};
}

static llvm::Expected<std::unique_ptr<Module>>
importScript(const FormModel &written, const TypedModel &model) {
  MemoryFile file(written.files[0], "net.pt");
  return importTorchScriptFile(file.getPath(),
                               makeFormOptions(model, /*statesTypes=*/true));
}

static std::vector<std::string> listOperators() {
  std::vector<std::string> names;
  for (const AtenOperatorInfo &info : listAtenOperators())
    names.push_back(info.name);
  return names;
}

/// An entry of the dictionary that forward() returns.
static std::string getOutputName(llvm::StringRef output) {
  return ("output." + output).str();
}

const Form fuzz::torchScriptForm = {.name = "torchscript",
                                    .takes = isTranslatedToAten,
                                    .listOperators = listOperators,
                                    .write = writeScript,
                                    .import = importScript,
                                    .getOutputName = getOutputName};
