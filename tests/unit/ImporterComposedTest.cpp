//===- ImporterComposedTest.cpp - Operators composed of others ------------===//
//
// Those that ONNX's own tests leave out, or test with one shape.
//
//===----------------------------------------------------------------------===//

#include "OneOperator.h"
#include "RunText.h"
#include <cmath>

using namespace glowish;

/// A model whose constants are \p constants and whose output is \p node's.
static std::string run(std::string constants, std::string node,
                       int opset = 13) {
  TextModel model;
  model.opset = opset;
  model.inputs = {};
  model.body = constants + node;
  return runText(std::move(model));
}

static std::string determinant(std::vector<int64_t> shape,
                               std::vector<float> values) {
  return run(floats("a", shape, values), onnxNode("Det", {"a"}));
}

TEST(ImporterComposed, Determinants) {
  EXPECT_EQ(determinant({1, 1}, {-3}), "float<>: -3");
  EXPECT_EQ(determinant({2, 2}, {1, 2, 3, 4}), "float<>: -2");
  // The largest element of a column is never in the first row.
  EXPECT_EQ(determinant({3, 3}, {0, 1, 2, 4, 0, 8, 2, 4, 0}), "float<>: 48");
  EXPECT_EQ(determinant({3, 3}, {1, 2, 3, 2, 4, 6, 5, 1, 7}), "float<>: -0");
  EXPECT_EQ(determinant({2, 2}, {0, 0, 0, 0}), "float<>: 0");
  EXPECT_EQ(determinant({0, 0}, {}), "float<>: 1");
  EXPECT_EQ(determinant({2, 1, 2, 2}, {2, 0, 0, 3, 0, 2, 3, 0}),
            "float<2x1>: 6 -6");
  EXPECT_EQ(determinant({0, 2, 2}, {}), "float<0>:");
  TextModel model = oneNode("Det", {"x"});
  EXPECT_EQ(
      model.importError(),
      "'m': node 'y' (Det): input 0 ('x') is float<2x3>; accepted: square "
      "matrices of a float kind with at most 256 rows");
}

TEST(ImporterComposed, MelWeights) {
  auto int64 = [](llvm::StringRef name, int64_t value) {
    return "initializer { name: \"" + name.str() +
           "\" data_type: 7 int64_data: " + std::to_string(value) + " } ";
  };
  // Corners at bins 0, 0, 2 and 6.
  EXPECT_EQ(run(int64("bands", 2) + int64("length", 12) + int64("rate", 8000) +
                    floats("low", {}, {0}) + floats("high", {}, {8000}),
                onnxNode("MelWeightMatrix",
                         {"bands", "length", "rate", "low", "high"}),
                17),
            "float<7x2>: 1 0 0.50 0.50 0 1 0 0.75 0 0.50 0 0.25 0 0");
}

/// Images [1, 1, 4, 5] of 0 to 19.
static std::string pool(std::vector<float> box, std::vector<int64_t> bins,
                        double scale = 1) {
  std::vector<float> pixels;
  for (int i = 0; i < 20; ++i)
    pixels.push_back(i);
  return run(floats("x", {1, 1, 4, 5}, pixels) +
                 floats("boxes", {int64_t(box.size() / 5), 5}, box),
             onnxNode("MaxRoiPool", {"x", "boxes"},
                      intsAttr("pooled_shape", bins) +
                          floatAttr("spatial_scale", scale)));
}

TEST(ImporterComposed, PixelsOfBoxes) {
  EXPECT_EQ(pool({0, 0, 0, 4, 3}, {1, 1}), "float<1x1x1x1>: 19");
  EXPECT_EQ(pool({0, 0, 0, 4, 3}, {2, 2}), "float<1x1x2x2>: 7 9 17 19");
  // Three columns in two bins: the middle one is in both.
  EXPECT_EQ(pool({0, 1, 1, 3, 1}, {1, 2}), "float<1x1x1x2>: 7 8");
  // Halves are rounded away from 0; a box has at least one pixel.
  EXPECT_EQ(pool({0, 3, 1, 0, 0}, {1, 1}, 0.5), "float<1x1x1x1>: 7");
  // Outside of the image there are no pixels.
  EXPECT_EQ(pool({0, 7, 0, 9, 3, 0, 2, 2, 2, 2}, {1, 1}),
            "float<2x1x1x1>: 0 12");
}

