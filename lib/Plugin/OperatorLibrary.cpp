//===- OperatorLibrary.cpp - Operators of shared libraries ----------------===//

#include "OperatorLibrary.h"
#include "glowish/Plugin/ExternalFunction.h"
#include "glowish/Plugin/SharedLibrary.h"
#include "glowish/Plugin/glowish_operators.h"
#include "glowish/Support/ChildProcess.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>

using namespace glowish;

namespace {

/// What a function of a plug-in may take.
constexpr unsigned maxSeconds = 10;

/// What the child process writes: whether it succeeded, and a text.
constexpr char succeeded = '+';
constexpr char failed = '-';

class LibraryOperator final : public ExternalOperator {
public:
  static llvm::Expected<std::unique_ptr<ExternalOperator>>
  create(const glowish_operator &record, llvm::StringRef libraryPath);

  llvm::Expected<TypeList> inferTypes(const ExternalUse &use) const override;
  bool isComposed() const override { return record.compose; }
  llvm::Expected<std::string> compose(const ExternalUse &use) const override;

private:
  explicit LibraryOperator(const glowish_operator &record)
      : ExternalOperator(record.domain, record.name), record(record) {}
  llvm::Error registerFunction(llvm::StringRef libraryPath) const;

  const glowish_operator &record;
};

} // namespace

//===- Functions that state types or compose nodes ------------------------===//

using Caller = llvm::function_ref<std::optional<std::string>(
    const glowish_call &call, glowish_message &message)>;

/// Calls \p caller, with the arguments of \p use, in a process of its own. It
/// returns nothing where it failed and wrote a message.
static llvm::Expected<std::string> callInChild(const ExternalUse &use,
                                               Caller caller) {
  CallArguments arguments(use.attributes);
  for (auto [type, constant] : llvm::zip_equal(use.inputs, use.constants)) {
    if (type)
      arguments.addInput(*type, constant ? constant->getBytes() : nullptr);
    else
      arguments.addAbsentInput();
  }
  Type unknown(ElemKind::Float, {});
  for (unsigned i = 0; i < use.numResults; ++i)
    arguments.addOutput(unknown, nullptr);
  const glowish_call &call = arguments.get();
  GLOWISH_ASSIGN_OR_RETURN(
      std::string answer,
      runInChildProcess(
          maxSeconds,
          [&] {
            char text[1024] = "";
            glowish_message message = {text, sizeof(text)};
            std::optional<std::string> result = caller(call, message);
            text[sizeof(text) - 1] = '\0';
            return result ? succeeded + *result : failed + std::string(text);
          }));
  if (answer.front() == succeeded)
    return answer.substr(1);
  std::string message = answer.substr(1);
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (message.empty())
    return makeError("it fails without a message");
  return makeError("{0}", message);
}

/// \p type as glowish has it.
static llvm::Expected<Type> convertType(const glowish_type &type) {
  if (type.kind < 0 || size_t(type.kind) >= std::size(allElemKinds) ||
      isQuantizedKind(ElemKind(type.kind)))
    return makeError("it returns the element kind {0}; accepted: those of "
                     "glowish_call.h",
                     type.kind);
  if (type.rank < 0 || type.rank > GLOWISH_MAX_RANK)
    return makeError("it returns the rank {0}; accepted: 0 to {1}", type.rank,
                     GLOWISH_MAX_RANK);
  DimsRef shape(type.extents, size_t(type.rank));
  ElemKind kind = ElemKind(type.kind);
  if (llvm::Error error = checkShape(kind, shape))
    return addContext(std::move(error), "it returns a type: ");
  return Type(kind, shape);
}

llvm::Expected<TypeList>
LibraryOperator::inferTypes(const ExternalUse &use) const {
  auto infer = [&](const glowish_call &call,
                   glowish_message &message) -> std::optional<std::string> {
    std::vector<glowish_type> types(use.numResults);
    if (record.infer(&call, types.data(), &message) != 0)
      return std::nullopt;
    return std::string(reinterpret_cast<const char *>(types.data()),
                       types.size() * sizeof(glowish_type));
  };
  auto run = [&]() -> llvm::Expected<TypeList> {
    GLOWISH_ASSIGN_OR_RETURN(std::string bytes, callInChild(use, infer));
    TypeList results;
    for (unsigned i = 0; i < use.numResults; ++i) {
      glowish_type type;
      std::memcpy(&type, bytes.data() + i * sizeof(type), sizeof(type));
      GLOWISH_ASSIGN_OR_RETURN(Type result, convertType(type));
      results.push_back(std::move(result));
    }
    return results;
  };
  return addContext(run(), "the plug-in's shape function: ");
}

