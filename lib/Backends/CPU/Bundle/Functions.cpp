//===- Functions.cpp - Functions that a bundle calls ----------------------===//

#include "Functions.h"
#include "BundleFiles.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Plugin/ExternalFunction.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace glowish;

static constexpr llvm::StringLiteral callHeader =
#include "glowish/glowish_call.h.inc"
    ;

llvm::StringRef glowish::getCallHeader() { return callHeader; }

/// The object of \p function for \p target, of which the vendor does not
/// matter.
static std::optional<std::string> findObject(const ExternalFunction &function,
                                             const llvm::Triple &target) {
  for (const ExternalFunction::Object &object : function.objects) {
    llvm::Triple own(object.target);
    if (own.getArch() == target.getArch() && own.getOS() == target.getOS() &&
        own.getEnvironment() == target.getEnvironment())
      return object.path;
  }
  return std::nullopt;
}

std::vector<BundleFunction>
glowish::getBundleFunctions(llvm::ArrayRef<Variant> programs,
                            const llvm::Triple &target) {
  std::map<std::string, BundleFunction> functions;
  for (const Variant &program : programs)
    forEachFunction(*program.function, [&](const IRFunction &each) {
      for (const Instruction &instr : each.getInstrs())
        if (auto *call = llvm::dyn_cast<ExternalCallInstr>(&instr)) {
          std::string name = call->getFunction().str();
          BundleFunction own{name, call->getOperatorName().str()};
          if (auto *known = findExternalFunction(name)) {
            own.isOfPlugin = true;
            own.object = findObject(*known, target);
          }
          functions.try_emplace(name, std::move(own));
        }
    });
  std::vector<BundleFunction> list;
  for (auto &[name, function] : functions)
    list.push_back(std::move(function));
  return list;
}

//===- Header -------------------------------------------------------------===//

void glowish::printFunctionPrototypes(llvm::raw_ostream &os,
                                      const BundleFacts &facts) {
  if (facts.functions.empty())
    return;
  os << "\n#include \"glowish_call.h\"\n";
  printFunctionStatus(os);
  printLinkage(os, [&] {
    for (const BundleFunction &function : facts.functions)
      os << llvm::formatv(
          "\n/* The operator '{0}': {1}. */\nglowish_function {2};\n",
          escapeComment(function.operatorName),
          function.object ? "in " + facts.options.networkName + ".operators.a"
                          : "to be defined by the application",
          function.name);
  });
}

//===- Files --------------------------------------------------------------===//

llvm::Error glowish::addFunctions(BundleFiles &files,
                                  const BundleFacts &facts) {
  if (facts.functions.empty())
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(files.addFile(
      "glowish_call.h", [](llvm::raw_ostream &os) { os << callHeader; }));
  if (llvm::none_of(facts.functions, [](const BundleFunction &function) {
        return function.isOfPlugin;
      }))
    return llvm::Error::success();
  // Several functions may be in one object.
  std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> objects;
  for (const BundleFunction &function : facts.functions)
    if (function.object && !objects.count(*function.object)) {
      GLOWISH_ASSIGN_OR_RETURN(objects[*function.object],
                               readFile(*function.object));
    }
  std::vector<llvm::NewArchiveMember> members;
  std::vector<std::string> names;
  for (const auto &[path, buffer] : objects) {
    // No path and no date, so that archives are the same wherever they are
    // made.
    names.push_back("operators" + std::to_string(names.size()) + ".o");
    members.emplace_back(
        llvm::MemoryBufferRef(buffer->getBuffer(), names.back()));
  }
  for (auto [member, name] : llvm::zip_equal(members, names))
    member.MemberName = name;
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return addContext(archive.takeError(), "objects of plug-ins: ");
  return files.add(".operators.a", [&](llvm::raw_ostream &os) {
    os << (*archive)->getBuffer();
  });
}
