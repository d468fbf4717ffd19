//===- TensorSourceTest.cpp - Elements that are made when asked for -------===//

#include "glowish/Base/TensorSource.h"
#include "glowish/Base/Permute.h"
#include "gtest/gtest.h"
#include <cstring>
#include <limits>
#include <thread>

using namespace glowish;

namespace {

/// Bytes behind one byte, so that they are not aligned.
StoredBytes store(std::vector<uint8_t> bytes) {
  bytes.insert(bytes.begin(), 0xee);
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  return {llvm::ArrayRef(*owner).drop_front(), owner};
}

Tensor defer(const Type &type, StoredElements::Layout layout) {
  return Tensor::defer(type,
                       std::make_shared<StoredElements>(std::move(layout)));
}

std::vector<double> getAll(const Tensor &tensor) {
  std::vector<double> all;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    all.push_back(tensor.getAsDouble(i));
  return all;
}

TEST(TensorSource, FloatsThatAreNotAligned) {
  std::vector<uint8_t> bytes(12);
  float values[] = {1.5f, -2, 1e30f};
  std::memcpy(bytes.data(), values, sizeof(values));
  Type type(ElemKind::Float, {3});
  Tensor tensor = StoredElements::makeTensor(type, store(bytes));
  Tensor plain = Tensor::fromValues<float>(type, {1.5f, -2, 1e30f});
  ASSERT_TRUE(tensor.findBytes());
  EXPECT_TRUE(tensor.isBitwiseEqual(plain));
  EXPECT_EQ(tensor.getFingerprint(), plain.getFingerprint());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.getBytes()) % 4, 0u);
  EXPECT_EQ(getAll(tensor), getAll(plain));
}

TEST(TensorSource, AlignedElementsAreNotCopied) {
  auto owner = std::make_shared<Tensor>(
      Tensor::fromValues<float>(Type(ElemKind::Float, {2}), {3, 4}));
  const Tensor tensor = StoredElements::makeTensor(
      owner->getType(), {owner->getByteRange(), owner});
  EXPECT_EQ(tensor.getBytes(), owner->getBytes());
}

TEST(TensorSource, ChangesAreTheTensorsOwn) {
  auto owner = std::make_shared<Tensor>(
      Tensor::fromValues<float>(Type(ElemKind::Float, {2}), {3, 4}));
  Tensor tensor = StoredElements::makeTensor(owner->getType(),
                                             {owner->getByteRange(), owner});
  tensor.setFromDouble(0, 7);
  EXPECT_FALSE(tensor.getSource());
  EXPECT_EQ(getAll(tensor), (std::vector<double>{7, 4}));
  EXPECT_EQ(getAll(*owner), (std::vector<double>{3, 4}));
}

/// Three columns of five integers of 4 bits, each in three bytes.
StoredElements::Layout makeColumns(ElemKind kind, bool invertsSign) {
  return {.stored =
              store({0x10, 0x32, 0xf4, 0x98, 0xba, 0xfc, 0xef, 0xcd, 0x07}),
          .kind = kind,
          .extents = {5, 3},
          .strides = {4, 24},
          .invertsSign = invertsSign};
}

TEST(TensorSource, TransposesHalfBytes) {
  Tensor tensor =
      defer(Type(ElemKind::UInt4, {5, 3}), makeColumns(ElemKind::UInt4, false));
  EXPECT_EQ(getAll(tensor), (std::vector<double>{0, 8, 15, 1, 9, 14, 2, 10, 13,
                                                 3, 11, 12, 4, 12, 7}));
}

TEST(TensorSource, InvertsSigns) {
  Tensor tensor =
      defer(Type(ElemKind::Int4, {5, 3}), makeColumns(ElemKind::Int4, true));
  EXPECT_EQ(getAll(tensor), (std::vector<double>{-8, 0, 7, -7, 1, 6, -6, 2, 5,
                                                 -5, 3, 4, -4, 4, -1}));
  Tensor bytes =
      defer(Type(ElemKind::Int8, {2, 2}), {.stored = store({0, 255, 128, 127}),
                                           .kind = ElemKind::Int8,
                                           .extents = {2, 2},
                                           .strides = {8, 16},
                                           .invertsSign = true});
  EXPECT_EQ(getAll(bytes), (std::vector<double>{-128, 0, 127, -1}));
}

TEST(TensorSource, SignedHalfBytes) {
  Tensor tensor = StoredElements::makeTensor(Type(ElemKind::Int4, {3}),
                                             store({0x8f, 0x07}));
  EXPECT_EQ(getAll(tensor), (std::vector<double>{-1, -8, 7}));
}

TEST(TensorSource, MakesFloatsOfHalves) {
  Tensor tensor =
      defer(Type(ElemKind::Float, {2, 2}),
            {.stored = store({0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0x00, 0x7c}),
             .kind = ElemKind::Float16,
             .extents = {2, 2},
             .strides = {16, 32}});
  EXPECT_EQ(getAll(tensor),
            (std::vector<double>{1, 0.5, -2,
                                 std::numeric_limits<double>::infinity()}));
}

TEST(TensorSource, ConvertedElementsKeepTheirKind) {
  Tensor tensor = defer(Type(ElemKind::Float, {2}),
                        {.stored = store({0x00, 0x3c, 0x00, 0xc0}),
                         .kind = ElemKind::Float16,
                         .extents = {2},
                         .strides = {16}});
  Tensor bits = std::move(tensor).withType(Type(ElemKind::Int32, {2}));
  EXPECT_EQ(bits.getAsInt(0), 0x3f800000);
  EXPECT_EQ(bits.getAsInt(1), int64_t(int32_t(0xc0000000)));
}

