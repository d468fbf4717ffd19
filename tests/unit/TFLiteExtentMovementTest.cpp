//===- TFLiteExtentMovementTest.cpp - TensorFlow Lite elements moved -----===//

#include "TFLiteExtents.h"

using namespace glowish;
using namespace glowish::tfliteextents;

TEST(TFLiteExtents, Movement) {
  check(unary(BuiltinOperator::TRANSPOSE, "6{N}x4{M}x3", {{1, 2, 0}}));
  check(unary(BuiltinOperator::EXPAND_DIMS, "6{N}x4{M}", {{1}}));
  check(unary(BuiltinOperator::PAD, "6{N}x3", {{1, 2, 0, 1}}));
  check(unary(BuiltinOperator::PAD, "6{N}x4{M}", {{1, 2, 2, 1}}, {}, 1, i8,
              {{0.05f}, {3}}, i8));
  check(unary(BuiltinOperator::TILE, "6{N}x3", {{1, 2}}));
  check(unary(BuiltinOperator::REVERSE_V2, "6{N}x3", {{1}}));
  EXPECT_THAT(refuse(unary(BuiltinOperator::REVERSE_V2, "6{N}x3", {{0}})),
              HasSubstr("node 'y' (REVERSE_V2): "));
  EXPECT_THAT(refuse(unary(BuiltinOperator::TILE, "6{N}x3", {{2, 1}})),
              HasSubstr("node 'y' (TILE): "));
  check(unary<schema::SqueezeOptions>(
      BuiltinOperator::SQUEEZE, "6{N}x1x4{M}x1", {}, [](Builder &b) {
        std::vector<int32_t> dims = {1, -1};
        return schema::CreateSqueezeOptionsDirect(b.fbb(), &dims);
      }));
  EXPECT_THAT(refuse(unary(BuiltinOperator::SQUEEZE, "6{N}x1x3")),
              HasSubstr("accepted: named dimensions (squeeze_dims)"));
  for (MirrorPadMode mode :
       {MirrorPadMode::REFLECT, MirrorPadMode::SYMMETRIC}) {
    auto mirror = [&](std::vector<int32_t> pads) {
      return unary<schema::MirrorPadOptions>(
          BuiltinOperator::MIRROR_PAD, "6{N}x3", {pads}, [&](Builder &b) {
            return schema::CreateMirrorPadOptions(b.fbb(), mode);
          });
    };
    check(mirror({0, 0, 1, 2}));
    EXPECT_THAT(refuse(mirror({0, 1, 0, 0})),
                HasSubstr("node 'y' (MIRROR_PAD): "));
  }
}

TEST(TFLiteExtents, PartsAndWholes) {
  for (int axis : {0, 1, -1})
    for (bool isQuantized : {false, true}) {
      TensorType type = isQuantized ? i8 : f32;
      TFLiteScales scales =
          isQuantized ? TFLiteScales{{0.05f}, {3}} : TFLiteScales{};
      Builder model;
      std::string other = axis == 0   ? "4{M}x6{N}x3"
                          : axis == 1 ? "6{N}x4{M}x3"
                                      : "6{N}x6{N}x2";
      int x = model.input("x", "6{N}x6{N}x3", type, scales);
      int y = model.input("y", other, type, scales);
      model.op(BuiltinOperator::CONCATENATION, {x, y, x},
               {model.result(type, scales)},
               schema::CreateConcatenationOptions(model.fbb(), axis));
      check(model.end());
    }
  Builder pack;
  int x = pack.input("x", "6{N}x4{M}"), y = pack.input("y", "6{N}x4{M}");
  pack.op(BuiltinOperator::PACK, {x, y}, {pack.result()},
          schema::CreatePackOptions(pack.fbb(), 2, 1));
  check(pack.end());
  auto split = [](const std::string &dims) {
    Builder model;
    int x = model.input("x", dims);
    model.op(BuiltinOperator::SPLIT, {model.number(1), x},
             {model.result(), model.result()},
             schema::CreateSplitOptions(model.fbb(), 2));
    return model.end();
  };
  check(split("6{N}x4x4{M}"));
  EXPECT_THAT(refuse(split("4x6{N}")), HasSubstr("node 'y' (SPLIT): "));
  auto splitV = [](const std::string &dims) {
    return unary(
        BuiltinOperator::SPLIT_V, dims, {{1, -1}, {1}},
        llvm::function_ref<flatbuffers::Offset<schema::AbsOptions>(Builder &)>(
            nullptr),
        2);
  };
  check(splitV("6{N}x4x4{M}"));
  EXPECT_THAT(refuse(splitV("4x6{N}")), HasSubstr("node 'y' (SPLIT_V): "));
  auto unpack = [](const std::string &dims) {
    return unary<schema::UnpackOptions>(
        BuiltinOperator::UNPACK, dims, {},
        [](Builder &b) { return schema::CreateUnpackOptions(b.fbb(), 2, 1); },
        2);
  };
  check(unpack("6{N}x2x4{M}"));
  EXPECT_THAT(refuse(unpack("4x6{N}")), HasSubstr("node 'y' (UNPACK): "));
}

