//===- ExternalOperator.cpp - Operators from outside ----------------------===//

#include "glowish/Plugin/ExternalOperator.h"
#include "OperatorLibrary.h"
#include "ShapeRules.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

ExternalOperator::~ExternalOperator() = default;

llvm::Expected<std::string>
ExternalOperator::compose(const ExternalUse & /*use*/) const {
  llvm_unreachable("the operator is not composed");
}

llvm::Error ExternalOperator::setFunction(llvm::StringRef stated) {
  function = stated.str();
  if (stated.empty()) {
    function = domain.empty() ? name : domain + "_" + name;
    for (char &c : function)
      c = llvm::isAlnum(c) ? c : '_';
  }
  if (!isIdentifier(function))
    return makeError("{0}: '{1}' is not the name of a function in C; accepted: "
                     "letters, digits and underscores, no digit first",
                     getFullName(), function);
  return llvm::Error::success();
}

//===- Functions of the application ---------------------------------------===//

namespace {

class ApplicationFunction final : public ExternalOperator {
public:
  static llvm::Expected<std::unique_ptr<ExternalOperator>>
  create(llvm::StringRef domain, llvm::StringRef name, ShapeRules rules) {
    std::unique_ptr<ApplicationFunction> own(
        new ApplicationFunction(domain, name, std::move(rules)));
    GLOWISH_RETURN_IF_ERROR(own->setFunction(own->rules.function));
    return std::move(own);
  }

  llvm::Expected<TypeList> inferTypes(const ExternalUse &use) const override {
    return rules.infer(use);
  }

private:
  ApplicationFunction(llvm::StringRef domain, llvm::StringRef name,
                      ShapeRules own)
      : ExternalOperator(domain, name), rules(std::move(own)) {
    schema = rules.schema;
  }

  ShapeRules rules;
};

} // namespace

llvm::Error ExternalOperators::declare(llvm::StringRef fullName,
                                       llvm::StringRef path) {
  auto [domain, name] = fullName.rsplit(':');
  if (domain.size() == fullName.size() || name.empty())
    return makeError("'{0}' is no operator; accepted: DOMAIN:NAME", fullName);
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  GLOWISH_ASSIGN_OR_RETURN(ShapeRules rules,
                           ShapeRules::parse(buffer->getBuffer(), path));
  GLOWISH_ASSIGN_OR_RETURN(
      auto own, ApplicationFunction::create(domain, name, std::move(rules)));
  return add(std::move(own));
}

//===- All of them --------------------------------------------------------===//

llvm::Error ExternalOperators::load(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto all, loadOperatorLibrary(path));
  for (std::unique_ptr<ExternalOperator> &own : all)
    if (llvm::Error error = add(std::move(own)))
      return addContext(std::move(error), "'" + path + "': ");
  return llvm::Error::success();
}

llvm::Error ExternalOperators::add(std::unique_ptr<ExternalOperator> own) {
  std::string fullName = own->getFullName();
  std::pair key(own->getDomain().str(), own->getName().str());
  if (!operators.try_emplace(key, std::move(own)).second)
    return makeError("the operator '{0}' is there already", fullName);
  return llvm::Error::success();
}

const ExternalOperator *ExternalOperators::find(llvm::StringRef domain,
                                                llvm::StringRef name) const {
  auto found = operators.find({domain.str(), name.str()});
  return found == operators.end() ? nullptr : found->second.get();
}