llvm::Expected<std::string>
LibraryOperator::compose(const ExternalUse &use) const {
  auto call = [&](const glowish_call &arguments,
                  glowish_message &message) -> std::optional<std::string> {
    const char *text = record.compose(&arguments, &message);
    return text ? std::optional<std::string>(text) : std::nullopt;
  };
  return addContext(callInChild(use, call), "the plug-in's composition: ");
}

//===- Records ------------------------------------------------------------===//

llvm::Error
LibraryOperator::registerFunction(llvm::StringRef libraryPath) const {
  ExternalFunction own;
  own.name = function;
  own.operatorName = getFullName();
  own.reference = record.reference;
  own.kernel = record.kernel ? record.kernel : record.reference;
  for (const glowish_object &object :
       llvm::ArrayRef(record.objects, size_t(record.num_objects))) {
    if (!object.target || !object.path)
      return makeError("{0}: an object has no target or no path",
                       getFullName());
    llvm::SmallString<128> path(object.path);
    if (!llvm::sys::path::is_absolute(path)) {
      path = llvm::sys::path::parent_path(libraryPath);
      llvm::sys::path::append(path, object.path);
    }
    own.objects.push_back(
        {llvm::Triple::normalize(object.target), path.str().str()});
  }
  return addContext(registerExternalFunction(std::move(own)),
                    getFullName() + ": ");
}

llvm::Expected<std::unique_ptr<ExternalOperator>>
LibraryOperator::create(const glowish_operator &record,
                        llvm::StringRef libraryPath) {
  if (!record.domain || !record.name || !*record.name)
    return makeError("an operator has no domain or no name");
  std::unique_ptr<LibraryOperator> own(new LibraryOperator(record));
  own->firstOpset = record.first_opset;
  own->lastOpset = record.last_opset;
  own->schema = record.schema ? record.schema : "";
  if (record.compose)
    return std::move(own);
  if (!record.infer || !record.reference)
    return makeError("{0} has no {1}; accepted: `compose`, or `infer` and "
                     "`reference`",
                     own->getFullName(), record.infer ? "reference" : "infer");
  GLOWISH_RETURN_IF_ERROR(
      own->setFunction(record.function ? record.function : ""));
  GLOWISH_RETURN_IF_ERROR(own->registerFunction(libraryPath));
  return std::move(own);
}

llvm::Expected<std::vector<std::unique_ptr<ExternalOperator>>>
glowish::loadOperatorLibrary(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(llvm::sys::DynamicLibrary library,
                           loadSharedLibrary(path));
  auto *getOperators = reinterpret_cast<glowish_get_operators_function *>(
      library.getAddressOfSymbol("glowish_get_operators"));
  if (!getOperators)
    return makeError("'{0}' brings no operators: it has no "
                     "glowish_get_operators; accepted: a library with the "
                     "interface of glowish_operators.h",
                     path);
  const glowish_operators *list = getOperators();
  if (!list)
    return makeError("'{0}': glowish_get_operators returns null", path);
  if (list->version != GLOWISH_OPERATORS_VERSION)
    return makeError("'{0}' was compiled for version {1} of "
                     "glowish_operators.h; accepted: {2}",
                     path, list->version, GLOWISH_OPERATORS_VERSION);
  std::vector<std::unique_ptr<ExternalOperator>> operators;
  for (const glowish_operator &record :
       llvm::ArrayRef(list->operators, size_t(list->num_operators))) {
    GLOWISH_ASSIGN_OR_RETURN(
        auto own,
        addContext(LibraryOperator::create(record, path), "'" + path + "': "));
    operators.push_back(std::move(own));
  }
  return operators;
}
