//===- StridedLayoutTest.cpp - The arithmetic of views --------------------===//

#include "glowish/IR/StridedLayout.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <set>

using namespace glowish;

namespace {

/// The elements of a layout in the row-major order of its indices.
std::vector<int64_t> enumerate(const StridedLayout &layout) {
  std::vector<int64_t> elements;
  if (layout.isEmpty())
    return elements;
  Dims index(layout.shape.size(), 0);
  while (true) {
    int64_t element = layout.offset;
    for (unsigned d = 0; d < index.size(); ++d)
      element += index[d] * layout.strides[d];
    elements.push_back(element);
    unsigned d = index.size();
    while (d > 0 && ++index[d - 1] == layout.shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return elements;
  }
}

/// A slice with steps and a permutation of a tensor of \p shape, some
/// dimensions repeated.
StridedLayout makeView(Random &random, DimsRef shape) {
  Dims dense = getDenseStrides(shape);
  StridedLayout layout;
  std::vector<unsigned> order;
  for (unsigned d = 0; d < shape.size(); ++d)
    order.insert(order.begin() + random.below(d + 1), d);
  for (unsigned d : order) {
    int64_t step = 1 + random.below(2);
    int64_t start = random.below(shape[d]);
    int64_t count = 1 + random.below((shape[d] - start - 1) / step + 1);
    bool reverse = random.below(4) == 0;
    layout.shape.push_back(count);
    layout.strides.push_back((reverse ? -step : step) * dense[d]);
    layout.offset += (reverse ? start + (count - 1) * step : start) * dense[d];
    if (random.below(6) == 0) {
      layout.shape.push_back(1 + random.below(3));
      layout.strides.push_back(0);
    }
  }
  return layout;
}

Dims makeShape(Random &random) {
  Dims shape;
  for (unsigned rank = random.below(4); shape.size() < rank;)
    shape.push_back(1 + random.below(5));
  return shape;
}

bool isInside(const StridedLayout &layout, int64_t numElements) {
  for (int64_t element : enumerate(layout))
    if (element < 0 || element >= numElements)
      return false;
  return true;
}

TEST(StridedLayout, ComposeMapsEachIndexToTheSameElement) {
  Random random(1);
  unsigned composed = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    StridedLayout inner = makeView(random, makeShape(random));
    StridedLayout outer = makeView(random, inner.shape);
    if (random.below(2)) {
      // Look at the inner layout under another shape of as many elements.
      Dims collapsed = {inner.getNumElements()};
      outer = makeView(random, collapsed);
    }
    ASSERT_TRUE(isInside(outer, inner.getNumElements()));
    std::optional<StridedLayout> result = compose(inner, outer);
    if (!result)
      continue;
    ++composed;
    std::vector<int64_t> through = enumerate(inner), wanted;
    for (int64_t number : enumerate(outer))
      wanted.push_back(through[number]);
    ASSERT_EQ(enumerate(*result), wanted) << "round " << round;
  }
  // A function that always gives up would pass otherwise.
  EXPECT_GT(composed, 15000u);
}

TEST(StridedLayout, RunsAreTheElements) {
  Random random(3);
  for (unsigned round = 0; round < 2000; ++round) {
    StridedLayout view = makeView(random, makeShape(random));
    std::set<int64_t> expected, actual;
    for (int64_t element : enumerate(view))
      expected.insert(element);
    forEachRun(view, [&](int64_t first, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        EXPECT_TRUE(actual.insert(first + i).second) << "twice";
    });
    EXPECT_EQ(actual, expected);
    int64_t runs = 0;
    forEachRun(view, [&](int64_t, int64_t) { ++runs; });
    EXPECT_EQ(runs, countRuns(view));
  }
  // A transposed tensor is one run, a column of it many.
  unsigned runs = 0;
  auto count = [&](int64_t, int64_t) { ++runs; };
  forEachRun({{3, 7}, 0, {1, 3}}, count);
  EXPECT_EQ(runs, 1u);
  forEachRun({{7, 1}, 0, {3, 1}}, count);
  EXPECT_EQ(runs, 8u);
  forEachRun({{7, 0}, 0, {3, 1}}, count);
  EXPECT_EQ(runs, 8u);
}

TEST(StridedLayout, TheFirstRunsAreThoseInFront) {
  StridedLayout column = {{2, 3, 1}, 5, {12, 4, 1}};
  std::vector<int64_t> firsts;
  forEachRun(
      column, [&](int64_t first, int64_t) { firsts.push_back(first); }, 4);
  EXPECT_EQ(firsts, (std::vector<int64_t>{5, 9, 13, 17}));
  EXPECT_EQ(countRuns(column), 6);
  EXPECT_EQ(countRuns({{int64_t(1) << 40, 2}, 0, {3, 1}}), int64_t(1) << 40);
}

TEST(StridedLayout, ComposeReshapesWhatIsContiguous) {
  // Rows 2...5 of 7x6, seen as 4x2x3 and as 24.
  StridedLayout rows = {{4, 6}, 12, {6, 1}};
  auto split = compose(rows, StridedLayout::dense({4, 2, 3}));
  ASSERT_TRUE(split);
  EXPECT_TRUE(isSame(*split, {{4, 2, 3}, 12, {6, 3, 1}}));
  auto collapsed = compose(rows, StridedLayout::dense({24}));
  ASSERT_TRUE(collapsed);
  EXPECT_TRUE(isSame(*collapsed, {{24}, 12, {1}}));
  // Columns 2...4 of 7x6 cannot be collapsed.
  EXPECT_FALSE(compose({{7, 3}, 2, {6, 1}}, StridedLayout::dense({21})));
  EXPECT_FALSE(compose({{6, 7}, 0, {1, 6}}, StridedLayout::dense({42})));
}

TEST(StridedLayout, DisjointLayoutsShareNoElement) {
  Random random(2);
  unsigned disjoint = 0, proven = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    Dims shape = makeShape(random);
    StridedLayout a = makeView(random, shape), b = makeView(random, shape);
    std::vector<int64_t> x = enumerate(a), y = enumerate(b);
    std::set<int64_t> elements(x.begin(), x.end());
    bool meets = llvm::any_of(y, [&](int64_t e) { return elements.count(e); });
    disjoint += !meets;
    if (!areDisjoint(a, b))
      continue;
    ++proven;
    ASSERT_FALSE(meets) << "round " << round;
  }
  EXPECT_GT(proven, disjoint / 2);
}

