// A front end for a format of text: a step on each line, of what is above it.
//
//   steps 1
//   input x 2 3
//   const w 3 2 : 1 2 3 4 5 6
//   y = matmul x w
//   z = relu y
//   output z

#include <algorithm>
#include <glowish/Backends/Plugin.h>
#include <glowish/Graph/NodeBuilder.h>
#include <glowish/Graph/Nodes.h>
#include <glowish/Importer/ModelFormat.h>
#include <glowish/Support/Escape.h>
#include <glowish/Support/File.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>

using namespace glowish;

namespace {

using Words = llvm::SmallVector<llvm::StringRef, 8>;

/// Makes a module of the lines of a file.
class Reader {
public:
  Reader() : builder(*module->createFunction("main"), "") {}

  llvm::Error addLine(llvm::StringRef line);
  std::unique_ptr<Module> take() { return std::move(module); }

private:
  llvm::Error addInput(const Words &words);
  llvm::Error addConstant(const Words &words);
  llvm::Error addStep(const Words &words);
  llvm::Error addOutput(const Words &words);
  llvm::Expected<NodeValue> find(llvm::StringRef name) const;
  llvm::Error checkNew(llvm::StringRef name) const;

  std::unique_ptr<Module> module = std::make_unique<Module>("steps");
  NodeBuilder builder;
  llvm::StringMap<NodeValue> values;
};

} // namespace

static llvm::Expected<Type> parseType(llvm::ArrayRef<llvm::StringRef> words) {
  Dims shape;
  for (llvm::StringRef word : words)
    if (int64_t extent = 0; !word.getAsInteger(10, extent) && extent > 0)
      shape.push_back(extent);
    else
      return makeError("{0} is no extent; accepted: an integer of at least 1",
                       quote(word));
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Float, shape));
  return Type(ElemKind::Float, shape);
}

llvm::Expected<NodeValue> Reader::find(llvm::StringRef name) const {
  auto found = values.find(name);
  if (found == values.end())
    return makeError("no line above has the value {0}", quote(name));
  return found->second;
}

llvm::Error Reader::checkNew(llvm::StringRef name) const {
  if (values.contains(name) || module->findPlaceholder(name))
    return makeError("a line above has the name {0}", quote(name));
  return llvm::Error::success();
}

llvm::Error Reader::addInput(const Words &words) {
  GLOWISH_RETURN_IF_ERROR(checkNew(words[1]));
  GLOWISH_ASSIGN_OR_RETURN(Type type,
                           parseType(llvm::ArrayRef(words).drop_front(2)));
  values[words[1]] = NodeValue(module->createPlaceholder(
      words[1], type, /*isInput=*/true, /*isOutput=*/false));
  return llvm::Error::success();
}

llvm::Error Reader::addConstant(const Words &words) {
  GLOWISH_RETURN_IF_ERROR(checkNew(words[1]));
  const auto *colon = std::find(words.begin() + 2, words.end(), ":");
  GLOWISH_ASSIGN_OR_RETURN(Type type,
                           parseType(llvm::ArrayRef(words.begin() + 2, colon)));
  std::vector<float> elements(size_t(words.end() - colon) - 1);
  if (int64_t(elements.size()) != type.getNumElements())
    return makeError("there are {0} numbers; accepted: {1}", elements.size(),
                     type.getNumElements());
  for (size_t i = 0; i < elements.size(); ++i)
    if (double number = 0; llvm::to_float(colon[i + 1], number))
      elements[i] = float(number);
    else
      return makeError("{0} is no number", quote(colon[i + 1]));
  values[words[1]] =
      module
          ->createConstant(words[1], Tensor::fromValues<float>(type, elements))
          ->getResult();
  return llvm::Error::success();
}

llvm::Error Reader::addStep(const Words &words) {
  GLOWISH_RETURN_IF_ERROR(checkNew(words[0]));
  std::vector<NodeValue> operands;
  for (llvm::StringRef name : llvm::drop_begin(words, 3)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue operand, find(name));
    operands.push_back(operand);
  }
  builder.setName(words[0]);
  llvm::StringRef op = words[2];
  NodeValue value;
  if (op == "relu" && operands.size() == 1)
    value = builder.max(operands[0], 0);
  else if (op == "add" && operands.size() == 2)
    value = builder.add(operands[0], operands[1]);
  else if (op == "matmul" && operands.size() == 2)
    value = builder.matMul(operands[0], operands[1]);
  else
    return makeError("{0} with {1} operands is no step; accepted: relu X, add "
                     "X Y, matmul X Y",
                     quote(op), operands.size());
  GLOWISH_ASSIGN_OR_RETURN(values[words[0]], builder.finish(value));
  return llvm::Error::success();
}

llvm::Error Reader::addOutput(const Words &words) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, find(words[1]));
  std::string name = (words[1] + "_out").str();
  GLOWISH_RETURN_IF_ERROR(checkNew(name));
  Placeholder *output = module->createPlaceholder(
      name, value.getType(), /*isInput=*/false, /*isOutput=*/true);
  builder.getFunction().create<SaveNode>(name, value, NodeValue(output));
  return llvm::Error::success();
}

llvm::Error Reader::addLine(llvm::StringRef line) {
  Words words;
  llvm::SplitString(line, words, " \t\r");
  if (words.empty())
    return llvm::Error::success();
  if (words.size() > 1 && words[0] == "input")
    return addInput(words);
  if (words.size() > 2 && words[0] == "const" &&
      llvm::is_contained(llvm::ArrayRef(words).drop_front(2), ":"))
    return addConstant(words);
  if (words.size() > 2 && words[1] == "=")
    return addStep(words);
  if (words.size() == 2 && words[0] == "output")
    return addOutput(words);
  return makeError("it is none of input NAME EXTENTS, const NAME EXTENTS : "
                   "NUMBERS, NAME = STEP OPERANDS, output NAME");
}

static constexpr llvm::StringLiteral firstLine = "steps 1\n";

static llvm::Expected<std::unique_ptr<Module>>
importSteps(llvm::StringRef path, const ImportOptions & /*options*/) {
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
  llvm::StringRef text = file->getBuffer();
  if (!text.consume_front(firstLine))
    return makeError("'{0}': the first line is not 'steps 1'", path);
  Reader reader;
  for (unsigned number = 2; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    if (llvm::Error error = reader.addLine(line))
      return makeError("'{0}': line {1}: {2}", path, number,
                       llvm::toString(std::move(error)));
    text = rest;
  }
  return reader.take();
}

static void printSteps(llvm::raw_ostream &os) {
  os << "# Steps\n\n- relu X\n- add X Y\n- matmul X Y\n";
}

GLOWISH_PLUGIN {
  static const OperatorList operators = {
      .name = "steps", .description = "", .print = printSteps};
  static const ModelFormatRegistration format(
      {.name = "Steps",
       .description = "a file of steps (.steps)",
       .extensions = {".steps"},
       .magic = {{firstLine}},
       .import = importSteps,
       .operators = &operators});
}