TEST(TFLiteExtents, Slices) {
  auto slice = [](const std::string &dims, std::vector<int32_t> begins,
                  std::vector<int32_t> sizes) {
    return unary(BuiltinOperator::SLICE, dims, {begins, sizes});
  };
  check(slice("6{N}x4", {0, 1}, {-1, 2}));
  check(slice("6{N}x4", {1, 0}, {-1, -1}));
  check(slice("8{N + 2}x4", {1, 0}, {2, -1}));
  for (std::vector<int32_t> sizes : {std::vector{6, 4}, {2, 4}})
    EXPECT_THAT(refuse(slice("6{N}x4", {0, 0}, sizes)),
                HasSubstr("accepted: elements that are always there"));
  auto strided = [](const std::string &dims, std::vector<int32_t> begins,
                    std::vector<int32_t> ends, std::vector<int32_t> steps,
                    int beginMask, int endMask, int shrinkMask) {
    return unary<schema::StridedSliceOptions>(
        BuiltinOperator::STRIDED_SLICE, dims, {begins, ends, steps},
        [&](Builder &b) {
          return schema::CreateStridedSliceOptions(b.fbb(), beginMask, endMask,
                                                   0, 0, shrinkMask);
        });
  };
  check(strided("6{N}x4{M}x5", {0, 0, 1}, {0, 0, -1}, {1, 1, 2}, 3, 3, 0));
  check(strided("6{N}x4", {0, 0}, {100, 2}, {2, 1}, 0, 0, 0));
  check(strided("8{N + 2}x4", {1, 0}, {-1, 0}, {1, -1}, 0, 2, 0));
  check(strided("6{N}x4{M}x3", {0, -1, 1}, {0, 0, 2}, {1, 1, 1}, 1, 1, 6));
  check(strided("6{N}x4", {0, 0}, {1, 0}, {1, 1}, 0, 2, 1));
  EXPECT_THAT(refuse(strided("6{N}x4", {0, 0}, {3, 4}, {1, 1}, 0, 0, 0)),
              HasSubstr("node 'y' (STRIDED_SLICE): the slice of dimension 0 of "
                        "float<6{N}x4> has the place 3"));
  EXPECT_THAT(refuse(strided("6{N}x4", {3, 0}, {0, 4}, {1, 1}, 0, 1, 0)),
              HasSubstr("has the place 3"));
  EXPECT_THAT(refuse(strided("6{N}x4", {0, 0}, {0, 4}, {-1, 1}, 1, 1, 0)),
              HasSubstr("accepted: from a number on"));
  EXPECT_THAT(refuse(strided("6{N}x4", {3, 0}, {4, 4}, {1, 1}, 0, 0, 1)),
              HasSubstr("has the place 3"));
}

TEST(TFLiteExtents, SlicesOfOtherRanks) {
  auto slice = [](const std::string &dims, std::vector<int32_t> begins,
                  std::vector<int32_t> ends, int endMask, int ellipsisMask,
                  int newAxisMask, int shrinkMask) {
    return unary<schema::StridedSliceOptions>(
        BuiltinOperator::STRIDED_SLICE, dims,
        {begins, ends, std::vector<int32_t>(begins.size(), 1)},
        [&](Builder &b) {
          return schema::CreateStridedSliceOptions(
              b.fbb(), 0, endMask, ellipsisMask, newAxisMask, shrinkMask);
        });
  };
  // x[..., -1], x[..., 1:, :], x[newaxis, :, 1:-1] and x[0, newaxis, ..., -1].
  check(slice("3x4{M}x6{N}", {0, -1}, {0, 0}, 0, 1, 0, 2));
  check(slice("6{N}x6{M + 2}x3", {0, 1, 0}, {0, 0, 0}, 6, 1, 0, 0));
  check(slice("6{N}x6{M + 2}x3", {0, 0, 1}, {0, 0, -1}, 2, 0, 1, 0));
  check(slice("6{N}x2x4{M}x3", {0, 0, 0, -1}, {1, 0, 0, 0}, 0, 4, 2, 9));
  EXPECT_THAT(refuse(slice("6{N}x3", {0, 0, 0}, {0, 0, 0}, 7, 0, 0, 0)),
              HasSubstr("3 dimensions of 2 are sliced"));
}

