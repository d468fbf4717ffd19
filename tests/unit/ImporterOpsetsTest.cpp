//===- ImporterOpsetsTest.cpp - The opsets that a model imports -----------===//

#include "OnnxText.h"

using namespace glowish;

/// Imports a model whose first fields are \p header: Softmax along the
/// dimension that is the default of its opset. Returns the axis, or the error.
static std::string importAxis(const std::string &header) {
  std::string text =
      header + " graph { name: \"g\" " + onnxNode("Softmax", {"x"}) +
      "input { name: \"x\" type { tensor_type { elem_type: 1 shape { dim { "
      "dim_value: 2 } dim { dim_value: 3 } dim { dim_value: 4 } } } } } output "
      "{ name: \"y\" } }";
  auto module =
      importOnnx(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                                text.size()),
                 "m", {});
  if (!module)
    return llvm::toString(module.takeError());
  for (Node &node : (*module)->findFunction("main")->getNodes())
    if (auto *softmax = llvm::dyn_cast<SoftmaxNode>(&node))
      return "rank " + std::to_string(softmax->getInput().getType().getRank());
  return "none";
}

TEST(ImporterOpsets, OfOldFiles) {
  // Before IR version 3 there were no imports: the opset is 1, in which Softmax
  // flattens its operand.
  EXPECT_EQ(importAxis("ir_version: 1"), "rank 2");
  EXPECT_EQ(importAxis("ir_version: 2"), "rank 2");
  EXPECT_EQ(
      importAxis("ir_version: 3"),
      "'m': opset_import is missing in a model of IR version 3; accepted: "
      "one, or IR version 1 or 2, whose opset is 1");
  EXPECT_EQ(
      importAxis(""),
      "'m': opset_import is missing in a model of IR version 0; accepted: "
      "one, or IR version 1 or 2, whose opset is 1");
}

TEST(ImporterOpsets, OfOneDomain) {
  std::string header = "ir_version: 7 opset_import { version: 13 } ";
  EXPECT_EQ(importAxis(header), "rank 3");
  EXPECT_EQ(importAxis(header + header.substr(14)), "rank 3");
  EXPECT_EQ(importAxis(header + "opset_import { version: 11 }"),
            "'m': opset_import has versions 13 and 11 of domain 'ai.onnx'; "
            "accepted: one of each domain");
  // Both are names of one domain.
  EXPECT_EQ(
      importAxis(header + "opset_import { domain: \"ai.onnx\" version: 11 }"),
      "'m': opset_import has versions 13 and 11 of domain 'ai.onnx'; "
      "accepted: one of each domain");
  EXPECT_EQ(importAxis(header + "opset_import { domain: \"d\" version: 1 } "
                                "opset_import { domain: \"d\" version: 2 }"),
            "'m': opset_import has versions 1 and 2 of domain 'd'; accepted: "
            "one of each domain");
}

TEST(ImporterOpsets, OfOtherDomains) {
  EXPECT_EQ(importAxis("ir_version: 7 opset_import { domain: "
                       "\"com.microsoft\" version: 1 }"),
            "'m': 1 node has an operator that is not supported:\n"
            "node 'y' (Softmax): opset_import has no version of domain "
            "'ai.onnx'");
  // ONNX Runtime takes its own operators without an import.
  TextModel model;
  model.body = onnxNode("QuickGelu", {"x"}, "domain: \"com.microsoft\" ");
  EXPECT_TRUE(model.importOutput().getNodeAs<SwishNode>());
}
