//===- TextFiles.cpp - Files of models, and of text forms -----------------===//

#include "glowish/Driver/Compilation.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IRText.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/File.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;

//===- Models by their formats --------------------------------------------===//

llvm::Expected<const ModelFormat *>
glowish::findModelFormat(llvm::StringRef path) {
  if (isTextForm(path))
    return nullptr;
  return getModelFormat(path);
}

llvm::Expected<std::unique_ptr<ParsedModel>>
glowish::parseModel(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  if (!format || !format->parse)
    return nullptr;
  return format->parse(path);
}

//===- Text forms on disk -------------------------------------------------===//

std::vector<std::string> glowish::listTextFiles(llvm::StringRef path) {
  std::vector<std::string> files = {path.str()};
  std::string sidePath = (path + ".weights").str();
  if (llvm::sys::fs::exists(sidePath))
    files.push_back(std::move(sidePath));
  return files;
}

llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
glowish::openModelFiles(llvm::StringRef path, const ImportOptions &options) {
  std::vector<std::string> paths;
  if (isTextForm(path))
    paths = listTextFiles(path);
  else
    GLOWISH_ASSIGN_OR_RETURN(paths, listModelFiles(path, options));
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  for (const std::string &own : paths) {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::MemoryBuffer> file,
                             readFile(own));
    files.push_back(std::move(file));
  }
  return files;
}

/// The bytes of the files of \p path; null in place of one that is not there.
static llvm::Expected<std::pair<std::unique_ptr<llvm::MemoryBuffer>,
                                std::shared_ptr<llvm::MemoryBuffer>>>
readText(llvm::StringRef path) {
  std::vector<std::string> files = listTextFiles(path);
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(files[0]));
  std::shared_ptr<llvm::MemoryBuffer> sideFile;
  if (files.size() > 1) {
    GLOWISH_ASSIGN_OR_RETURN(sideFile, readFile(files[1]));
  }
  return std::make_pair(std::move(text), sideFile);
}

llvm::Expected<std::unique_ptr<Module>>
glowish::readModule(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto files, readText(path));
  return parseModule(files.first->getBuffer(), path, files.second);
}

llvm::Expected<std::unique_ptr<IRFunction>>
glowish::readIR(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto files, readText(path));
  return parseIR(files.first->getBuffer(), path, files.second);
}

template <typename PrintFn>
static llvm::Error writeText(llvm::StringRef path, PrintFn print) {
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> text = files.add(path);
  if (!text)
    return text.takeError();
  llvm::Expected<llvm::raw_pwrite_stream &> weights =
      files.add((path + ".weights").str());
  if (!weights)
    return weights.takeError();
  print(*text, *weights);
  return files.commit();
}

llvm::Error glowish::writeModule(const Module &module, llvm::StringRef path) {
  return writeText(path, [&](llvm::raw_ostream &os, llvm::raw_ostream &side) {
    printModule(os, module, &side);
  });
}

llvm::Error glowish::writeIR(const IRFunction &function, llvm::StringRef path) {
  return writeText(path, [&](llvm::raw_ostream &os, llvm::raw_ostream &side) {
    printIR(os, function, &side);
  });
}
