//===- RunResults.cpp - What becomes of a program's outputs ---------------===//

#include "common/RunResults.h"
#include "common/GivenInputs.h"
#include "common/TensorFile.h"
#include "common/Tool.h"
#include "common/ValueOption.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::runCategory("Run options");

static cl::opt<std::string> outputFolder("output-dir",
                                         cl::desc("Write each output as .npy"),
                                         cl::value_desc("folder"),
                                         cl::cat(runCategory));
static cl::list<std::string>
    expectations("expect",
                 cl::desc("Compare an output with a file; exit code 2 if they "
                          "differ"),
                 cl::value_desc("name=file"), cl::cat(runCategory));
static ValueOption<double>
    relativeTolerance("rtol",
                      cl::desc("Tolerance relative to the expected "
                               "element (default 1e-3)"),
                      cl::init(1e-3), atLeast(0.0), cl::cat(runCategory));
static ValueOption<double>
    absoluteTolerance("atol", cl::desc("Absolute tolerance (default 1e-5)"),
                      cl::init(1e-5), atLeast(0.0), cl::cat(runCategory));
/// The files output_K.pb of -test-data, by the order of the model's outputs.
static std::vector<NamedFile> findExpectedData(const Session &session) {
  std::vector<NamedFile> files;
  for (const Buffer *buffer : session.getOutputs())
    if (!getTestDataFolder().empty())
      files.push_back({buffer->getModelName().str(),
                       getTestDataPath("output", files.size())});
  return files;
}

llvm::Error glowish::writeOutputs(const Session &session,
                                  const std::string &subfolder) {
  if (outputFolder.empty())
    return llvm::Error::success();
  llvm::SmallString<128> folder(outputFolder);
  llvm::sys::path::append(folder, subfolder);
  GLOWISH_RETURN_IF_ERROR(createDirectories(folder));
  for (const Buffer *buffer : session.getOutputs()) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, getFileName(buffer->getModelName()) + ".npy");
    GLOWISH_RETURN_IF_ERROR(writeNpyFile(path, session.getOutput(buffer)));
  }
  return llvm::Error::success();
}

llvm::Expected<int> glowish::checkOutputs(const Session &session) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NamedFile> files,
                           parseNamedFiles("expect", expectations));
  llvm::append_range(files, findExpectedData(session));
  int code = ExitCode::success;
  for (const NamedFile &file : files) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(file.name));
    GLOWISH_ASSIGN_OR_RETURN(Tensor expected, readTensorFile(file.path));
    Tensor actual = session.getOutput(buffer);
    if (actual.getType() != expected.getType())
      return makeError("output '{0}' is {1}, but '{2}' holds {3}", file.name,
                       actual.getType().str(), file.path,
                       expected.getType().str());
    Comparison result =
        compareTensors(actual, expected, relativeTolerance, absoluteTolerance);
    llvm::outs() << llvm::formatv(
        "{0}: largest error {1:E2} at {2} ({3:E2} of the largest magnitude), "
        "{4} of {5} elements over tolerance",
        file.name, result.maxError, result.maxErrorIndex,
        result.getRelativeError(), result.numMismatches,
        expected.getNumElements());
    if (result.numMismatches) {
      int64_t worst = result.worstMismatchIndex;
      llvm::outs() << llvm::format(", most at %lld: %.9g, expected %.9g",
                                   (long long)worst, actual.getAsDouble(worst),
                                   expected.getAsDouble(worst));
      code = ExitCode::mismatch;
    }
    llvm::outs() << "\n";
  }
  return code;
}

bool glowish::asksForResults() {
  return !outputFolder.empty() || !expectations.empty() ||
         !getTestDataFolder().empty();
}
