//===- ConstantPoolTest.cpp - Constants shared by programs ----------------===//

#include "glowish/IR/ConstantPool.h"
#include "glowish/IR/Instrs.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

std::shared_ptr<const Tensor> makeFloats(std::initializer_list<float> values) {
  return std::make_shared<const Tensor>(Tensor::fromValues<float>(
      Type(ElemKind::Float, {int64_t(values.size())}), values));
}

std::vector<const Buffer *> getConstants(const IRFunction &function) {
  std::vector<const Buffer *> constants;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Constant)
      constants.push_back(buffer.get());
  return constants;
}

TEST(ConstantPool, EqualsAreThereOnce) {
  IRFunction one("one"), two("two");
  one.createConstant("a", makeFloats({1, 2, 3}));
  Buffer *b = one.createConstant("b", makeFloats({1, 2, 4}));
  one.createConstant("empty", makeFloats({}));
  Buffer *x =
      two.createMutable("x", Type(ElemKind::Float, {5}), "x", true, false);
  two.createConstant("c", makeFloats({1, 2, 4}));
  two.createConstant("d", makeFloats({5}));
  // The bytes of a, under another type.
  two.createConstant("e",
                     std::make_shared<const Tensor>(Tensor::fromValues<float>(
                         Type(ElemKind::Float, {1, 3}), {1, 2, 3})));
  ConstantPool pool(MemoryPlan::defaultAlignment);
  std::vector<MemoryPlan> plans;
  for (IRFunction *function : {&one, &two}) {
    pool.share(*function);
    plans.push_back(planMemory(*function));
    pool.place(*function, plans.back());
  }
  EXPECT_EQ(plans[0].constantSize, 128u);
  EXPECT_EQ(plans[1].constantSize, 256u);
  EXPECT_EQ(plans[1].getOffset(x), 0u);
  EXPECT_EQ(plans[1].mutableSize, 64u);
  EXPECT_EQ(pool.getSize(), 256u);
  EXPECT_EQ(pool.getSizeUnshared(), 320u);

  unsigned numShared = 0;
  for (const Buffer *constant : getConstants(two))
    if (constant->getPayload() == b->getPayload()) {
      EXPECT_EQ(plans[1].getOffset(constant), plans[0].getOffset(b));
      ++numShared;
    }
  EXPECT_EQ(numShared, 1u);
  EXPECT_EQ(getConstants(two).size(), 3u);

  Tensor region = pool.makeRegion();
  ASSERT_EQ(region.getSizeInBytes(), 256);
  for (auto [function, plan] : llvm::zip_equal(std::array{&one, &two}, plans))
    for (const Buffer *constant : getConstants(*function)) {
      uint64_t offset = plan.getOffset(constant);
      auto bytes = constant->getTensor().getByteRange();
      EXPECT_EQ(offset % MemoryPlan::defaultAlignment, 0u);
      EXPECT_EQ(region.getByteRange().slice(offset, bytes.size()), bytes);
    }
}

TEST(ConstantPool, UsesAndViewsFollow) {
  IRFunction one("one"), two("two");
  Buffer *first = one.createConstant("c", makeFloats({1, 2, 3, 4}));
  Type pair(ElemKind::Float, {2});
  Buffer *constant = two.createConstant("c", makeFloats({1, 2, 3, 4}));
  Buffer *view = two.createView("v", constant, pair, /*offset=*/1,
                                /*strides=*/{2});
  Buffer *y = two.createMutable("y", pair, "y", false, true);
  Buffer *z = two.createMutable("z", constant->getType(), "z", false, true);
  auto *ofView = two.create<CopyInstr>("ofView", y, view);
  auto *ofAll = two.create<CopyInstr>("ofAll", z, constant);
  ConstantPool pool(MemoryPlan::defaultAlignment);
  pool.share(one);
  pool.share(two);
  EXPECT_EQ(llvm::toString(verify(two)), "");
  EXPECT_EQ(ofAll->getInput()->getPayload(), first->getPayload());
  Buffer *moved = ofView->getInput();
  EXPECT_EQ(moved->getRoot(), ofAll->getInput());
  EXPECT_EQ(moved->getOffset(), 1);
  EXPECT_EQ(moved->getStrides(), DimsRef({2}));
  EXPECT_EQ(moved->getType(), pair);
  EXPECT_EQ(getConstants(two).size(), 1u);
}

} // namespace
