//===- ModuleImporter.cpp - Import of TorchScript archives ----------------===//

#include "Aten/OperatorList.h"
#include "Common/Messages.h"
#include "Common/TorchArchive.h"
#include "TorchScript/ModelInputs.h"
#include "TorchScript/ReaderLibrary.h"
#include "TorchScript/States.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TorchScript.h"
#include "glowish/Support/File.h"

using namespace glowish;
using namespace glowish::torchscript;

//===- Files --------------------------------------------------------------===//

/// Whether PyTorch wrote \p path, but for what torch.export does: checkFile()
/// says what it is.
static bool isTorchFile(llvm::StringRef path, llvm::StringRef bytes) {
  switch (classifyTorchFile(path, bytes)) {
  case TorchFile::Other:
  case TorchFile::Malformed:
  case TorchFile::ExportedProgram:
    return false;
  case TorchFile::TorchScript:
  case TorchFile::OldTorchScript:
  case TorchFile::Tensors:
  case TorchFile::Pickle:
  case TorchFile::Tar:
    return true;
  }
  llvm_unreachable("not a kind of files");
}

/// An error unless the file is an archive of TorchScript.
static llvm::Error checkFile(llvm::StringRef path) {
  // That it cannot be read is told as of other files.
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
  switch (classifyTorchFile(path, file->getBuffer())) {
  case TorchFile::TorchScript:
    return llvm::Error::success();
  case TorchFile::OldTorchScript:
    return makeError("'{0}' is TorchScript of PyTorch 1.3 or older; accepted: "
                     "what torch.jit.save() of PyTorch 1.4 and newer writes",
                     path);
  case TorchFile::Tensors:
  case TorchFile::Pickle:
    return makeError("'{0}' has tensors without a program, as torch.save() "
                     "writes them; accepted: the model that they are of, "
                     "written by torch.export.save() or torch.jit.save()",
                     path);
  case TorchFile::Tar:
    return makeError("'{0}' is a tar archive, as PyTorch wrote them before "
                     "release 0.4; accepted: a module that torch.jit.save() "
                     "wrote",
                     path);
  case TorchFile::Malformed:
    return makeError("'{0}' is a ZIP archive that is malformed: its list of "
                     "files is missing",
                     path);
  case TorchFile::ExportedProgram:
  case TorchFile::Other:
    return makeError("'{0}' is not a TorchScript archive; accepted: a module "
                     "that torch.jit.save() wrote",
                     path);
  }
  llvm_unreachable("not a kind of files");
}

/// Those of external operators.
static std::vector<std::string> getSchemas(const ImportOptions &options) {
  std::vector<std::string> schemas;
  if (options.operators)
    for (const auto &[name, op] : options.operators->getAll())
      if (!op->getSchema().empty())
        schemas.push_back(op->getSchema().str());
  return schemas;
}

/// Imports the methods of the module at \p path that \p functions state.
static llvm::Expected<std::vector<std::unique_ptr<Module>>>
importArchive(llvm::StringRef path,
              llvm::ArrayRef<ModelFormat::Function> functions) {
  // libtorch ignores checksums, and may crash where one is wrong.
  GLOWISH_ASSIGN_OR_RETURN(TorchArchive archive, TorchArchive::open(path));
  GLOWISH_RETURN_IF_ERROR(archive.checkAll());
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<ScriptMethod> methods;
  for (const ModelFormat::Function &function : functions) {
    const ImportOptions &options = function.options;
    GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                             readTorchProgram(file->getBuffer(), options.method,
                                              getSchemas(options)));
    programs.push_back(program);
    methods.push_back({*program, options});
  }
  return importMethods(methods);
}

/// Imports methods of one module.
static llvm::Expected<std::vector<std::unique_ptr<Module>>>
importTogether(llvm::ArrayRef<ModelFormat::Function> functions) {
  llvm::StringRef path = functions.front().path;
  GLOWISH_RETURN_IF_ERROR(checkFile(path));
  auto modules = importArchive(path, functions);
  if (!modules)
    return makeError("'{0}': {1}", path,
                     cleanMessage(llvm::toString(modules.takeError())));
  return modules;
}

llvm::Expected<std::unique_ptr<Module>>
glowish::importTorchScriptFile(llvm::StringRef path,
                               const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Module>> modules,
                           importTogether({{path, options}}));
  return std::move(modules.front());
}

static const ModelFormatRegistration
    format({.name = "TorchScript",
            .description = "a TorchScript archive (.pt)",
            .extensions = {".pt", ".pth", ".ptl", ".jit", ".torchscript"},
            .recognizes = isTorchFile,
            .import = importTorchScriptFile,
            .hasSymbols = true,
            .hasMethods = true,
            .hasTexts = true,
            .importTogether = importTogether,
            .getReaderPath = getTorchReaderPath,
            .operators = &aten::operatorList});
