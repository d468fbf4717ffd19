//===- ExternalFunction.cpp - The code of external operators --------------===//

#include "glowish/Plugin/ExternalFunction.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

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

namespace {

/// Plug-ins bring functions while other threads compile and load programs. None
/// goes, so that what was found stays.
struct Registry {
  std::mutex mutex;
  llvm::StringMap<ExternalFunction> functions;
};

} // namespace

static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

llvm::Error glowish::registerExternalFunction(ExternalFunction function) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto [known, isNew] = registry.functions.try_emplace(function.name, function);
  const ExternalFunction &first = known->second;
  if (!isNew && (first.operatorName != function.operatorName ||
                 first.kernel != function.kernel ||
                 first.reference != function.reference))
    return makeError("the function '{0}' is there already", function.name);
  return llvm::Error::success();
}

const ExternalFunction *glowish::findExternalFunction(llvm::StringRef name) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto found = registry.functions.find(name);
  return found == registry.functions.end() ? nullptr : &found->second;
}

void glowish::forEachExternalFunction(
    llvm::function_ref<void(const ExternalFunction &)> visit) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  for (const auto &entry : registry.functions)
    visit(entry.second);
}

//===- Arguments ----------------------------------------------------------===//

/// Makes \p elements what \p attribute has.
static void setElements(glowish_attribute &attribute,
                        llvm::ArrayRef<int64_t> elements) {
  attribute.type = GLOWISH_INTS;
  attribute.ints = elements.data();
}
static void setElements(glowish_attribute &attribute,
                        llvm::ArrayRef<double> elements) {
  attribute.type = GLOWISH_FLOATS;
  attribute.floats = elements.data();
}
static void setElements(glowish_attribute &attribute,
                        llvm::ArrayRef<const char *> elements) {
  attribute.type = GLOWISH_STRINGS;
  attribute.strings = elements.data();
}

CallArguments::CallArguments(const NamedValues &values) {
  for (const NamedValue &value : values) {
    glowish_attribute &attribute = attributes.emplace_back();
    attribute.name = value.name.c_str();
    visitElements(value.content, [&](auto elements, bool isList) {
      attribute.is_list = isList;
      attribute.count = int64_t(elements.size());
      if constexpr (std::is_same_v<decltype(elements),
                                   llvm::ArrayRef<std::string>>) {
        std::vector<const char *> &texts = strings.emplace_back();
        for (const std::string &element : elements)
          texts.push_back(element.c_str());
        setElements(attribute, llvm::ArrayRef(texts));
      } else {
        setElements(attribute, elements);
      }
    });
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
