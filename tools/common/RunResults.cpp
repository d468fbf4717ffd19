//===- RunResults.cpp - Writes and checks outputs -------------------------===//

#include "common/RunResults.h"
#include "common/GivenInputs.h"
#include "common/TensorFile.h"
#include "common/Tool.h"
#include "common/ValueOption.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Exporter/TensorProtoFile.h"
#include "glowish/Importer/TensorProtoFile.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::runCategory("Run options");

static cl::opt<std::string>
    outputFolder("output-dir",
                 cl::desc("Write each output as .npy, and sequences as .pb"),
                 cl::value_desc("folder"), cl::cat(runCategory));
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

namespace {
/// An output of the model: a tensor, or a sequence of tensors.
struct ModelOutput {
  std::string name;
  bool isSequence = false;
  std::vector<const Buffer *> buffers;
};
} // namespace

/// Returns the elements of the output \p sequence. Variants of a model may have
/// sequences of different lengths.
static ModelOutput findSequence(llvm::ArrayRef<const Buffer *> buffers,
                                const SequenceOutput &sequence) {
  ModelOutput output{sequence.name, true, {}};
  for (const Buffer *buffer : buffers)
    if (buffer->getModelName() ==
        sequence.name + "." + std::to_string(output.buffers.size()))
      output.buffers.push_back(buffer);
  return output;
}

/// Returns the outputs of the model in its order, where \p sequences are those
/// that are sequences.
static std::vector<ModelOutput>
getModelOutputs(const Session &session,
                llvm::ArrayRef<SequenceOutput> sequences) {
  std::vector<const Buffer *> tensors = session.getOutputs();
  std::vector<ModelOutput> outputs;
  for (const SequenceOutput &sequence : sequences)
    outputs.push_back(findSequence(tensors, sequence));
  for (const ModelOutput &output : outputs)
    llvm::erase_if(tensors, [&](const Buffer *buffer) {
      return llvm::is_contained(output.buffers, buffer);
    });
  // The tensors are in the order of the model, between the sequences.
  std::vector<ModelOutput> sorted;
  auto tensor = tensors.begin();
  for (auto [sequence, output] : llvm::zip_equal(sequences, outputs)) {
    for (; sorted.size() < sequence.index && tensor != tensors.end(); ++tensor)
      sorted.push_back({(*tensor)->getModelName().str(), false, {*tensor}});
    sorted.push_back(std::move(output));
  }
  for (; tensor != tensors.end(); ++tensor)
    sorted.push_back({(*tensor)->getModelName().str(), false, {*tensor}});
  return sorted;
}

llvm::Expected<std::vector<OutputFile>>
glowish::encodeOutputs(const Session &session,
                       llvm::ArrayRef<SequenceOutput> sequences,
                       const std::string &subfolder) {
  llvm::SmallString<128> folder(outputFolder);
  llvm::sys::path::append(folder, subfolder);
  std::vector<OutputFile> files;
  for (const ModelOutput &output : getModelOutputs(session, sequences)) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, getFileName(output.name));
    path += output.isSequence ? ".pb" : ".npy";
    OutputFile file = {path.str().str(), ""};
    if (output.isSequence) {
      std::vector<Tensor> elements;
      for (const Buffer *buffer : output.buffers)
        elements.push_back(session.getOutput(buffer));
      file.bytes = writeSequenceProto(output.name, elements);
    } else {
      GLOWISH_ASSIGN_OR_RETURN(
          file.bytes,
          encodeNpy(path, session.getOutput(output.buffers.front())));
    }
    files.push_back(std::move(file));
  }
  return files;
}

llvm::Error glowish::writeOutputFiles(llvm::ArrayRef<OutputFile> files) {
  for (const OutputFile &file : files) {
    GLOWISH_RETURN_IF_ERROR(
        createDirectories(llvm::sys::path::parent_path(file.path)));
    GLOWISH_RETURN_IF_ERROR(writeFile(file.path, file.bytes));
  }
  return llvm::Error::success();
}