/// Images [2, 1, 1, 4] and an output of one bin.
static std::string align(std::vector<float> box, int image,
                         const std::string &attributes) {
  return run(floats("x", {2, 1, 1, 4}, {0, 0, 10, 8, 0, 0, 20, 16}) +
                 floats("boxes", {1, 4}, box) + int64s("images", {image}),
             onnxNode("RoiAlign", {"x", "boxes", "images"}, attributes), 16);
}

TEST(ImporterComposed, SamplesOfBoxes) {
  auto samples = [](int64_t count) { return intAttr("sampling_ratio", count); };
  // Three pixels have three samples, at 0.5, 1.5 and 2.5, unless the model says
  // how many.
  EXPECT_EQ(align({0.5, 0.5, 3.5, 1.5}, 0, ""), "float<1x1x1x1>: 4.67");
  EXPECT_EQ(align({0.5, 0.5, 3.5, 1.5}, 0, samples(0)), "float<1x1x1x1>: 4.67");
  EXPECT_EQ(align({0.5, 0.5, 3.5, 1.5}, 1, ""), "float<1x1x1x1>: 9.33");
  EXPECT_EQ(align({0.5, 0.5, 3.5, 1.5}, 0, samples(2)), "float<1x1x1x1>: 4.75");
  // The first of eight samples is near the last pixel, the others are far.
  EXPECT_EQ(align({3.5, 0.5, 11.5, 1.5}, 0, ""), "float<1x1x1x1>: 1");
  EXPECT_EQ(align({1.5, 0.5, 1.5, 1.5}, 0, ""), "float<1x1x1x1>: 0");
  EXPECT_EQ(
      align({1.5, 0.5, 1.5, 1.5}, 0,
            stringAttr("coordinate_transformation_mode", "output_half_pixel")),
      "float<1x1x1x1>: 10");
  EXPECT_EQ(errorOf("RoiAlign", {"x", "b", "i"}, stringAttr("mode", "max"), 16,
                    floats("x", {1, 1, 1, 1}, {1}) +
                        floats("b", {1, 4}, {0, 0, 1, 1}) + int64s("i", {0})),
            "attribute 'sampling_ratio' is 0, mode 'max'; accepted: 1 to 1024, "
            "and 0 in mode avg");
}

TEST(ImporterComposed, FramesOfRealSignals) {
  auto frames = [](std::vector<int64_t> shape) {
    return run(floats("x", shape, {1, 2, 4, 8}) +
                   "initializer { name: \"step\" data_type: 7 int64_data: 2 } "
                   "initializer { name: \"length\" data_type: 7 int64_data: 2 "
                   "} ",
               onnxNode("STFT", {"x", "step", "", "length"}), 17);
  };
  EXPECT_EQ(frames({1, 4, 1}), "float<1x2x2x2>: 3 0 -1 -0 12 0 -4 -0");
  // Exporters leave out the dimension of real signals.
  EXPECT_EQ(frames({1, 4}), "float<1x2x2x2>: 3 0 -1 -0 12 0 -4 -0");
}

/// A sum of 1, 10 and 100 times pixels 1 and 2, two apart, over the last of
/// three dimensions.
static std::string transposeConvolution(const std::string &attributes) {
  return run(floats("x", {1, 1, 1, 1, 2}, {1, 2}) +
                 floats("w", {1, 1, 1, 1, 3}, {1, 10, 100}),
             onnxNode("ConvTranspose", {"x", "w"},
                      intsAttr("strides", {1, 1, 2}) + attributes));
}

