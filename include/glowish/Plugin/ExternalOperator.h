//===- ExternalOperator.h - Operators from outside --------------*- C++ -*-===//

#ifndef GLOWISH_PLUGIN_EXTERNALOPERATOR_H
#define GLOWISH_PLUGIN_EXTERNALOPERATOR_H

#include "glowish/Base/Tensor.h"
#include "glowish/Ops/Body.h"
#include "glowish/Ops/NamedValues.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>

namespace glowish {

/// An external operator's inputs and attributes in a model.
struct ExternalUse {
  /// An input without a type is absent.
  std::vector<std::optional<Type>> inputs;
  /// The elements of each input; null where they are not constant.
  std::vector<const Tensor *> constants;
  NamedValues attributes;
  /// The results that the model names; the operator may have more.
  unsigned numResults = 1;
};

/// An operator that glowish does not know: of a plug-in, or a function of the
/// application.
class ExternalOperator {
public:
  ExternalOperator(llvm::StringRef domain, llvm::StringRef name)
      : domain(domain), name(name) {}
  virtual ~ExternalOperator();

  llvm::StringRef getDomain() const { return domain; }
  llvm::StringRef getName() const { return name; }
  /// "DOMAIN:NAME".
  std::string getFullName() const { return domain + ":" + name; }
  /// In PyTorch's notation; empty if none is stated.
  llvm::StringRef getSchema() const { return schema; }
  /// The name of its function in C.
  llvm::StringRef getFunction() const { return function; }
  /// Whether it exists in \p opset of its domain.
  bool isInOpset(int opset) const {
    return opset >= firstOpset && (lastOpset == 0 || opset <= lastOpset);
  }

  /// Returns the types of the results, at least as many as the model names. An
  /// error is one line; the caller adds the node.
  virtual llvm::Expected<TypeList> inferTypes(const ExternalUse &use) const = 0;
  /// Whether compose() is what the operator has in place of types and a
  /// function.
  virtual bool isComposed() const { return false; }
  /// Returns constants and a body in the text form of the graph.
  virtual llvm::Expected<std::string> compose(const ExternalUse &use) const;

protected:
  /// \p stated: the function's name; empty for one made of domain and name.
  llvm::Error setFunction(llvm::StringRef stated);

  std::string domain, name, schema, function;
  int firstOpset = 0, lastOpset = 0;
};

/// The external operators that models may have.
class ExternalOperators {
public:
  using Map = std::map<std::pair<std::string, std::string>,
                       std::unique_ptr<ExternalOperator>>;

  /// Adds those of the shared library \p path (glowish_operators.h), which
  /// stays loaded for the rest of the process. An error names the library.
  llvm::Error load(llvm::StringRef path);
  /// Declares \p fullName, "DOMAIN:NAME", to be a function of the application
  /// whose types the file \p path has rules for (ShapeRules.h).
  llvm::Error declare(llvm::StringRef fullName, llvm::StringRef path);

  /// Returns null if there is none.
  const ExternalOperator *find(llvm::StringRef domain,
                               llvm::StringRef name) const;
  const Map &getAll() const { return operators; }

private:
  llvm::Error add(std::unique_ptr<ExternalOperator> own);

  Map operators;
};

} // namespace glowish

#endif // GLOWISH_PLUGIN_EXTERNALOPERATOR_H
