//===- InputFolder.cpp - Inputs of several runs ---------------------------===//

#include "common/InputFolder.h"
#include "common/FileList.h"
#include "common/TensorFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace cl = llvm::cl;
namespace fs = llvm::sys::fs;

static cl::opt<std::string> inputFolder(
    "input-dir",
    cl::desc("A folder of inputs for -output-dir, which gets a folder of "
             "outputs for each, or for -dump-profile, which runs with each: "
             ".npy and .pb files for the first input, and folders with "
             "input_K or NAME.npy (or .pb) for each input"),
    cl::value_desc("folder"), cl::cat(inputCategory));

static bool isTensorFile(llvm::StringRef path) {
  return (path.ends_with(".npy") || path.ends_with(".pb")) &&
         !fs::is_directory(path);
}

/// The number of file \p name, input_K; nullopt for others.
static std::optional<size_t> getNumber(llvm::StringRef name) {
  size_t number = 0;
  llvm::StringRef stem = llvm::sys::path::stem(name);
  if (!stem.consume_front("input_") || stem.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// The files of \p folder, one for each input.
static llvm::Expected<InputSet> listSet(const std::string &folder) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                           listFolder(folder, isTensorFile));
  std::map<size_t, std::string> numbered;
  InputSet set;
  for (const std::string &name : names) {
    std::string path = joinPaths(folder, name);
    llvm::StringRef stem = llvm::sys::path::stem(name);
    if (stem.starts_with("output_"))
      continue;
    std::optional<size_t> number = getNumber(name);
    if (!number) {
      set.byName.push_back({stem.str(), path});
      continue;
    }
    auto [other, isNew] = numbered.try_emplace(*number, path);
    if (!isNew)
      return makeError("-input-dir: '{0}' and '{1}' are the same input; "
                       "accepted: one of them",
                       other->second, path);
  }
  // Names may have the same form: input_1 alone is one.
  bool isInOrder = true;
  for (auto [i, entry] : llvm::enumerate(numbered))
    isInOrder &= entry.first == i;
  for (auto &[number, path] : numbered)
    if (isInOrder)
      set.inOrder.push_back(path);
    else
      set.byName.push_back({llvm::sys::path::stem(path).str(), path});
  return set;
}

llvm::Expected<std::vector<InputSet>> glowish::listInputSets() {
  std::vector<InputSet> sets;
  if (inputFolder.empty())
    return sets;
  auto isEither = [](llvm::StringRef path) {
    return isTensorFile(path) || fs::is_directory(path);
  };
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                           listFolder(inputFolder, isEither));
  for (const std::string &name : names) {
    std::string path = joinPaths(inputFolder, name);
    if (!fs::is_directory(path)) {
      sets.push_back({.name = llvm::sys::path::stem(name).str(),
                      .inOrder = {path},
                      .byName = {}});
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(InputSet set, listSet(path));
    set.name = name;
    if (!set.inOrder.empty() || !set.byName.empty())
      sets.push_back(std::move(set));
  }
  if (sets.empty())
    return makeError("-input-dir={0}: there are no inputs; accepted: a folder "
                     "with .npy or .pb files, or with folders of them",
                     inputFolder.getValue());
  return sets;
}

static llvm::Error refuseSecond(llvm::StringRef path, llvm::StringRef input) {
  return makeError("-input-dir: '{0}' is for the input '{1}', which another "
                   "file is given for; accepted: one of them",
                   path, input);
}

llvm::Error glowish::readInputSet(const InputSet &set, GivenTensors &given) {
  for (const NamedFile &file : set.byName) {
    if (given.byName.count(file.name))
      return refuseSecond(file.path, file.name);
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(file.path));
    given.byName[file.name] = {file.path, std::move(tensor)};
  }
  for (const std::string &path : set.inOrder) {
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readTensorFile(path));
    given.inOrder.push_back({path, std::move(tensor)});
  }
  return llvm::Error::success();
}

llvm::Error glowish::checkInputSet(const InputSet &set,
                                   const GivenTensors &given,
                                   const Session &session) {
  size_t number = 0;
  for (const Buffer *buffer : session.getPlaceholders()) {
    if (!buffer->isInput() || buffer->getInputExtents().range)
      continue;
    if (number < set.inOrder.size() &&
        given.byName.count(buffer->getModelName().str()))
      return refuseSecond(set.inOrder[number], buffer->getModelName());
    ++number;
  }
  if (number < set.inOrder.size())
    return makeError("-input-dir: '{0}' is for an input that the model does "
                     "not have; accepted: input_0 to input_{1}",
                     set.inOrder[number], int64_t(number) - 1);
  return llvm::Error::success();
}