TEST(ImporterComposed, PadsOfThreeDimensions) {
  auto pad = [](llvm::StringRef mode) {
    return transposeConvolution(stringAttr("auto_pad", mode));
  };
  std::string full = "float<1x1x1x1x5>: 1 10 102 20 200";
  EXPECT_EQ(transposeConvolution(""), full);
  EXPECT_EQ(pad("NOTSET"), full);
  EXPECT_EQ(pad("VALID"), full);
  EXPECT_EQ(pad("SAME_UPPER"), "float<1x1x1x1x4>: 1 10 102 20");
  EXPECT_EQ(pad("SAME_LOWER"), "float<1x1x1x1x4>: 10 102 20 200");
  EXPECT_EQ(transposeConvolution(intsAttr("output_shape", {1, 1, 6})),
            "float<1x1x1x1x6>: 1 10 102 20 200 0");
  EXPECT_EQ(transposeConvolution(intsAttr("output_shape", {1, 1, 3})),
            "float<1x1x1x1x3>: 10 102 20");
  EXPECT_EQ(transposeConvolution(intsAttr("kernel_shape", {1, 1, 3})), full);
  std::string operands = floats("x", {1, 1, 1, 1, 2}, {1, 2}) +
                         floats("w", {1, 1, 1, 1, 3}, {1, 10, 100});
  EXPECT_EQ(errorOf("ConvTranspose", {"x", "w"}, stringAttr("auto_pad", "same"),
                    13, operands),
            "attribute 'auto_pad' is 'same'; accepted: NOTSET, SAME_UPPER, "
            "SAME_LOWER, VALID");
  EXPECT_EQ(errorOf("Conv", {"x", "w"}, intsAttr("kernel_shape", {1, 1, 2}), 13,
                    operands),
            "attribute 'kernel_shape' is 1x1x2; the filter has 1x1x3");
}

static std::string bytes(llvm::StringRef name, bool isSigned,
                         std::vector<int64_t> shape, std::vector<int> values) {
  std::string text = "initializer { name: \"" + name.str() +
                     "\" data_type: " + (isSigned ? "3 " : "2 ");
  for (int64_t dim : shape)
    text += "dims: " + std::to_string(dim) + " ";
  for (int value : values)
    text += "int32_data: " + std::to_string(value) + " ";
  return text + "} ";
}

TEST(ImporterComposed, LeastIntegers) {
  auto least = [](bool isSigned, std::vector<int> values) {
    return run(bytes("x", isSigned, {int64_t(values.size())}, values),
               onnxNode("ArgMin", {"x"}, intAttr("keepdims", 0)));
  };
  EXPECT_EQ(least(true, {5, -128, 127, -128}), "int64<>: 1");
  EXPECT_EQ(least(false, {255, 7, 0, 128}), "int64<>: 2");
  EXPECT_EQ(least(false, {255, 254}), "int64<>: 1");
}

TEST(ImporterComposed, MeansOfIntegers) {
  // Neither the sum nor the number of elements is an int8.
  std::vector<int> values(300, -100);
  EXPECT_EQ(run(bytes("x", true, {300}, values),
                onnxNode("ReduceMean", {"x"}, intAttr("keepdims", 0)), 11),
            "int8<>: -100");
}

/// Without an output, a label that occurs once in all terms is in it: one that
/// is twice in the same term is not.
TEST(ImporterComposed, EinsumOutputsThatAreImplied) {
  std::string matrix = floats("a", {2, 2}, {1, 2, 3, 4});
  auto einsum = [&](std::vector<std::string> inputs, llvm::StringRef equation) {
    return run(matrix + floats("b", {3, 3}, {1, 0, 0, 0, 10, 0, 0, 0, 100}),
               onnxNode("Einsum", std::move(inputs),
                        stringAttr("equation", equation)));
  };
  EXPECT_EQ(einsum({"a"}, "ii"), "float<>: 5");
  EXPECT_EQ(einsum({"a", "b"}, "ii,jj"), "float<>: 555");
  EXPECT_EQ(einsum({"a", "b"}, "ii,kj"), "float<3x3>: 5 0 0 0 50 0 0 0 500");
  // j before k, though they are written the other way round.
  EXPECT_EQ(einsum({"a"}, "kj"), "float<2x2>: 1 3 2 4");
}

/// The pixels of a row at points \p x.
static std::string sampleRow(std::vector<float> row, std::vector<float> x,
                             std::string attributes) {
  std::vector<float> points;
  for (float coordinate : x)
    points.insert(points.end(), {coordinate, 0});
  return run(floats("x", {1, 1, 1, int64_t(row.size())}, row) +
                 floats("grid", {1, 1, int64_t(x.size()), 2}, points),
             onnxNode("GridSample", {"x", "grid"}, std::move(attributes)), 20);
}

