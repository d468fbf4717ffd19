//===- PlanBugsTest.cpp - Planted bugs of memory plans are found ----------===//
//
// Each bug is planted into a program and a plan that are right: the proof
// accepts them before, and refuses them after that with the error that says
// what is wrong.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "PlanPrograms.h"
#include "glowish/IR/PlanProof.h"
#include "gmock/gmock.h"
#include <set>

using namespace glowish;
using namespace glowish::test;

namespace {

PlanOptions inRegions() {
  PlanOptions options;
  options.arenaRegions = {{"fast", 640}, {"slow", 4096}};
  return options;
}

/// A program and its plan, to be harmed.
struct Harmed {
  IRFunction &function;
  MemoryPlan &plan;

  /// The buffer \p name of the function or of one of its bodies.
  Buffer *find(llvm::StringRef name) const {
    Buffer *found = nullptr;
    forEachFunction(function, [&](const IRFunction &each) {
      if (Buffer *own = each.findBuffer(name))
        found = own;
    });
    EXPECT_TRUE(found) << "no buffer '" << name.str() << "'";
    return found;
  }
  uint64_t &at(llvm::StringRef name) const { return plan.offsets[find(name)]; }
  /// The instruction \p name, or the mark of the buffer \p name.
  Instruction *findInstr(llvm::StringRef name,
                         llvm::StringRef kind = "") const {
    Instruction *found = nullptr;
    forEachFunction(function, [&](const IRFunction &each) {
      for (const Instruction &instr : each.getInstrs()) {
        bool isIt = kind.empty() ? instr.getName() == name
                                 : instr.getKindName() == kind &&
                                       instr.getOperand(0)->getName() == name;
        if (isIt)
          found = const_cast<Instruction *>(&instr);
      }
    });
    EXPECT_TRUE(found) << "no instruction '" << name.str() << "'";
    return found;
  }
  Instruction *findAlloc(llvm::StringRef name) const {
    return findInstr(name, "Alloc");
  }
  Instruction *findDealloc(llvm::StringRef name) const {
    return findInstr(name, "Dealloc");
  }
  void erase(Instruction *instr) const { instr->getParent()->erase(instr); }
  void move(Instruction *instr, Instruction *before) const {
    instr->getParent()->moveBefore(instr, before);
  }
  /// Lets operand \p index of \p instr be a view of its root with its shape.
  void show(llvm::StringRef instr, unsigned index, int64_t offset,
            DimsRef strides) const {
    Instruction *user = findInstr(instr);
    Buffer *old = user->getOperand(index);
    user->setOperand(
        index, user->getParent()->createView("wrong", old->getRoot(),
                                             old->getType(), offset, strides));
  }
};

struct PlanBug {
  const char *name;
  /// The program, and how it is planned.
  const char *program;
  PlanOptions options;
  void (*plant)(const Harmed &harmed);
  /// A part of the error.
  const char *error;
};

const PlanOptions plain;

std::vector<PlanBug> getPlaceBugs() {
  return {
      {"a live buffer over the last byte of another", bytes, plain,
       [](const Harmed &h) {
         h.at("a") = 0;
         h.at("b") = 64;
       },
       "'b' lies from 64 to 129 in the arena, and 'a' from 0 to 65"},
      {"two live buffers in one place", halves, plain,
       [](const Harmed &h) { h.at("b") = h.at("a"); }, "'b' lies from"},
      {"a live buffer in the middle of another", halves, plain,
       [](const Harmed &h) { h.at("b") = h.at("a") + 128; },
       "which is live at the same time"},
      {"the place of a is free one instruction early", halves, plain,
       [](const Harmed &h) { h.at("c") = h.at("a"); }, "'c' lies from"},
      {"the place of c is taken one instruction late", halves, plain,
       [](const Harmed &h) { h.at("c") = h.at("b"); }, "'c' lies from"},
      {"a buffer behind the arena", halves, plain,
       [](const Harmed &h) { h.at("c") = h.plan.activationSize; },
       "in the arena, which has"},
      {"a buffer whose last byte is behind the arena", bytes, plain,
       [](const Harmed &h) {
         h.plan.activationSize = std::max(h.at("a"), h.at("b")) + 64;
         h.plan.peakLiveBytes = 0;
       },
       "in the arena, which has"},
      {"an offset that wraps around", halves, plain,
       [](const Harmed &h) { h.at("b") = uint64_t(0) - 64; },
       "in the arena, which has"},
      {"a buffer that is not aligned", halves, plain,
       [](const Harmed &h) {
         h.plan.activationSize += 64;
         h.at(h.at("b") > h.at("a") ? "b" : "a") += 4;
       },
       "no multiple of 64"},
      {"an alignment that is no power of two", halves, plain,
       [](const Harmed &h) { h.plan.alignment = 48; },
       "the alignment of the memory plan is 48"},
      {"an alignment below the largest element", halves, plain,
       [](const Harmed &h) { h.plan.alignment = 4; },
       "the alignment of the memory plan is 4"},
      {"a buffer without a place", halves, plain,
       [](const Harmed &h) { h.plan.offsets.erase(h.find("b")); },
       "'b' has no place in the memory plan"},
      {"an arena below the largest live set", halves, plain,
       [](const Harmed &h) {
         h.plan.peakLiveBytes = h.plan.activationSize + 1;
       },
       "are live in an arena of"},
  };
}

std::vector<PlanBug> getMarkBugs() {
  return {
      {"a lost Alloc", halves, plain,
       [](const Harmed &h) { h.erase(h.findAlloc("b")); },
       "Softmax 'b': internal: 'b' is accessed outside of its lifetime"},
      {"a lost Dealloc", halves, plain,
       [](const Harmed &h) { h.erase(h.findDealloc("b")); },
       "the lifetime of 'b' does not end"},
      {"a second Alloc", halves, plain,
       [](const Harmed &h) { h.function.create<AllocInstr>("", h.find("a")); },
       "'a' is allocated twice"},
      {"a second Dealloc", halves, plain,
       [](const Harmed &h) {
         h.function.create<DeallocInstr>("", h.find("a"));
       },
       "'a' is not live"},
      {"a lifetime that ends one instruction early", halves, plain,
       [](const Harmed &h) { h.move(h.findDealloc("a"), h.findInstr("top")); },
       "Copy 'top': internal: 'a' is accessed outside of its lifetime"},
      {"a lifetime that begins one instruction late", halves, plain,
       [](const Harmed &h) { h.move(h.findAlloc("c"), h.findInstr("bottom")); },
       "Copy 'top': internal: 'c' is accessed outside of its lifetime"},
      {"a Dealloc before its Alloc", halves, plain,
       [](const Harmed &h) { h.move(h.findDealloc("c"), h.findAlloc("c")); },
       "'c' is not live"},
      {"a placeholder with an Alloc", halves, plain,
       [](const Harmed &h) { h.function.create<AllocInstr>("", h.find("x")); },
       "'x' is no activation"},
      {"a longer lifetime than the planner saw", halves, plain,
       [](const Harmed &h) {
         h.at("c") = h.at("a");
         h.move(h.findAlloc("c"), h.findInstr("bottom"));
         h.move(h.findInstr("top"), h.findInstr("y"));
         h.move(h.findDealloc("a"), h.findInstr("y"));
       },
       "which is live at the same time"},
  };
}

std::vector<PlanBug> getAccessBugs() {
  return {
      {"a read before the write", halves, plain,
       [](const Harmed &h) { h.move(h.findInstr("a"), h.findInstr("top")); },
       "Softmax 'b': internal: 'a' is read before it is written"},
      {"a half that nothing writes", halves, plain,
       [](const Harmed &h) { h.erase(h.findInstr("bottom")); },
       "'c' is read with bytes that nothing has written"},
      {"a half that is written after it is read", halves, plain,
       [](const Harmed &h) {
         h.move(h.findInstr("bottom"), h.findDealloc("c"));
         h.move(h.findDealloc("b"), h.findDealloc("c"));
       },
       "'c' is read with bytes that nothing has written"},
      {"an output that nothing writes", bytes, plain,
       [](const Harmed &h) { h.erase(h.findInstr("y")); },
       "'y' is left with bytes that nothing has written"},
      {"an output of which a row is not written", halves, plain,
       [](const Harmed &h) {
         Buffer *y = h.find("y");
         Buffer *rows = h.function.createView(
             "rows3", y, Type(ElemKind::Float, {3, 33}), 0, {33, 1});
         Buffer *part = h.function.createView(
             "b3", h.find("b"), Type(ElemKind::Float, {3, 33}), 0, {33, 1});
         h.function.create<CopyInstr>("part", rows, part)
             ->getParent()
             ->moveBefore(&h.function.getInstrs().back(), h.findInstr("y"));
         h.erase(h.findInstr("y"));
       },
       "'y' is left with bytes that nothing has written"},
      {"a stride that is too long", halves, plain,
       [](const Harmed &h) { h.show("bottom", 1, 66, {67, 1}); },
       "'wrong' reaches outside of 'b'"},
      {"a view that begins too late", halves, plain,
       [](const Harmed &h) { h.show("bottom", 0, 67, {33, 1}); },
       "'wrong' reaches outside of 'c'"},
      {"a negative stride below the root", halves, plain,
       [](const Harmed &h) { h.show("top", 1, 32, {33, -2}); },
       "'wrong' reaches outside of 'a'"},
      {"a view of the wrong half", halves, plain,
       [](const Harmed &h) { h.show("bottom", 0, 0, {33, 1}); },
       "'c' is read with bytes that nothing has written"},
      {"a stride that leaves a gap", halves, plain,
       [](const Harmed &h) { h.show("top", 0, 0, {66, 1}); },
       "'c' is read with bytes that nothing has written"},
      {"an operand in place that is shifted", halves, plain,
       [](const Harmed &h) {
         Type row(ElemKind::Float, {3, 33});
         Buffer *c = h.find("c");
         Buffer *to = h.function.createView("to", c, row, 0, {33, 1});
         Buffer *from = h.function.createView("from", c, row, 33, {33, 1});
         h.function.create<CopyInstr>("shift", to, from);
         h.move(&h.function.getInstrs().back(), h.findDealloc("c"));
       },
       "overlaps 'to', which is written"},
      {"a constant that is written", halves, plain,
       [](const Harmed &h) {
         h.findInstr("top")->setOperand(
             0,
             h.function.createView("wrong", h.find("w"),
                                   Type(ElemKind::Float, {2, 33}), 0, {0, 1}));
       },
       "the constant 'w' is written"},
      {"a run that reads more than is written", ranges, plain,
       [](const Harmed &h) { h.findInstr("y")->setLoopBounds({}); },
       "'a' is read with bytes that nothing has written"},
      {"a bound beyond what is written", ranges, plain,
       [](const Harmed &h) {
         std::vector<LoopBound> bounds(h.findInstr("y")->getLoopBounds());
         bounds[0].extent = *add(bounds[0].extent, Extent(1));
         h.findInstr("y")->setLoopBounds(bounds);
       },
       "'a' is read with bytes that nothing has written"},
      {"a buffer that is read while processes average it", averages, plain,
       [](const Harmed &h) { h.move(h.findInstr("y"), h.findInstr("finish")); },
       "Copy 'y': internal: 'a' is accessed while 'first' is averaged"},
      {"a write into what processes average", averages, plain,
       [](const Harmed &h) { h.show("second", 0, 31, {1}); },
       "'wrong' is accessed while 'first' is averaged"},
      {"an average that nothing waits for", averages, plain,
       [](const Harmed &h) {
         h.erase(h.findInstr("finish"));
         h.erase(h.findInstr("y"));
       },
       "nothing waits until 'first' is averaged"},
      {"a wait for an average that has not begun", averages, plain,
       [](const Harmed &h) { h.erase(h.findInstr("start")); },
       "'first' is not averaged"},
      {"a wait for the average of the other half", averages, plain,
       [](const Harmed &h) { h.show("finish", 0, 32, {1}); },
       "'wrong' is not averaged"},
  };
}

std::vector<PlanBug> getWeightBugs() {
  return {
      {"a constant behind its region", halves, plain,
       [](const Harmed &h) { h.plan.constantSize = h.at("v") + 15; },
       "in the constant region, which has"},
      {"two constants with a byte in common", halves, plain,
       [](const Harmed &h) { h.at("v") = h.at("w") + 128; },
       "'v' lies from 128 to 144 in the constant region, and 'w' from 0 to "
       "132"},
      {"two constants in one place", halves, plain,
       [](const Harmed &h) { h.at("v") = h.at("w"); },
       "in the constant region, and 'w'"},
      {"a constant that is not aligned", halves, plain,
       [](const Harmed &h) {
         h.at("v") += 4;
         h.plan.constantSize += 64;
       },
       "no multiple of 64"},
      {"a constant without a place", halves, plain,
       [](const Harmed &h) { h.plan.offsets.erase(h.find("w")); },
       "'w' has no place"},
      {"a placeholder behind its region", halves, plain,
       [](const Harmed &h) { h.plan.mutableSize = h.at("unused"); },
       "in the mutable region, which has"},
      {"an output over an input", halves, plain,
       [](const Harmed &h) { h.at("y") = h.at("x"); },
       "in the mutable region, and 'x'"},
      {"an input over the state", halves, plain,
       [](const Harmed &h) { h.at("unused") = h.at("s") + 64; },
       "in the mutable region, and 's'"},
      {"a placeholder without a place", halves, plain,
       [](const Harmed &h) { h.plan.offsets.erase(h.find("y")); },
       "'y' has no place"},
  };
}

std::vector<PlanBug> getArenaBugs() {
  return {
      {"an input that is overwritten before its last reader", bytes,
       getArenaOptions(), [](const Harmed &h) { h.at("a") = h.at("x"); },
       "which is live at the same time"},
      {"an activation over an output that is written", halves,
       getArenaOptions(), [](const Harmed &h) { h.at("c") = h.at("y"); },
       "which is live at the same time"},
      {"two inputs in one place", halves, getArenaOptions(),
       [](const Harmed &h) { h.at("unused") = h.at("x"); },
       "which is live at the same time"},
      {"a state in the arena", halves, plain,
       [](const Harmed &h) { h.plan.arenaPlaceholders.insert(h.find("s")); },
       "'s', which is not input or output alone, is in the arena"},
      {"an input in the arena that the planner had elsewhere", halves, plain,
       [](const Harmed &h) { h.plan.arenaPlaceholders.insert(h.find("x")); },
       "which is live at the same time"},
      {"a placeholder of another program in the arena", halves,
       getArenaOptions(),
       [](const Harmed &h) {
         static auto other = parse(bytes);
         h.plan.arenaPlaceholders.insert(other->findBuffer("x"));
       },
       "a placeholder that the program does not have"},
      {"regions in the wrong order", halves, inRegions(),
       [](const Harmed &h) {
         std::swap(h.plan.arenaRegions[0], h.plan.arenaRegions[1]);
       },
       "region 'slow' begins at"},
      {"a region below what is in it", halves, inRegions(),
       [](const Harmed &h) {
         auto &regions = h.plan.arenaRegions;
         regions[0].size -= 64;
         regions[1].start -= 64;
         regions[1].size += 64;
       },
       "crosses the end of region 'fast'"},
      {"a buffer across the border of a region", halves, inRegions(),
       [](const Harmed &h) { h.at("b") = h.plan.arenaRegions[1].start - 64; },
       "'b' crosses the end of region 'fast'"},
      {"a gap between regions", halves, inRegions(),
       [](const Harmed &h) { h.plan.arenaRegions[1].start += 64; },
       "region 'slow' begins at"},
      {"regions that end before the arena", halves, inRegions(),
       [](const Harmed &h) { h.plan.arenaRegions[1].size -= 64; },
       "the regions of the memory plan end at"},
      {"two regions of one name", halves, inRegions(),
       [](const Harmed &h) { h.plan.arenaRegions[1].name = "fast"; },
       "two regions of the memory plan are 'fast'"},
  };
}

std::vector<PlanBug> getBodyBugs() {
  return {
      {"a loop's buffer over one that is read after the loop", control, plain,
       [](const Harmed &h) { h.at("sum") = h.at("kept"); },
       "'2:body/sum' lies from"},
      {"a loop's buffer over the loop's state", control, plain,
       [](const Harmed &h) { h.at("soft") = h.at("loop"); },
       "'2:body/soft' lies from"},
      {"the next state over the state", control, plain,
       [](const Harmed &h) { h.at("next") = h.at("loop"); },
       "which is live at the same time"},
      {"the next condition over the loop's count", control, plain,
       [](const Harmed &h) { h.at("goOn") = h.at("count"); },
       "which is live at the same time"},
      {"a loop's number over its condition", control, plain,
       [](const Harmed &h) { h.at("i") = h.at("c"); },
       "which is live at the same time"},
      {"a loop's buffer over its number", control, plain,
       [](const Harmed &h) { h.at("i") = h.at("sum") + 64; },
       "which is live at the same time"},
      {"two buffers of a body in one place", control, plain,
       [](const Harmed &h) { h.at("soft") = h.at("sum"); },
       "'2:body/soft' lies from"},
      {"what a loop stores has no place", control, plain,
       [](const Harmed &h) { h.plan.offsets.erase(h.find("goOn")); },
       "'2:body/goOn' has no place"},
      {"a loop's count over what it captures", control, plain,
       [](const Harmed &h) { h.at("count") = h.at("kept"); },
       "which is live at the same time"},
      {"a branch's buffer over its caller's", control, plain,
       [](const Harmed &h) { h.at("inner") = h.at("kept"); },
       "/inner' lies from"},
      {"a branch's buffer over its result", control, plain,
       [](const Harmed &h) { h.at("inner") = h.at("if"); },
       "which is live at the same time"},
      {"a result over what the branch captures", control, plain,
       [](const Harmed &h) { h.at("if") = h.at("loop"); },
       "which is live at the same time"},
      {"a branch's constant behind its region", control, plain,
       [](const Harmed &h) { h.at("twos") = h.plan.constantSize; },
       "in the constant region, which has"},
      {"a lost Dealloc in a body", control, plain,
       [](const Harmed &h) { h.erase(h.findDealloc("soft")); },
       "the lifetime of 'soft' does not end"},
      {"a branch that leaves its result unwritten", control, plain,
       [](const Harmed &h) { h.erase(h.findInstr("ey")); },
       "'ey' is left with bytes that"},
      {"a loop that leaves its condition unwritten", control, plain,
       [](const Harmed &h) { h.erase(h.findInstr("goOn")); },
       "'goOn' is left with bytes that nothing has written"},
  };
}

std::vector<PlanBug> getBugs() {
  std::vector<PlanBug> all;
  for (auto get : {getPlaceBugs, getMarkBugs, getAccessBugs, getWeightBugs,
                   getArenaBugs, getBodyBugs})
    llvm::append_range(all, get());
  return all;
}

/// Returns what the proof or, as in a compilation, the verifier finds.
std::string findFault(const IRFunction &function, const MemoryPlan &plan) {
  std::string fault = getMessage(provePlan(function, plan));
  return fault.empty() ? getMessage(verify(function)) : fault;
}

TEST(PlanBugs, EachIsFoundAndNothingElse) {
  std::set<std::string> names;
  for (const PlanBug &bug : getBugs()) {
    SCOPED_TRACE(bug.name);
    EXPECT_TRUE(names.insert(bug.name).second);
    auto function = parseProgram(bug.program);
    ASSERT_TRUE(function);
    MemoryPlan plan = planMemory(*function, bug.options);
    ASSERT_EQ(findFault(*function, plan), "");
    bug.plant({*function, plan});
    EXPECT_THAT(findFault(*function, plan),
                testing::AllOf(testing::Ne(""), testing::HasSubstr(bug.error)));
  }
  EXPECT_GE(names.size(), 50u);
}

} // namespace
