//===- TFLiteExtentImagesTest.cpp - TensorFlow Lite images of open sizes -===//

#include "TFLiteExtents.h"

using namespace glowish;
using namespace glowish::tfliteextents;

static OpenModel convolve(const std::string &dims, Padding padding, int stride,
                          bool isDepthwise, TensorType type = f32) {
  Builder model;
  bool isFloat = type == f32;
  auto scaled = [&](float scale, int64_t zero) {
    return isFloat ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
  };
  int x = model.input("x", dims, type, scaled(0.05f, type == i16 ? 0 : 3));
  int f = model.weights(isDepthwise ? std::vector<int32_t>{1, 3, 3, 2}
                                    : std::vector<int32_t>{4, 3, 3, 2},
                        type == i16 ? i8 : type,
                        scaled(0.01f, type == u8 ? 60 : 0));
  int y = model.result(type, scaled(0.2f, type == i16 ? 0 : 5));
  if (isDepthwise)
    model.op(BuiltinOperator::DEPTHWISE_CONV_2D, {x, f}, {y},
             schema::CreateDepthwiseConv2DOptions(model.fbb(), padding, stride,
                                                  stride, 1));
  else
    model.op(BuiltinOperator::CONV_2D, {x, f}, {y},
             schema::CreateConv2DOptions(model.fbb(), padding, stride, stride,
                                         ActivationFunctionType::RELU));
  return model.end();
}

TEST(TFLiteExtents, Convolutions) {
  for (TensorType type : {f32, i8, u8, i16})
    for (bool isDepthwise : {false, true}) {
      check(convolve("6{N}x5x5x2", Padding::SAME, 2, isDepthwise, type));
      check(convolve("4{M}x6{N}x5x2", Padding::SAME, 1, isDepthwise, type));
      check(convolve("2x5x6{N}x2", Padding::SAME, 1, isDepthwise, type));
      check(convolve("2x5x12{2*N}x2", Padding::SAME, 2, isDepthwise, type));
      check(convolve("2x6{N}x5x2", Padding::VALID, 2, isDepthwise, type),
            /*atLeast=*/3);
    }
  EXPECT_THAT(
      refuse(convolve("2x6{N}x5x2", Padding::SAME, 2, false)),
      HasSubstr("node 'y' (CONV_2D): a run decides an extent, N, and how "
                "'SAME_UPPER' pads it for a stride of 2; accepted: "
                "multiples of the stride"));
}

static OpenModel pool(BuiltinOperator kind, const std::string &dims,
                      Padding padding, int stride, TensorType type = f32) {
  return unary<schema::Pool2DOptions>(
      kind, dims, {},
      [&](Builder &b) {
        return schema::CreatePool2DOptions(b.fbb(), padding, stride, stride, 3,
                                           3);
      },
      1, type, type == f32 ? TFLiteScales{} : TFLiteScales{{0.05f}, {3}}, type);
}

TEST(TFLiteExtents, Pools) {
  for (BuiltinOperator kind :
       {BuiltinOperator::MAX_POOL_2D, BuiltinOperator::AVERAGE_POOL_2D})
    for (TensorType type : {f32, i8, u8}) {
      check(pool(kind, "6{N}x5x5x2", Padding::SAME, 2, type));
      check(pool(kind, "2x8{N + 2}x5x2", Padding::VALID, 1, type));
      EXPECT_THAT(refuse(pool(kind, "2x6{N}x5x2", Padding::VALID, 1, type)),
                  HasSubstr("the extent of dimension 1 of the result is N - "
                            "2"));
      // A kernel as large as the bound.
      check(pool(kind, "6{N}x3x3x4{M}", Padding::VALID, 1, type));
      bool isRefused = type != f32 && kind == BuiltinOperator::AVERAGE_POOL_2D;
      OpenModel rows = pool(kind, "2x6{N}x5x2", Padding::SAME, 1, type);
      if (isRefused)
        EXPECT_THAT(refuse(rows), HasSubstr("accepted: an extent of dimension "
                                            "1 that no run decides"));
      else
        check(rows);
    }
}

TEST(TFLiteExtents, ResizedImages) {
  for (TensorType type : {f32, i8}) {
    TFLiteScales scales =
        type == f32 ? TFLiteScales{} : TFLiteScales{{0.05f}, {3}};
    auto bilinear = [&](const std::string &dims) {
      return unary<schema::ResizeBilinearOptions>(
          BuiltinOperator::RESIZE_BILINEAR, dims, {{7, 9}},
          [&](Builder &b) {
            return schema::CreateResizeBilinearOptions(b.fbb(), false, true);
          },
          1, type, scales, type);
    };
    check(bilinear("6{N}x3x4x2"));
    EXPECT_THAT(refuse(bilinear("2x6{N}x4x2")),
                HasSubstr("an extent of dimension 1 that no run decides"));
    check(unary(BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, "6{N}x3x4x4{M}",
                {{7, 9}}, {}, 1, type, scales, type));
  }
}

TEST(TFLiteExtents, TransposedConvolutions) {
  for (TensorType type : {f32, i8}) {
    auto scaled = [&](float scale, int64_t zero) {
      return type == f32 ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
    };
    auto make = [&](const std::string &dims) {
      Builder model;
      int x = model.input("x", dims, type, scaled(0.05f, 3));
      int shape = model.value(i32), first = model.value(i32);
      int count = model.value(i32);
      // [the number of images, 8, 8, 3]
      model.op(BuiltinOperator::SHAPE, {x}, {shape},
               schema::CreateShapeOptions(model.fbb(), i32));
      model.op(BuiltinOperator::STRIDED_SLICE,
               {shape, model.ints({0}), model.ints({1}), model.ints({1})},
               {first},
               schema::CreateStridedSliceOptions(model.fbb(), 0, 0, 0, 0, 1));
      model.op(BuiltinOperator::PACK,
               {first, model.number(8), model.number(8), model.number(3)},
               {count}, schema::CreatePackOptions(model.fbb(), 4, 0));
      int f = model.weights({3, 3, 3, 2}, type, scaled(0.01f, 0));
      model.op(
          BuiltinOperator::TRANSPOSE_CONV, {count, f, x},
          {model.result(type, scaled(0.2f, 5))},
          schema::CreateTransposeConvOptions(model.fbb(), Padding::SAME, 2, 2));
      return model.end();
    };
    check(make("6{N}x4x4x2"));
    EXPECT_THAT(refuse(make("2x4{M}x4x2")),
                HasSubstr("node 'y' (TRANSPOSE_CONV): input 2 ('x') is"));
  }
}
