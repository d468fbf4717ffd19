//===- OneOperator.h - Models of one operator over constants ----*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_ONEOPERATOR_H
#define GLOWISH_TESTS_UNIT_ONEOPERATOR_H

#include "OnnxText.h"

namespace glowish {

/// The value of one node over the float constant c: [2, 3] = 1 ... 6.
inline std::string fold(llvm::StringRef type, std::vector<std::string> inputs,
                        std::string attributes = "", int opset = 13,
                        std::string more = "") {
  TextModel model =
      oneNode(type, std::move(inputs), std::move(attributes), opset);
  model.body += floats("c", {2, 3}, {1, 2, 3, 4, 5, 6}) + more;
  return model.importConstant();
}

/// What the importer says of one node, without the node's name.
inline std::string errorOf(llvm::StringRef type,
                           std::vector<std::string> inputs,
                           std::string attributes = "", int opset = 13,
                           std::string more = "") {
  TextModel model =
      oneNode(type, std::move(inputs), std::move(attributes), opset);
  model.body += floats("c", {2, 3}, {1, 2, 3, 4, 5, 6}) + more;
  std::string message = model.importError();
  std::string prefix = "'m': node 'y' (" + type.str() + "): ";
  return llvm::StringRef(message).consume_front(prefix)
             ? message.substr(prefix.size())
             : message;
}

/// The node under the transpose to the model's layout.
template <typename T> T *imageNode(TextModel &model) {
  auto *transpose = model.importOutput().getNodeAs<TransposeNode>();
  return transpose ? transpose->getInput().getNodeAs<T>() : nullptr;
}

using IntVector = std::vector<int64_t>;

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_ONEOPERATOR_H
