//===- GivenInputs.h - Tensors given for inputs -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_GIVENINPUTS_H
#define GLOWISH_TOOLS_COMMON_GIVENINPUTS_H

#include "glowish/Driver/Session.h"
#include "glowish/Importer/ImportOptions.h"
#include "llvm/Support/CommandLine.h"
#include <map>

namespace glowish {

extern llvm::cl::OptionCategory inputCategory;

/// A placeholder's name and a file.
struct NamedFile {
  std::string name, path;
};

/// Reads what -\p option has been given, `name=file` each.
llvm::Expected<std::vector<NamedFile>>
parseNamedFiles(llvm::StringRef option, llvm::ArrayRef<std::string> texts);

/// A tensor for an input.
struct GivenTensor {
  std::string path;
  Tensor tensor;
};

/// The tensors that inputs are filled with: of -input by name, and of
/// -test-data in the order of the model's inputs.
struct GivenTensors {
  std::map<std::string, GivenTensor> byName;
  std::vector<GivenTensor> inOrder;
};

/// -test-data; empty where it is not given.
llvm::StringRef getTestDataFolder();
/// \p kind_K.pb of -test-data.
std::string getTestDataPath(llvm::StringRef kind, size_t number);

/// Reads the files of -input and -test-data.
llvm::Expected<GivenTensors> readGivenTensors();

/// Adds the extents of the given tensors to the options of the importer.
void stateGivenTypes(const GivenTensors &given, ImportOptions &options);

/// Fills all inputs of \p session: those without a file as -random-inputs says.
/// An error names the input, and the file if it does not fit.
llvm::Error fillInputs(Session &session, const GivenTensors &given);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_GIVENINPUTS_H
