//===- Strings.h - Strings of fixed content ---------------------*- C++ -*-===//
//
// Programs have no strings. Those that a model states, in initializers,
// constants and attributes, are numbers during import: equal strings have the
// same one. So they are moved and compared as other int64 values are, in runs,
// too. A node that would do anything else with them is refused, as are outputs
// of the model.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_STRINGS_H
#define GLOWISH_LIB_IMPORTER_ONNX_STRINGS_H

#include "glowish/Base/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// The numbers of a model's strings.
class StringNumbers {
public:
  /// Returns the number of \p text.
  int64_t get(llvm::StringRef text) {
    return numbers.try_emplace(text, int64_t(numbers.size())).first->second;
  }
  /// Returns those of \p texts.
  std::vector<int64_t> getAll(llvm::ArrayRef<std::string> texts);
  /// Returns those of the strings of \p proto, in its shape.
  llvm::Expected<Tensor> read(const onnx::TensorProto &proto);

private:
  llvm::StringMap<int64_t> numbers;
};

/// Whether \p proto has strings.
inline bool hasStringElements(const onnx::TensorProto &proto) {
  return proto.data_type() == onnx::TensorProto::STRING;
}

/// Returns whether the outputs of \p node are strings, as inputs are. An error
/// names an input of strings that the operator does not take, or of numbers
/// where others have strings. \p isString says what an input is.
llvm::Expected<bool>
checkStringInputs(const onnx::NodeProto &node,
                  llvm::function_ref<bool(llvm::StringRef name)> isString);

/// Returns the error that \p value, with its name, is a tensor of strings.
llvm::Error refuseStrings(llvm::StringRef value);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_STRINGS_H
