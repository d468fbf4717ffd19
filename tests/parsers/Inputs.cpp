//===- Inputs.cpp - Forms of inputs ---------------------------------------===//

#include "parsers/Inputs.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Compiler/InputTypes.h"
#include "robustness/Seeds.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace glowish;
using namespace glowish::parsers;

static constexpr llvm::StringLiteral mark = "=== ";

Parts glowish::parsers::splitParts(llvm::StringRef input) {
  Parts parts;
  std::string name;
  if (input.consume_front(mark)) {
    name = input.split('\n').first.str();
    input = input.split('\n').second;
  }
  while (true) {
    size_t end = input.find("\n=== ");
    parts.emplace_back(name, input.take_front(end).str());
    if (end == llvm::StringRef::npos)
      return parts;
    input = input.drop_front(end + 1 + mark.size());
    name = input.split('\n').first.str();
    input = input.split('\n').second;
  }
}

std::string glowish::parsers::joinParts(const Parts &parts) {
  std::string text;
  for (const auto &[name, contents] : parts) {
    if (!text.empty())
      text += "\n";
    if (!text.empty() || !name.empty())
      text += (mark + name + "\n").str();
    text += contents;
  }
  return text;
}

llvm::StringRef glowish::parsers::findPart(const Parts &parts,
                                           llvm::StringRef name) {
  for (const auto &[other, contents] : parts)
    if (other == name)
      return contents;
  return "";
}

std::shared_ptr<llvm::MemoryBuffer>
glowish::parsers::makeSideFile(llvm::StringRef bytes) {
  return llvm::MemoryBuffer::getMemBufferCopy(bytes);
}

ImportOptions glowish::parsers::getImportOptions(llvm::StringRef inputTypes) {
  ImportOptions options;
  options.evaluate = evaluateNode;
  options.maxTripCount = 4;
  llvm::SmallVector<llvm::StringRef> lines;
  inputTypes.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<std::string> texts(lines.begin(), lines.end());
  llvm::consumeError(readInputTypes(texts, options));
  return options;
}

static std::string weightsFolder;

const std::string &glowish::parsers::getWeightsFolder() {
  if (!weightsFolder.empty())
    return weightsFolder;
  llvm::SmallString<128> path;
  std::error_code code =
      llvm::sys::fs::createUniqueDirectory("glowish-parsers", path);
  if (!code)
    llvm::raw_fd_ostream(path.str().str() + "/weights", code)
        << robustness::makeWeights();
  if (code)
    llvm::report_fatal_error("there is no folder for temporary files");
  weightsFolder = path.str().str();
  std::atexit([] { llvm::sys::fs::remove_directories(weightsFolder); });
  return weightsFolder;
}
