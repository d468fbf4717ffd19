//===- NpyFolder.cpp - Samples in arrays ----------------------------------===//

#include "model-trainer/NpyFolder.h"
#include "common/TensorFile.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;

static std::string getArrayPath(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, getFileName(name) + ".npy");
  return path.str().str();
}

/// Reads the array of \p name at \p path.
static llvm::Expected<SampleArray> readArray(llvm::StringRef path,
                                             llvm::StringRef name) {
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(path));
  if (tensor.getType().getShape().empty())
    return makeError("'{0}' holds a single number; accepted: an array with a "
                     "first dimension of samples",
                     path);
  SampleArray array;
  array.name = name.str();
  array.origin = path.str();
  array.values = std::move(tensor);
  return array;
}

/// Where the array of the input \p name is; the only one may be x.npy.
static std::string findInputPath(llvm::StringRef folder, llvm::StringRef name,
                                 bool isOnly) {
  std::string path = getArrayPath(folder, name),
              other = getArrayPath(folder, "x");
  bool isOther =
      isOnly && !llvm::sys::fs::exists(path) && llvm::sys::fs::exists(other);
  return isOther ? other : path;
}

llvm::Expected<DataSet> glowish::readNpyFolder(llvm::StringRef folder,
                                               const DataRequest &request) {
  DataSet data;
  for (const ParsedModel::StatedInput &input : request.inputs) {
    GLOWISH_ASSIGN_OR_RETURN(
        SampleArray array,
        readArray(findInputPath(folder, input.name, request.inputs.size() == 1),
                  input.name));
    data.inputs.push_back(std::move(array));
  }
  GLOWISH_ASSIGN_OR_RETURN(
      data.label,
      readArray(getArrayPath(folder, request.label), request.label));
  for (const SampleArray &input : data.inputs)
    if (input.values.getType().getShape().front() != data.getNumSamples())
      return makeError("'{0}' has {1} samples, but '{2}' has {3}", input.origin,
                       input.values.getType().getShape().front(),
                       data.label.origin, data.getNumSamples());
  return data;
}