/// Half a pixel before the first and behind the last one the curve goes on.
TEST(ImporterComposed, CubicPointsOutside) {
  auto sample = [](llvm::StringRef padding, bool alignCorners) {
    float outside = alignCorners ? 1.5f : 1;
    return sampleRow({0, 32, 64}, {-outside, outside},
                     stringAttr("mode", "cubic") +
                         stringAttr("padding_mode", padding) +
                         intAttr("align_corners", alignCorners));
  };
  EXPECT_EQ(sample("border", true), "float<1x1x1x2>: -3 67");
  EXPECT_EQ(sample("border", false), "float<1x1x1x2>: -3 67");
  EXPECT_EQ(sample("reflection", true), "float<1x1x1x2>: 10 54");
  EXPECT_EQ(sample("reflection", false), "float<1x1x1x2>: -6 70");
  EXPECT_EQ(sample("zeros", true), "float<1x1x1x2>: -3 35");
}

/// The point 4.5 is the pixel 4, which is 3 reflected; 2.5 would be 2.
TEST(ImporterComposed, NearestPointsAreRoundedBeforeTheyAreReflected) {
  EXPECT_EQ(sampleRow({0, 32, 64, 96}, {1.5},
                      stringAttr("mode", "nearest") +
                          stringAttr("padding_mode", "reflection")),
            "float<1x1x1x1>: 96");
}

/// The quotients have more digits than a float.
TEST(ImporterComposed, RestsOfLargeQuotients) {
  auto rest = [](std::vector<float> x, std::vector<float> y) {
    int64_t count = int64_t(x.size());
    return run(floats("a", {count}, x) + floats("b", {count}, y),
               onnxNode("Mod", {"a", "b"}, intAttr("fmod", 1)));
  };
  EXPECT_EQ(rest({1e10f, -1e10f, 1e10f, 0x1p100f}, {3, 3, -7, 5}),
            "float<4>: 1 -1 4 1");
  EXPECT_EQ(rest({5.5f, -1, 0x1p127f}, {INFINITY, INFINITY, 3}),
            "float<3>: 5.50 -1 2");
}

/// The quotients have more digits than a double, or don't fit one, and the
/// largest divisors times anything don't, either.
TEST(ImporterComposed, RestsOfLargeQuotientsOfDoubles) {
  std::string values =
      "initializer { name: \"a\" data_type: 11 dims: 7 double_data: [1e300, "
      "-1.7976931348623157e308, -1e300, 7.25, 1e308, 1e308, 12] } "
      "initializer { name: \"b\" data_type: 11 dims: 7 double_data: [7, -7, "
      "1000003, 2.2250738585072014e-308, 5e-324, -1e308, 5] } ";
  EXPECT_EQ(run(values, onnxNode("Mod", {"a", "b"}, intAttr("fmod", 1))),
            "double<7>: 1 -5 -177074 0 0 0 2");
}

/// An extent of 1 is that of another operand.
TEST(ImporterComposed, EinsumOfBroadcastExtents) {
  std::string values = floats("a", {2, 1}, {1, 2}) +
                       floats("b", {3, 2}, {1, 10, 2, 20, 3, 30}) +
                       floats("none", {0}, {});
  auto einsum = [&](std::vector<std::string> inputs, llvm::StringRef equation) {
    return run(values, onnxNode("Einsum", std::move(inputs),
                                stringAttr("equation", equation)));
  };
  EXPECT_EQ(einsum({"a", "b"}, "ij,jk->ik"), "float<2x2>: 6 60 12 120");
  EXPECT_EQ(einsum({"b", "a"}, "jk,ij->i"), "float<2>: 66 132");
  // Other extents must be equal; the first terms already fail.
  EXPECT_EQ(errorOf("Einsum", {"c", "c", "c"},
                    stringAttr("equation", "ij,jk,kl->il")),
            "MatMul 'y': operand 'rhs' (float<2x3>): expected 3 rows, as many "
            "as lhs has columns");
  EXPECT_EQ(einsum({"a", "b"}, "ij,jk->jk"), "float<3x2>: 3 30 6 60 9 90");
}

TEST(ImporterComposed, CeluOfNegativeAlpha) {
  EXPECT_EQ(run(floats("x", {4}, {-1, 2, 0, -0.5f}),
                onnxNode("Celu", {"x"}, floatAttr("alpha", -1))),
            "float<4>: -1.72 2 0 -0.65");
}
