//===- OnnxRuntime.cpp - Models in ONNX Runtime ---------------------------===//

#include "OnnxRuntime.h"
#include "RunProgram.h"
#include "TemporaryFolder.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"

using namespace glowish;

char NotInOnnxRuntime::ID = 0;

static constexpr llvm::StringLiteral worker = FOREIGN_SOURCES "/run_onnx.mjs";
static constexpr llvm::StringLiteral package = FOREIGN_SOURCES
    "/../../../bench/node_modules/onnxruntime-node/package.json";

std::string glowish::findMissingOnnxRuntime() {
  bool isThere =
      llvm::sys::findProgramByName("node") && llvm::sys::fs::exists(package);
  return isThere ? ""
                 : "no ONNX Runtime in bench/node_modules (bench/compare "
                   "installs it)";
}

/// Element kinds of which Node.js has arrays, and their names in ONNX Runtime.
static constexpr std::pair<ElemKind, llvm::StringLiteral> elements[] = {
    {ElemKind::Float16, "float16"}, {ElemKind::Float, "float32"},
    {ElemKind::Double, "float64"},  {ElemKind::Int8, "int8"},
    {ElemKind::UInt8, "uint8"},     {ElemKind::Int16, "int16"},
    {ElemKind::UInt16, "uint16"},   {ElemKind::Int32, "int32"},
    {ElemKind::UInt32, "uint32"},   {ElemKind::Int64, "int64"},
    {ElemKind::UInt64, "uint64"},   {ElemKind::Bool, "bool"}};

static llvm::Error writeInputs(const OnnxRuntimeRun &run,
                               const TemporaryFolder &folder) {
  llvm::json::Array inputs;
  for (const auto &[name, tensor] : run.inputs) {
    ElemKind kind = tensor->getType().getKind();
    auto *element = llvm::find_if(
        elements, [&](const auto &each) { return each.first == kind; });
    if (element == std::end(elements))
      return llvm::make_error<NotInOnnxRuntime>(
          llvm::formatv("input '{0}' (Placeholder): no {1} in Node.js", name,
                        getElemKindName(kind)));
    GLOWISH_RETURN_IF_ERROR(writeFile(
        folder.getFile("input_" + std::to_string(inputs.size()) + ".bin"),
        {static_cast<const char *>(tensor->getBytes()),
         size_t(tensor->getSizeInBytes())}));
    inputs.push_back(llvm::json::Object{
        {"name", name},
        {"type", element->second},
        {"dims", llvm::json::Array(tensor->getType().getShape())}});
  }
  llvm::json::Value text = llvm::json::Object{{"inputs", std::move(inputs)},
                                              {"outputs", run.outputs}};
  return writeFile(folder.getFile("run.json"),
                   llvm::formatv("{0}", text).str());
}

/// The output that \p description, of the worker, says \p path to have.
static llvm::Expected<Tensor> readOutput(const llvm::json::Value &description,
                                         const std::string &path) {
  const llvm::json::Object &object = *description.getAsObject();
  auto *element = llvm::find_if(elements, [&](const auto &each) {
    return each.second == *object.getString("type");
  });
  if (element == std::end(elements))
    return makeError("an output is {0}", *object.getString("type"));
  Dims shape;
  for (const llvm::json::Value &dim : *object.getArray("dims"))
    shape.push_back(*dim.getAsInteger());
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
  Tensor tensor(Type(element->first, shape));
  if (int64_t(file->getBufferSize()) != tensor.getSizeInBytes())
    return makeError("{0} has {1} bytes; expected {2}", path,
                     file->getBufferSize(), tensor.getSizeInBytes());
  llvm::copy(llvm::arrayRefFromStringRef(file->getBuffer()),
             static_cast<uint8_t *>(tensor.getBytes()));
  return tensor;
}

llvm::Expected<std::vector<Tensor>>
glowish::runOnnxRuntime(const OnnxRuntimeRun &run) {
  GLOWISH_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::create());
  GLOWISH_RETURN_IF_ERROR(writeInputs(run, *folder));
  std::vector<std::string> command = {"node", worker.str(), run.model,
                                      folder->getPath().str(),
                                      run.isOptimized ? "all" : "disabled"};
  GLOWISH_RETURN_IF_ERROR(
      runProgram(command, folder->getFile("log")).takeError());
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(folder->getFile("result.json")));
  GLOWISH_ASSIGN_OR_RETURN(llvm::json::Value result,
                           llvm::json::parse(file->getBuffer()));
  const llvm::json::Object &object = *result.getAsObject();
  if (auto refusal = object.getString("refusal"))
    return llvm::make_error<NotInOnnxRuntime>(refusal->str());
  std::vector<Tensor> outputs;
  for (const llvm::json::Value &output : *object.getArray("outputs")) {
    std::string name = "output_" + std::to_string(outputs.size()) + ".bin";
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor,
                             readOutput(output, folder->getFile(name)));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}