TEST(TFLiteExtents, Blocks) {
  auto toSpace = [](const std::string &dims) {
    return unary<schema::DepthToSpaceOptions>(
        BuiltinOperator::DEPTH_TO_SPACE, dims, {}, [](Builder &b) {
          return schema::CreateDepthToSpaceOptions(b.fbb(), 2);
        });
  };
  check(toSpace("6{N}x3x2x8"));
  check(toSpace("2x6{N}x4{M}x8"));
  auto toDepth = [](const std::string &dims) {
    return unary<schema::SpaceToDepthOptions>(
        BuiltinOperator::SPACE_TO_DEPTH, dims, {}, [](Builder &b) {
          return schema::CreateSpaceToDepthOptions(b.fbb(), 2);
        });
  };
  check(toDepth("6{N}x4x2x3"));
  check(toDepth("2x12{2*N}x2x3"));
  check(toDepth("2x6{N}x2x3"), /*atLeast=*/1, /*divisor=*/2);
  auto toBatch = [](const std::string &dims, std::vector<int32_t> pads) {
    return unary(BuiltinOperator::SPACE_TO_BATCH_ND, dims, {{2, 2}, pads});
  };
  check(toBatch("6{N}x3x4x2", {1, 0, 0, 0}));
  check(toBatch("6{N}x8{2*M}x4x2", {1, 1, 0, 0}));
  auto fromBatch = [](const std::string &dims, std::vector<int32_t> crops) {
    return unary(BuiltinOperator::BATCH_TO_SPACE_ND, dims, {{2, 2}, crops});
  };
  check(fromBatch("24{4*N}x3x4x2", {1, 1, 0, 2}));
  check(fromBatch("24{4*N}x4{M}x4x2", {1, 0, 0, 2}));
  EXPECT_THAT(refuse(fromBatch("8x4{M}x4x2", {0, 1, 0, 0})),
              HasSubstr("an extent of dimension 1 that no run decides"));
}

TEST(TFLiteExtents, Indexing) {
  auto gather = [](const std::string &data, const std::string &indices,
                   int axis, int batchDims) {
    Builder model;
    int x = model.input("x", data), i = model.input("i", indices, i32);
    model.op(BuiltinOperator::GATHER, {x, i}, {model.result()},
             schema::CreateGatherOptions(model.fbb(), axis, batchDims));
    return model.end();
  };
  check(gather("6{N}x3", "4{M}", 1, 0));
  check(gather("3x6{N}", "4{M}x2", 0, 0));
  check(gather("6{N}x3x2", "6{N}x5", 1, 1));
  check(gather("6{N}x3x2", "6{N}x4", 2, 1));
  for (const char *indices : {"6{7 - N}x5", "6x5"})
    EXPECT_THAT(refuse(gather("6{N}x3", indices, 1, 1)),
                HasSubstr("the extents of input 0 in the first dimensions"));
  Builder nd;
  int x = nd.input("x", "6{N}x3x4{M}"), i = nd.input("i", "4{M}x2", i32);
  // Of one image they take the first alone.
  nd.op(BuiltinOperator::GATHER_ND, {x, i}, {nd.result()});
  check(nd.end(), /*atLeast=*/2);
  Builder hot;
  i = hot.input("i", "6{N}x4{M}", i32);
  int on = hot.weights({}),
      off = hot.tensor("off", {}, f32, {}, getTFLiteBytes<float>({0.5f}));
  hot.op(BuiltinOperator::ONE_HOT, {i, hot.number(3), on, off}, {hot.result()},
         schema::CreateOneHotOptions(hot.fbb(), 1));
  check(hot.end());
  auto top = [](const std::string &dims, int count) {
    Builder model;
    int x = model.input("x", dims);
    model.op(BuiltinOperator::TOPK_V2, {x, model.number(count)},
             {model.result(), model.result(i32)});
    return model.end();
  };
  check(top("6{N}x5", 3));
  check(top("8{N + 2}", 3));
  EXPECT_THAT(refuse(top("2x6{N}", 3)), HasSubstr("node 'y' "));
}
