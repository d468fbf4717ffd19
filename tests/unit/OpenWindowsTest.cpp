//===- OpenWindowsTest.cpp - Windows over heights that runs decide --------===//
//
// The heights of results of ONNX's operators with windows, inferred for ranges,
// are those of the same models for each height.
//
//===----------------------------------------------------------------------===//

#include "ExtentTemplates.h"
#include "OnnxText.h"

using namespace glowish;

namespace {

constexpr int64_t largest = 64;

/// A model of one operator on images [1, 2, H, 3].
TextModel makeWindows(const std::string &nodes) {
  TextModel model;
  model.opset = 22;
  model.inputs.clear();
  model.body = symbolicInput("x", {"1", "2", "H", "3"}) + nodes;
  return model;
}

/// Imports \p model for the value of H, or its range from \p low on.
llvm::Expected<std::unique_ptr<Module>>
import(TextModel &model, std::optional<int64_t> height, int64_t low = 0) {
  ImportOptions options;
  if (height)
    options.symbols = {{"H", *height}};
  else
    options.symbolRanges = {{"H", {low, largest}}};
  return model.import(std::move(options));
}

/// Returns the height of the result for each height that there is one of.
std::map<int64_t, int64_t> findHeights(TextModel &model) {
  std::map<int64_t, int64_t> heights;
  for (int64_t height = 0; height <= largest; ++height) {
    auto module = import(model, height);
    if (module)
      heights[height] = (*module)->findPlaceholder("y")->getType().getDim(2);
    else
      llvm::consumeError(module.takeError());
  }
  return heights;
}

/// Returns whether the range is accepted; then its heights are right.
bool checkWindows(const std::string &text, TextModel model) {
  SCOPED_TRACE(text);
  std::map<int64_t, int64_t> heights = findHeights(model);
  if (heights.empty())
    return false;
  int64_t low = heights.begin()->first;
  EXPECT_EQ(int64_t(heights.size()), largest + 1 - low);
  auto module = import(model, std::nullopt, low);
  if (!module) {
    std::string message = llvm::toString(module.takeError());
    EXPECT_NE(message.find("accepted: "), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return false;
  }
  const Type *found = nullptr;
  for (const Node &node : (*module)->findFunction("main")->getNodes())
    if (const auto *save = llvm::dyn_cast<SaveNode>(&node))
      if (save->getInput().getType().getRank() == 4)
        found = &save->getInput().getType();
  if (!found) {
    ADD_FAILURE() << "nothing is saved";
    return false;
  }
  const Type &type = *found;
  EXPECT_EQ(type.getDim(2), heights.at(largest)) << type.str();
  for (auto [height, result] : heights) {
    const Extent *extent = type.getExtent(2);
    EXPECT_EQ(extent ? *evaluate(*extent, {{"H", height}}) : type.getDim(2),
              result)
        << "H = " << height << ": " << type.str();
  }
  return true;
}

std::string attributes(int64_t kernel, int64_t stride, int64_t dilation) {
  return intsAttr("kernel_shape", {kernel, 1}) +
         intsAttr("strides", {stride, 1}) +
         intsAttr("dilations", {dilation, 1});
}

TEST(OpenWindows, HeightsOfPools) {
  unsigned numAccepted = 0, numChecked = 0;
  for (int64_t kernel : {1, 2, 3, 5})
    for (int64_t stride : {1, 2, 3})
      for (int64_t dilation : {1, 2})
        for (const std::string &pads :
             {std::string(), intsAttr("pads", {1, 0, 0, 0}),
              intsAttr("pads", {0, 0, 1, 0}), stringAttr("auto_pad", "VALID"),
              stringAttr("auto_pad", "SAME_UPPER"),
              stringAttr("auto_pad", "SAME_LOWER")})
          for (bool isCeil : {false, true}) {
            if (kernel == 1 && llvm::StringRef(pads).contains("pads"))
              continue;
            std::string all = attributes(kernel, stride, dilation) + pads +
                              (isCeil ? intAttr("ceil_mode", 1) : "");
            ++numChecked;
            numAccepted +=
                checkWindows(all, makeWindows(onnxNode("MaxPool", {"x"}, all)));
          }
  EXPECT_GT(numAccepted, numChecked / 2);
}

TEST(OpenWindows, HeightsOfConvolutions) {
  unsigned numAccepted = 0, numChecked = 0;
  for (const char *type : {"Conv", "ConvTranspose"})
    for (int64_t kernel : {1, 2, 3})
      for (int64_t stride : {1, 2, 3})
        for (int64_t dilation : {1, 2})
          for (const std::string &pads :
               {std::string(), intsAttr("pads", {2, 0, 1, 0}),
                stringAttr("auto_pad", "SAME_UPPER"),
                stringAttr("auto_pad", "SAME_LOWER")}) {
            std::string all = attributes(kernel, stride, dilation) + pads;
            std::vector<float> weights(size_t(4 * kernel), 1);
            ++numChecked;
            numAccepted += checkWindows(
                type + all,
                makeWindows(floats("w", {2, 2, kernel, 1}, weights) +
                            onnxNode(type, {"x", "w"}, all)));
          }
  EXPECT_GT(numAccepted, numChecked / 2);
}

} // namespace