TEST(StridedLayout, PartsOfAConcatenationAreDisjointAlongEachDimension) {
  Dims shape = {3, 5, 7, 33}, strides = getDenseStrides(shape);
  for (unsigned d = 0; d < shape.size(); ++d) {
    StridedLayout front = StridedLayout::dense(shape), back = front,
                  all = front;
    front.shape[d] = 2;
    back.shape[d] -= 2;
    back.offset += 2 * strides[d];
    EXPECT_TRUE(areDisjoint(front, back)) << d;
    EXPECT_FALSE(areDisjoint(front, all)) << d;
    back.offset -= strides[d];
    EXPECT_FALSE(areDisjoint(front, back)) << d;
  }
}

TEST(StridedLayout, InjectiveMeansNoElementTwice) {
  Random random(3);
  unsigned injective = 0;
  for (unsigned round = 0; round < 5000; ++round) {
    StridedLayout layout;
    for (unsigned rank = random.below(4); layout.shape.size() < rank;) {
      layout.shape.push_back(1 + random.below(4));
      layout.strides.push_back(int64_t(random.below(20)) - 6);
    }
    layout.offset = 200;
    std::vector<int64_t> elements = enumerate(layout);
    std::set<int64_t> distinct(elements.begin(), elements.end());
    if (!layout.isInjective())
      continue;
    ++injective;
    ASSERT_EQ(distinct.size(), elements.size());
  }
  EXPECT_GT(injective, 1000u);
  EXPECT_FALSE((StridedLayout{{3}, 0, {0}}).isInjective());
  EXPECT_TRUE((StridedLayout{{1}, 0, {0}}).isInjective());
}

TEST(StridedLayout, BroadcastRepeatsLikeNumpy) {
  StridedLayout layout = broadcastTo({{3, 1}, 5, {4, 1}}, {2, 3, 2});
  EXPECT_EQ(enumerate(layout),
            (std::vector<int64_t>{5, 5, 9, 9, 13, 13, 5, 5, 9, 9, 13, 13}));
  EXPECT_TRUE(broadcastTo({{1}, 0, {1}}, {0}).isEmpty());
}

TEST(StridedLayout, BoundsOverflowIsNoticed) {
  EXPECT_FALSE((StridedLayout{{3}, 1, {INT64_MAX}}).getBounds());
  EXPECT_FALSE((StridedLayout{{2}, INT64_MAX, {1}}).getBounds());
  auto bounds = (StridedLayout{{3, 2}, 10, {-4, 1}}).getBounds();
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->first, 2);
  EXPECT_EQ(bounds->second, 11);
}

TEST(StridedLayout, WhatIsEmptyIsDense) {
  EXPECT_TRUE((StridedLayout{{3, 0}, 0, {7, 2}}).isDense());
  EXPECT_FALSE((StridedLayout{{3, 1}, 0, {7, 2}}).isDense());
}

} // namespace
