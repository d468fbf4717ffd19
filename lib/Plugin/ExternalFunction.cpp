//===- ExternalFunction.cpp - The code of external operators --------------===//

#include "glowish/Plugin/ExternalFunction.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringMap.h"

using namespace glowish;

#define CHECK_KIND(ENUM, NUMBER)                                               \
  static_assert(int(ElemKind::ENUM) == NUMBER, "glowish_call.h")
CHECK_KIND(Float, GLOWISH_FLOAT);
CHECK_KIND(Float16, GLOWISH_FLOAT16);
CHECK_KIND(BFloat16, GLOWISH_BFLOAT16);
CHECK_KIND(Double, GLOWISH_DOUBLE);
CHECK_KIND(Int8, GLOWISH_INT8);
CHECK_KIND(UInt8, GLOWISH_UINT8);
CHECK_KIND(Int16, GLOWISH_INT16);
CHECK_KIND(UInt16, GLOWISH_UINT16);
CHECK_KIND(Int32, GLOWISH_INT32);
CHECK_KIND(UInt32, GLOWISH_UINT32);
CHECK_KIND(Int64, GLOWISH_INT64);
CHECK_KIND(UInt64, GLOWISH_UINT64);
CHECK_KIND(Bool, GLOWISH_BOOL);
#undef CHECK_KIND

//===- The functions of this process --------------------------------------===//

static llvm::StringMap<ExternalFunction> &getFunctions() {
  static llvm::StringMap<ExternalFunction> functions;
  return functions;
}

llvm::Error glowish::registerExternalFunction(ExternalFunction function) {
  std::string name = function.name;
  if (!getFunctions().try_emplace(name, std::move(function)).second)
    return makeError("the function '{0}' is there already", name);
  return llvm::Error::success();
}

const ExternalFunction *glowish::findExternalFunction(llvm::StringRef name) {
  auto found = getFunctions().find(name);
  return found == getFunctions().end() ? nullptr : &found->second;
}

void glowish::forEachExternalFunction(
    llvm::function_ref<void(const ExternalFunction &)> visit) {
  for (const auto &entry : getFunctions())
    visit(entry.second);
}

llvm::Error glowish::makeNoFunctionError(llvm::StringRef operatorName,
                                         llvm::StringRef name) {
  return makeError("the operator '{0}' is a function of the application, "
                   "'{1}'; accepted here: bundles, or -operators=FILE with it",
                   operatorName, name);
}

llvm::Error glowish::makeFunctionError(llvm::StringRef operatorName) {
  if (operatorName.empty())
    return makeError("the function of an external operator failed");
  return makeError("the function of the operator '{0}' failed", operatorName);
}

//===- Arguments ----------------------------------------------------------===//

/// Sets what `attribute` is a list of to the \p count elements at \p elements.
static void setList(glowish_attribute &attribute, const int64_t *elements) {
  attribute.type = GLOWISH_INTS;
  attribute.ints = elements;
}
static void setList(glowish_attribute &attribute, const double *elements) {
  attribute.type = GLOWISH_FLOATS;
  attribute.floats = elements;
}
static void setList(glowish_attribute &attribute, const char *const *elements) {
  attribute.type = GLOWISH_STRINGS;
  attribute.strings = elements;
}

CallArguments::CallArguments(const NamedValues &values) {
  for (const NamedValue &value : values) {
    glowish_attribute &attribute = attributes.emplace_back();
    attribute.name = value.name.c_str();
    attribute.count = 1;
    std::visit(
        [&](const auto &content) {
          using T = std::decay_t<decltype(content)>;
          if constexpr (std::is_arithmetic_v<T>) {
            setList(attribute, &content);
          } else if constexpr (std::is_same_v<T, std::string>) {
            strings.push_back({content.c_str()});
            setList(attribute, strings.back().data());
          } else {
            attribute.is_list = 1;
            attribute.count = int64_t(content.size());
            if constexpr (std::is_same_v<T, std::vector<std::string>>) {
              std::vector<const char *> &list = strings.emplace_back();
              for (const std::string &element : content)
                list.push_back(element.c_str());
              setList(attribute, list.data());
            } else {
              setList(attribute, content.data());
            }
          }
        },
        value.content);
  }
}

void CallArguments::add(Tensors &tensors, const Type &type, void *data) {
  extents.push_back(Dims(type.getShape()));
  tensors.push_back({data, extents.back().data(), int32_t(type.getRank()),
                     int32_t(type.getKind())});
}

void CallArguments::addAbsentInput() {
  extents.emplace_back();
  inputs.push_back({nullptr, extents.back().data(), 0, GLOWISH_ABSENT});
}

const glowish_call &CallArguments::get() {
  call = {inputs.data(),           outputs.data(),
          attributes.data(),       int32_t(inputs.size()),
          int32_t(outputs.size()), int32_t(attributes.size())};
  return call;
}
