//===- PlaceholderPoolTest.cpp - Placeholders shared by functions ---------===//

#include "glowish/IR/PlaceholderPool.h"
#include "glowish/IR/Instrs.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

Buffer *addInput(IRFunction &function, llvm::StringRef name, int64_t extent) {
  return function.createMutable(name, Type(ElemKind::Float, {extent}), name,
                                /*isInput=*/true, /*isOutput=*/false);
}

Buffer *addState(IRFunction &function, llvm::StringRef name, int64_t extent) {
  return function.createMutable(name, Type(ElemKind::Float, {extent}), name,
                                /*isInput=*/true, /*isOutput=*/true);
}

/// The plans of \p members in the region of \p pool.
std::vector<MemoryPlan>
makePlans(const PlaceholderPool &pool,
          llvm::ArrayRef<PlaceholderPool::Member> members) {
  std::vector<MemoryPlan> plans;
  for (const PlaceholderPool::Member &member : members) {
    plans.push_back(planMemory(*member.function));
    pool.place(*member.function, plans.back());
    EXPECT_EQ(plans.back().mutableSize, pool.getSize());
  }
  return plans;
}

TEST(PlaceholderPool, StatesAreShared) {
  IRFunction one("one"), two("two"), other("other");
  Buffer *x1 = addInput(one, "x", 4), *s1 = addState(one, "s", 20);
  // A function that only reads a state.
  Buffer *s2 = addInput(two, "s", 20), *x2 = addInput(two, "x", 4);
  // The states of a model that shares none.
  Buffer *s3 = addState(other, "s", 20);
  std::vector<PlaceholderPool::Member> members = {
      {&one, "one", {0, 0}}, {&two, "two", {1, 0}}, {&other, "other", {2, 2}}};
  PlaceholderPool pool = llvm::cantFail(PlaceholderPool::create(members));
  std::vector<MemoryPlan> plans = makePlans(pool, members);
  EXPECT_EQ(plans[0].getOffset(x1), 0u);
  EXPECT_EQ(plans[0].getOffset(s1), 64u);
  EXPECT_EQ(plans[1].getOffset(s2), 64u);
  EXPECT_EQ(plans[1].getOffset(x2), 192u);
  EXPECT_EQ(plans[2].getOffset(s3), 256u);
  EXPECT_EQ(pool.getSize(), 384u);
}

TEST(PlaceholderPool, StateOfALaterFunction) {
  IRFunction one("one"), two("two"), three("three");
  Buffer *a = addInput(one, "s", 4), *b = addInput(two, "s", 4),
         *c = addState(three, "s", 4);
  std::vector<PlaceholderPool::Member> members = {
      {&one, "one", {0, 0}}, {&two, "two", {1, 1}}, {&three, "three", {2, 0}}};
  PlaceholderPool pool = llvm::cantFail(PlaceholderPool::create(members));
  std::vector<MemoryPlan> plans = makePlans(pool, members);
  EXPECT_EQ(plans[0].getOffset(a), plans[2].getOffset(c));
  EXPECT_NE(plans[1].getOffset(b), plans[2].getOffset(c));
}

TEST(PlaceholderPool, FunctionsOfOneModuleShareAll) {
  IRFunction one("one"), two("two");
  Buffer *y = addInput(one, "y", 2), *x1 = addInput(one, "x", 4),
         *x2 = addInput(two, "x", 4);
  std::vector<PlaceholderPool::Member> members = {{&one, "one", {0, 0}},
                                                  {&two, "two", {0, 0}}};
  PlaceholderPool pool = llvm::cantFail(PlaceholderPool::create(members));
  std::vector<MemoryPlan> plans = makePlans(pool, members);
  EXPECT_EQ(plans[0].getOffset(y), 0u);
  EXPECT_EQ(plans[0].getOffset(x1), 64u);
  EXPECT_EQ(plans[1].getOffset(x2), 64u);
  EXPECT_EQ(pool.getSize(), 128u);
}

TEST(PlaceholderPool, TypesAgree) {
  IRFunction one("one"), two("two");
  addState(one, "s", 4);
  addInput(two, "s", 5);
  llvm::Expected<PlaceholderPool> pool =
      PlaceholderPool::create({{&one, "the function 'one'", {0, 0}},
                               {&two, "the function 'two'", {1, 0}}});
  ASSERT_FALSE(pool);
  EXPECT_EQ(llvm::toString(pool.takeError()),
            "'s' is float<4> in the function 'one' and float<5> in the "
            "function 'two'; accepted of a placeholder that functions share: "
            "one type");
  // Without a state in either, they are two.
  IRFunction three("three");
  addInput(three, "s", 5);
  EXPECT_TRUE(bool(PlaceholderPool::create(
      {{&two, "two", {0, 0}}, {&three, "three", {1, 0}}})));
}

} // namespace
