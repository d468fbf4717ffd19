//===- Json.cpp - Fields of JSON objects ----------------------------------===//

#include "TorchExport/Json.h"
#include "Common/Messages.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::torchexport;
namespace json = llvm::json;

/// Graphs of branches and loops nest a few times; the parser recurses.
static constexpr int maxDepth = 500;

/// An error if brackets outside of strings nest deeper.
static llvm::Error checkDepth(llvm::StringRef text) {
  int depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      if (c == '\\')
        ++i;
      isString = c != '"';
      continue;
    }
    if (c == '"')
      isString = true;
    if (c == '{' || c == '[')
      ++depth;
    if (c == '}' || c == ']')
      --depth;
    if (depth > maxDepth)
      return makeError("it nests deeper than {0} levels", maxDepth);
  }
  return llvm::Error::success();
}

llvm::Expected<json::Value> torchexport::parseJson(llvm::StringRef text) {
  GLOWISH_RETURN_IF_ERROR(checkDepth(text));
  return json::parse(text);
}

static llvm::Error refuseField(llvm::StringRef key, llvm::StringRef type) {
  return makeError("the field {0} is absent or no {1}", quote(key), type);
}

llvm::Expected<const json::Object *>
torchexport::getObject(const json::Object &object, llvm::StringRef key) {
  if (const json::Object *value = object.getObject(key))
    return value;
  return refuseField(key, "object");
}

llvm::Expected<const json::Array *>
torchexport::getArray(const json::Object &object, llvm::StringRef key) {
  if (const json::Array *value = object.getArray(key))
    return value;
  return refuseField(key, "array");
}

llvm::Expected<llvm::StringRef>
torchexport::getString(const json::Object &object, llvm::StringRef key) {
  if (auto value = object.getString(key))
    return *value;
  return refuseField(key, "string");
}

llvm::Expected<int64_t> torchexport::getInteger(const json::Object &object,
                                                llvm::StringRef key) {
  if (auto value = object.getInteger(key))
    return *value;
  return refuseField(key, "integer");
}

llvm::Expected<const json::Object *>
torchexport::asObject(const json::Value &value) {
  if (const json::Object *object = value.getAsObject())
    return object;
  return makeError("an element of an array is no object");
}

llvm::Expected<JsonMember> torchexport::getMember(const json::Object &object) {
  std::optional<JsonMember> found;
  for (const auto &[key, member] : object) {
    if (member.kind() == json::Value::Null)
      continue;
    if (found)
      return makeError("a union has the members {0} and {1}; accepted: one",
                       quote(found->name), quote(llvm::StringRef(key)));
    found = JsonMember{key, &member};
  }
  if (found)
    return *found;
  return makeError("a union has no member");
}

llvm::Expected<JsonMember> torchexport::getMember(const json::Value &value) {
  GLOWISH_ASSIGN_OR_RETURN(const json::Object *object, asObject(value));
  return getMember(*object);
}

const json::Object *torchexport::findTensorMeta(const json::Object &graph,
                                                llvm::StringRef name) {
  const json::Object *all = graph.getObject("tensor_values");
  return all ? all->getObject(name) : nullptr;
}
