//===- OperatorFlags.cpp - Flags that bring operators ---------------------===//

#include "common/OperatorFlags.h"
#include "common/ImportFlags.h"
#include "glowish/Support/Error.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::list<std::string>
    libraries("operators",
              cl::desc("Load a shared library that brings operators (may be "
                       "repeated)"),
              cl::value_desc("file"), cl::cat(modelCategory));
static cl::list<std::string> externals(
    "external",
    cl::desc("An operator of the model is a function of the application, whose "
             "types the file has rules for (may be repeated)"),
    cl::value_desc("domain:name,file"), cl::cat(modelCategory));

static llvm::Expected<std::shared_ptr<const ExternalOperators>> readFlags() {
  auto operators = std::make_shared<ExternalOperators>();
  for (const std::string &path : libraries)
    if (llvm::Error error = operators->load(path))
      return addContext(std::move(error), "-operators: ");
  for (llvm::StringRef text : externals) {
    auto [name, path] = text.split(',');
    if (path.empty())
      return makeError("-external={0}: the form is DOMAIN:NAME,FILE", text);
    if (llvm::Error error = operators->declare(name, path))
      return addContext(std::move(error), "-external=" + text + ": ");
  }
  return operators;
}

llvm::Expected<std::shared_ptr<const ExternalOperators>>
glowish::readOperatorFlags() {
  static std::shared_ptr<const ExternalOperators> operators;
  if (!operators && (!libraries.empty() || !externals.empty())) {
    GLOWISH_ASSIGN_OR_RETURN(operators, readFlags());
  }
  return operators;
}
