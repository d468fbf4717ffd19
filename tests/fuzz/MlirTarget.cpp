//===- MlirTarget.cpp - Graphs as MLIR ------------------------------------===//

#include "MlirTarget.h"
#include "common/Foreign/RunProgram.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

using namespace glowish;
using namespace glowish::fuzz;

/// A program that running \p dialect needs and that is not installed, and where
/// it would be from; empty if all are there.
static std::string findMissing(MlirDialect dialect) {
  if (dialect == MlirDialect::StableHlo) {
    constexpr llvm::StringLiteral tool = "stablehlo-translate";
    const char *folder = std::getenv("STABLEHLO_BIN");
    bool isThere = llvm::sys::findProgramByName(tool) ||
                   (folder && llvm::sys::findProgramByName(tool, {folder}));
    return isThere ? "" : (tool + " in $STABLEHLO_BIN or $PATH").str();
  }
  for (llvm::StringRef tool : {"clang-19", "mlir-opt-19", "mlir-cpu-runner-19"})
    if (!llvm::sys::findProgramByName(tool))
      return (tool + " (scripts/install-deps.sh --mlir)").str();
  return "";
}

llvm::Expected<std::unique_ptr<GraphTarget>>
MlirTarget::create(llvm::StringRef name) {
  std::optional<MlirDialect> dialect =
      parseMlirDialect(name.drop_front(llvm::StringRef("mlir-").size()));
  if (!dialect)
    return makeError("-on={0}: there is no such dialect; accepted: {1}", name,
                     listMlirDialects("mlir-"));
  std::string missing = findMissing(*dialect);
  if (!missing.empty()) {
    llvm::outs() << "skipped: there is no " << missing << '\n';
    return nullptr;
  }
  GLOWISH_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::create());
  return std::unique_ptr<GraphTarget>(
      new MlirTarget(name, *dialect, std::move(folder)));
}

/// Writes the elements of the inputs to files of \p folder.
static llvm::Error writeInputs(const MlirSignature &signature,
                               const TemporaryFolder &folder,
                               const RunExtents &values) {
  for (auto [i, placeholder] : llvm::enumerate(signature.arguments)) {
    const Type &type = placeholder->getType();
    Tensor given = makeInput(placeholder->getModelName(), type,
                             placeholder->getInputExtents(), values);
    GLOWISH_RETURN_IF_ERROR(writeElements(
        folder.getFile("input_" + std::to_string(i) + ".bin"), given));
  }
  return llvm::Error::success();
}

static llvm::Expected<Outputs> readOutputs(const MlirSignature &signature,
                                           const TemporaryFolder &folder) {
  Outputs outputs;
  for (auto [i, placeholder] : llvm::enumerate(signature.results)) {
    GLOWISH_ASSIGN_OR_RETURN(
        outputs[placeholder->getModelName().str()],
        readElements(folder.getFile("output_" + std::to_string(i) + ".bin"),
                     placeholder->getType()));
  }
  return outputs;
}

llvm::Expected<Outputs> MlirTarget::run(Module &module,
                                        const RunExtents &values) const {
  GLOWISH_ASSIGN_OR_RETURN(auto own, TemporaryFolder::create());
  std::string text;
  llvm::raw_string_ostream os(text);
  if (llvm::Error error = writeMlir(module, dialect, os)) {
    if (dialect != MlirDialect::Tosa)
      return std::move(error);
    return llvm::make_error<Inexpressible>(llvm::toString(std::move(error)));
  }
  MlirSignature signature = getMlirSignature(module);
  GLOWISH_RETURN_IF_ERROR(writeFile(own->getFile("module.mlir"), text));
  GLOWISH_RETURN_IF_ERROR(writeInputs(signature, *own, values));
  // Not the first in the path: those that choose a version take longer to start
  // than this script.
  std::vector<std::string> command = {
      "/usr/bin/python3",
      FUZZ_SOURCES "/../mlir/run_mlir.py",
      own->getFile("module.mlir"),
      own->getPath().str(),
      "--dialect=" + getMlirDialectName(dialect).str(),
      "--library=" + folder->getFile("libtensor_files.so")};
  // What StableHLO's own lowering leaves, its interpreter has too.
  if (dialect == MlirDialect::StableHlo)
    command.push_back("--interpret");
  GLOWISH_RETURN_IF_ERROR(runProgram(command, own->getFile("log")).takeError());
  return readOutputs(signature, *own);
}