llvm::Error glowish::writeOutputs(const Session &session,
                                  llvm::ArrayRef<SequenceOutput> sequences,
                                  const std::string &subfolder) {
  if (outputFolder.empty())
    return llvm::Error::success();
  // A model may have no outputs.
  llvm::SmallString<128> folder(outputFolder);
  llvm::sys::path::append(folder, subfolder);
  GLOWISH_RETURN_IF_ERROR(createDirectories(folder));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<OutputFile> files,
                           encodeOutputs(session, sequences, subfolder));
  return writeOutputFiles(files);
}

/// A file and what it is compared with.
struct Expectation {
  std::string path;
  ModelOutput output;
};

/// Returns the files of -expect and output_K.pb of -test-data.
static llvm::Expected<std::vector<Expectation>>
findExpectations(const Session &session, llvm::ArrayRef<ModelOutput> outputs) {
  std::vector<Expectation> found;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NamedFile> files,
                           parseNamedFiles("expect", expectations));
  for (const NamedFile &file : files) {
    auto sequence = llvm::find_if(outputs, [&](const ModelOutput &output) {
      return output.isSequence && output.name == file.name;
    });
    if (sequence != outputs.end()) {
      found.push_back({file.path, *sequence});
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(file.name));
    found.push_back({file.path, {file.name, false, {buffer}}});
  }
  if (!getTestDataFolder().empty())
    for (auto [number, output] : llvm::enumerate(outputs))
      found.push_back({getTestDataPath("output", number), output});
  return found;
}

/// Compares the tensor \p actual, called \p name, with \p expected, which is in
/// the file \p path; returns the exit code.
static llvm::Expected<int> checkTensor(llvm::StringRef name,
                                       const Tensor &actual,
                                       llvm::StringRef path,
                                       const Tensor &expected) {
  if (actual.getType() != expected.getType())
    return makeError("output '{0}' is {1}, but '{2}' holds {3}", name,
                     actual.getType().str(), path, expected.getType().str());
  Comparison result =
      compareTensors(actual, expected, relativeTolerance, absoluteTolerance);
  llvm::outs() << llvm::formatv(
      "{0}: largest error {1:E2} at {2} ({3:E2} of the largest magnitude), "
      "{4} of {5} elements over tolerance",
      name, result.maxError, result.maxErrorIndex, result.getRelativeError(),
      result.numMismatches, expected.getNumElements());
  if (result.numMismatches) {
    int64_t worst = result.worstMismatchIndex;
    llvm::outs() << llvm::format(", most at %lld: %.9g, expected %.9g",
                                 (long long)worst, actual.getAsDouble(worst),
                                 expected.getAsDouble(worst));
  }
  llvm::outs() << "\n";
  return result.numMismatches ? ExitCode::mismatch : ExitCode::success;
}

llvm::Expected<int>
glowish::checkOutputs(const Session &session,
                      llvm::ArrayRef<SequenceOutput> sequences) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<Expectation> expected,
      findExpectations(session, getModelOutputs(session, sequences)));
  int code = ExitCode::success;
  for (const auto &[path, output] : expected) {
    std::vector<Tensor> tensors;
    if (output.isSequence) {
      GLOWISH_ASSIGN_OR_RETURN(tensors, readSequenceProto(path));
    } else {
      GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(path));
      tensors.push_back(std::move(tensor));
    }
    if (tensors.size() != output.buffers.size())
      return makeError("output '{0}' is a sequence of {1} tensors, but '{2}' "
                       "holds {3}",
                       output.name, output.buffers.size(), path,
                       tensors.size());
    for (auto [buffer, tensor] : llvm::zip_equal(output.buffers, tensors)) {
      GLOWISH_ASSIGN_OR_RETURN(int own, checkTensor(buffer->getModelName(),
                                                    session.getOutput(buffer),
                                                    path, tensor));
      code = std::max(code, own);
    }
  }
  return code;
}

bool glowish::asksForResults() {
  return !outputFolder.empty() || !expectations.empty() ||
         !getTestDataFolder().empty();
}

bool glowish::asksForOutputsAlone() {
  return !outputFolder.empty() && expectations.empty() &&
         getTestDataFolder().empty();
}
