//===- ExternalFunction.h - The code of external operators ------*- C++ -*-===//

#ifndef GLOWISH_PLUGIN_EXTERNALFUNCTION_H
#define GLOWISH_PLUGIN_EXTERNALFUNCTION_H

#include "glowish/Base/Type.h"
#include "glowish/Ops/NamedValues.h"
#include "glowish/Plugin/glowish_call.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <deque>

namespace glowish {

/// A function that ExternalCall calls.
struct ExternalFunction {
  struct Object {
    /// A normalized triple.
    std::string target;
    std::string path;
  };

  /// Its name in C.
  std::string name;
  /// The operator that it computes, with its domain.
  std::string operatorName;
  /// Plain code, for the interpreter.
  glowish_function *reference = nullptr;
  /// For the compiled program; never null.
  glowish_function *kernel = nullptr;
  /// Files that bundles can have the function from.
  std::vector<Object> objects;
};

// Any thread may call the functions that follow at any time.

/// Adds \p function to those of this process, which plug-ins bring; an error if
/// there is another of its name. The same one is brought again where several
/// models have a library.
llvm::Error registerExternalFunction(ExternalFunction function);
/// Returns null if there is none: then only bundles, whose application has it,
/// can call the function.
const ExternalFunction *findExternalFunction(llvm::StringRef name);
/// \p visit must not call another of these functions.
void forEachExternalFunction(
    llvm::function_ref<void(const ExternalFunction &function)> visit);
/// \p present, inputs of an ExternalCall, with null ones at the positions
/// \p absent: those of the operator.
template <typename Range>
auto insertAbsent(const Range &present, llvm::ArrayRef<int64_t> absent) {
  using T = std::decay_t<decltype(*present.begin())>;
  llvm::SmallVector<T, 4> inputs(present.begin(), present.end());
  for (int64_t position : absent)
    inputs.insert(inputs.begin() + position, T());
  return inputs;
}

/// The argument of a glowish_function.
class CallArguments {
public:
  explicit CallArguments(const NamedValues &attributes);
  CallArguments(const CallArguments &) = delete;

  void addInput(const Type &type, const void *data) {
    add(inputs, type, const_cast<void *>(data));
  }
  void addAbsentInput();
  void addOutput(const Type &type, void *data) { add(outputs, type, data); }
  /// Valid until the next of these functions, and as long as the attributes.
  const glowish_call &get();

private:
  using Tensors = std::vector<glowish_tensor>;
  void add(Tensors &tensors, const Type &type, void *data);

  Tensors inputs, outputs;
  std::deque<Dims> extents;
  std::vector<glowish_attribute> attributes;
  std::deque<std::vector<const char *>> strings;
  glowish_call call = {};
};

} // namespace glowish

#endif // GLOWISH_PLUGIN_EXTERNALFUNCTION_H
