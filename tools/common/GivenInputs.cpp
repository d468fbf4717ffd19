//===- GivenInputs.cpp - Tensors given for inputs -------------------------===//

#include "common/GivenInputs.h"
#include "common/TensorFile.h"
#include "common/ValueOption.h"
#include "glowish/Support/Random.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::inputCategory("Input options");

static cl::list<std::string>
    inputs("input", cl::desc("Fill an input from a file (.npy or .pb)"),
           cl::value_desc("name=file"), cl::cat(inputCategory));
static ValueOption<uint64_t>
    randomInputs("random-inputs",
                 cl::desc("Fill the other inputs with random numbers in "
                          "[-1, 1), integers with 0 or 1"),
                 cl::value_desc("seed"), cl::cat(inputCategory));
static cl::opt<std::string>
    testData("test-data",
             cl::desc("A folder with input_K.pb and output_K.pb, as ONNX's "
                      "tests have it"),
             cl::value_desc("folder"), cl::cat(inputCategory));

llvm::Expected<std::vector<NamedFile>>
glowish::parseNamedFiles(llvm::StringRef option,
                         llvm::ArrayRef<std::string> texts) {
  std::vector<NamedFile> files;
  for (llvm::StringRef text : texts) {
    // Names of placeholders may contain '='; paths given here rarely do.
    auto [name, path] = text.rsplit('=');
    if (name.empty() || path.empty())
      return makeError("-{0}={1}: the form is name=file", option, text);
    files.push_back({name.str(), path.str()});
  }
  return files;
}

llvm::StringRef glowish::getTestDataFolder() { return testData; }

std::string glowish::getTestDataPath(llvm::StringRef kind, size_t number) {
  llvm::SmallString<128> path(testData);
  llvm::sys::path::append(path, kind + "_" + llvm::Twine(number) + ".pb");
  return path.str().str();
}

llvm::Expected<GivenTensors> glowish::readGivenTensors() {
  GivenTensors given;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NamedFile> files,
                           parseNamedFiles("input", inputs));
  for (const NamedFile &file : files) {
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(file.path));
    given.byName[file.name] = {file.path, std::move(tensor)};
  }
  if (testData.empty())
    return given;
  for (size_t i = 0;; ++i) {
    std::string path = getTestDataPath("input", i);
    if (!llvm::sys::fs::exists(path))
      return given;
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(path));
    given.inOrder.push_back({path, std::move(tensor)});
  }
}

void glowish::stateGivenTypes(const GivenTensors &given,
                              ImportOptions &options) {
  for (const auto &[name, file] : given.byName)
    options.givenTypes.try_emplace(name, file.tensor.getType());
  for (const GivenTensor &file : given.inOrder)
    options.givenTypesInOrder.push_back(file.tensor.getType());
}

static Tensor makeRandomTensor(const Type &type, Random &random) {
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, isFloatKind(type.getKind())
                                ? double(random.uniform(-1, 1))
                                : double(random.below(2)));
  return tensor;
}

static llvm::Error fillInput(Session &session, const Buffer *buffer,
                             const GivenTensor &given) {
  if (llvm::Error error = session.setInput(buffer, given.tensor))
    return addContext(std::move(error), "'" + given.path + "': ");
  return llvm::Error::success();
}

llvm::Error glowish::fillInputs(Session &session, const GivenTensors &given) {
  std::set<const Buffer *> filled;
  for (const auto &[name, file] : given.byName) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(name));
    if (!buffer->isInput())
      return makeError("'{0}' is an output of the model, not an input", name);
    GLOWISH_RETURN_IF_ERROR(fillInput(session, buffer, file));
    filled.insert(buffer);
  }
  Random random(randomInputs);
  size_t number = 0;
  for (const Buffer *buffer : session.getPlaceholders()) {
    // A symbol's extent is that of other inputs.
    if (!buffer->isInput() || buffer->getInputExtents().range)
      continue;
    size_t index = number++;
    if (filled.count(buffer))
      continue;
    if (index < given.inOrder.size()) {
      GLOWISH_RETURN_IF_ERROR(fillInput(session, buffer, given.inOrder[index]));
      continue;
    }
    bool isRandom = randomInputs.getNumOccurrences() > 0;
    // A state, which an output becomes in the next run, begins as zeros.
    if (!isRandom && buffer->isOutput()) {
      GLOWISH_RETURN_IF_ERROR(
          session.setInput(buffer, Tensor(session.getLargestType(buffer))));
      continue;
    }
    if (!isRandom)
      return makeError("input '{0}' ({1}) has no value; state "
                       "-input={0}=FILE or -random-inputs=SEED",
                       buffer->getModelName(), buffer->getType().str());
    GLOWISH_RETURN_IF_ERROR(session.setInput(
        buffer, makeRandomTensor(session.getLargestType(buffer), random)));
  }
  return llvm::Error::success();
}
