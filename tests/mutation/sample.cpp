// What self_test.py mutates. The comments above a line list the mutants that it
// must have, and what becomes of each when the cases run. A bound that is moved
// makes no difference where no case is at the bound.

#include "sample.h"
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int clampInOtherObject(int x);

namespace {

struct List {
  // The destructor is left alone.
  ~List() { std::free(memory); }
  void *memory = nullptr;
  std::vector<int> elements;
};

// expect condition (true): killed
// expect condition (false): killed
// expect bound (sge -> sgt): killed
// expect bound (slt -> sle): no difference
// expect negation (slt -> sge): killed
// expect result (x -> !x): killed
bool isIn(int x, int low, int high) { return x >= low && x < high; }

void add(List &list, int element) {
  // expect condition (true): killed
  // expect condition (false): no difference
  // expect bound (sgt -> sge): no difference
  if (element > 100)
    // expect call (clear): not executed
    list.elements.clear();
  // expect call (push_back): killed
  list.elements.push_back(element);
}

int sum(const List &list) {
  // expect constant (0 -> 1): killed
  int result = 0;
  // expect condition (false): killed
  for (int each : list.elements)
    // expect arithmetic (add -> sub): killed
    result += each;
  return result;
}

// Halves until nothing is left; without its condition, for ever.
int countBits(volatile unsigned &x) {
  // expect constant (0 -> 1): killed
  int count = 0;
  for (;;) {
    // expect condition (true): killed
    // expect condition (false): killed
    // expect constant (0 -> 1): killed
    if (x == 0)
      break;
    // expect arithmetic (udiv -> mul): killed
    // expect constant (factor 2 -> 3): killed
    x = x / 2;
    // Steps of loops are left alone.
    ++count;
  }
  return count;
}

int nameOf(int kind) {
  // expect case (1 -> default): killed
  // expect case (2 -> default): no difference
  switch (kind) {
  case 1:
    // expect constant (5 -> 6): killed
    return 5;
  case 2:
    // expect constant (7 -> 8): not executed
    return 7;
  default:
    // expect constant (9 -> 10): killed
    return 9;
  }
}

// A test that is not good enough.
// expect constant (3 -> 4): survived
int three() { return 3; }

// expect minimum (min -> max): killed
int smaller(int x, int y) { return std::min(x, y); }

bool testLists() {
  List list;
  for (int k : {1, 2, 3})
    add(list, k);
  // Assertions are left alone.
  assert(list.elements.size() == 3 && "elements are missing");
  return sum(list) == 6;
}

bool testRanges() {
  return isIn(0, 0, 3) && isIn(2, 0, 3) && !isIn(-1, 0, 3) && !isIn(7, 0, 3);
}

bool testNumbers() {
  volatile unsigned x = 6;
  return countBits(x) == 3 && nameOf(1) == 5 && nameOf(3) == 9 && three() > 2 &&
         smaller(1, 2) == 1 && smaller(4, 3) == 3;
}

bool testClamps() {
  return clampTo7(9) == 7 && clampTo7(5) == 5 && clampInOtherObject(8) == 7 &&
         clampInOtherObject(4) == 4;
}

} // namespace

int main(int, char **args) {
  struct {
    const char *name;
    bool (*run)();
  } cases[] = {{"lists", testLists},
               {"ranges", testRanges},
               {"numbers", testNumbers},
               {"clamps", testClamps}};
  for (auto &each : cases)
    if (std::strcmp(args[1], each.name) == 0)
      return each.run() ? 0 : 1;
  return 2;
}