TEST(TensorSource, ManyDimensions) {
  // [2, 3, 2, 2] of what is stored as [3, 2, 2, 2].
  std::vector<uint8_t> bytes(24);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i);
  Tensor tensor =
      defer(Type(ElemKind::UInt8, {2, 3, 2, 2}), {.stored = store(bytes),
                                                  .kind = ElemKind::UInt8,
                                                  .extents = {2, 3, 2, 2},
                                                  .strides = {32, 64, 16, 8}});
  EXPECT_EQ(tensor.getAsInt(0), 0);
  EXPECT_EQ(tensor.getAsInt(4), 8);
  EXPECT_EQ(tensor.getAsInt(12), 4);
  EXPECT_EQ(tensor.getAsInt(23), 23);
}

/// As the weights of a layer behind a Flatten are moved to another order.
TEST(TensorSource, ReshapesAndPermutesInPlace) {
  std::vector<uint8_t> bytes(24);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i);
  Tensor tensor =
      StoredElements::makeTensor(Type(ElemKind::UInt8, {2, 12}), store(bytes));
  Tensor plain = tensor.clone();
  auto move = [](Tensor own) {
    own = permute(std::move(own).withType(Type(ElemKind::UInt8, {2, 3, 2, 2})),
                  {0, 2, 3, 1});
    own = std::move(own).withType(Type(ElemKind::UInt8, {2, 12}));
    return permute(own, {1, 0});
  };
  Tensor moved = move(std::move(tensor)), expected = move(std::move(plain));
  EXPECT_TRUE(moved.getSource());
  EXPECT_FALSE(expected.getSource());
  EXPECT_TRUE(moved.isBitwiseEqual(expected));
  // A dimension that was moved as a whole is split.
  auto split = [](const Tensor &own) {
    return permute(
        own.copyOrDefer().withType(Type(ElemKind::UInt8, {2, 2, 3, 2})),
        {2, 3, 1, 0});
  };
  EXPECT_TRUE(split(moved).getSource());
  EXPECT_TRUE(split(moved).isBitwiseEqual(split(expected)));
  // Three columns are parts of dimensions that were moved apart.
  Tensor other =
      permute(std::move(moved).withType(Type(ElemKind::UInt8, {8, 3})), {1, 0});
  EXPECT_FALSE(other.getSource());
  EXPECT_TRUE(other.isBitwiseEqual(permute(
      std::move(expected).withType(Type(ElemKind::UInt8, {8, 3})), {1, 0})));
}

TEST(TensorSource, JoinsColumns) {
  auto own = std::make_shared<const Tensor>(defer(
      Type(ElemKind::UInt4, {5, 3}), makeColumns(ElemKind::UInt4, false)));
  auto other =
      std::make_shared<const Tensor>(Tensor(Type(ElemKind::UInt4, {5, 1})));
  Type type(ElemKind::UInt4, {5, 4});
  auto join = [&](auto... parts) {
    return Tensor::defer(
        type, std::make_shared<JoinedColumns>(
                  std::vector<std::shared_ptr<const Tensor>>{parts...}));
  };
  Tensor joined = join(own, other);
  EXPECT_EQ(joined.getAsInt(1), 8);
  EXPECT_EQ(joined.getAsInt(3), 0);
  EXPECT_EQ(joined.getAsInt(4), 1);
  EXPECT_EQ(joined.getAsInt(18), 7);
  auto copy = std::make_shared<const Tensor>(defer(
      Type(ElemKind::UInt4, {5, 3}), makeColumns(ElemKind::UInt4, false)));
  EXPECT_TRUE(join(own, other).isBitwiseEqual(join(copy, other)));
  EXPECT_TRUE(
      join(own, other).getSource()->isEqual(*join(copy, other).getSource()));
  EXPECT_EQ(join(own, other).getFingerprint(),
            join(copy, other).getFingerprint());
  EXPECT_FALSE(join(own, other).isBitwiseEqual(join(other, own)));
}

TEST(TensorSource, ComparesElementsWithSources) {
  Tensor stored =
      defer(Type(ElemKind::UInt4, {5, 3}), makeColumns(ElemKind::UInt4, false));
  Tensor plain = stored.clone();
  EXPECT_FALSE(plain.getSource());
  EXPECT_TRUE(stored.isBitwiseEqual(plain));
  plain.setFromDouble(7, 0);
  EXPECT_FALSE(stored.isBitwiseEqual(plain));
  // The same elements may be stored in several ways.
  Tensor rows =
      defer(Type(ElemKind::UInt4, {5, 3}),
            {.stored = store({0x80, 0x1f, 0xe9, 0xa2, 0x3d, 0xcb, 0xc4, 0x07}),
             .kind = ElemKind::UInt4,
             .extents = {5, 3},
             .strides = {12, 4}});
  EXPECT_TRUE(stored.isBitwiseEqual(rows));
}

TEST(TensorSource, ThreadsShareOneCopy) {
  const Tensor tensor =
      defer(Type(ElemKind::UInt4, {5, 3}), makeColumns(ElemKind::UInt4, false));
  const void *own = nullptr, *others = nullptr;
  std::thread thread([&] { others = tensor.getBytes(); });
  own = tensor.getBytes();
  thread.join();
  EXPECT_EQ(own, others);
}

TEST(TensorSource, SamplesAllOfFewBytes) {
  std::vector<uint8_t> bytes(1 << 20);
  uint64_t zeros = sampleBytes(bytes);
  bytes.back() = 1;
  EXPECT_NE(sampleBytes(bytes), zeros);
  bytes.resize(1000);
  zeros = sampleBytes(bytes);
  bytes[333] = 1;
  EXPECT_NE(sampleBytes(bytes), zeros);
}

} // namespace
