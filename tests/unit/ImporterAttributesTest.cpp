//===- ImporterAttributesTest.cpp - Attributes that no operator has -------===//

#include "OnnxText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

TEST(ImporterAttributes, MisspeltAttributes) {
  std::vector<std::string> warnings;
  ImportOptions options;
  options.warn = [&](llvm::StringRef line) { warnings.push_back(line.str()); };
  TextModel model = oneNode("LeakyRelu", {"x"}, floatAttr("alhpa", 0.5));
  model.body += onnxNode("LeakyRelu", {"x"}, floatAttr("alhpa", 1), "z");
  EXPECT_EQ(model.importError(options), "imported");
  EXPECT_THAT(warnings,
              testing::ElementsAre("node 'y' (LeakyRelu): attribute 'alhpa' is "
                                   "ignored: the operator has no such "
                                   "attribute"));
}

/// An attribute of another opset, one of an operator that ONNX does not
/// describe, and one that may be of an opset that it does not describe yet.
TEST(ImporterAttributes, AttributesThatMayMatter) {
  EXPECT_THAT(
      oneNode("LeakyRelu", {"x"}, intsAttr("consumed_inputs", {0}))
          .importError(),
      HasSubstr("attribute 'consumed_inputs' is not supported in opset 13"));
  EXPECT_THAT(oneNode("FastGelu", {"x"},
                      "domain: \"com.microsoft\" " + floatAttr("beta", 1))
                  .importError(),
              HasSubstr("attribute 'beta' is not supported"));
  EXPECT_THAT(
      oneNode("LeakyRelu", {"x"}, floatAttr("alhpa", 0.5), 24).importError(),
      HasSubstr("attribute 'alhpa' is not supported in opset 24"));
}
