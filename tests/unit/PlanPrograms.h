//===- PlanPrograms.h - Programs for tests of memory plans ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_PLANPROGRAMS_H
#define GLOWISH_TESTS_UNIT_PLANPROGRAMS_H

#include "IRHelpers.h"

namespace glowish::test {

/// a is read by "top", after b has been written; c in halves. The state s is
/// written in place.
inline constexpr const char *halves = R"(
ir "halves" {
  mutable %x : float<4x33> input "x"
  mutable %s : float<4x33> input output "s"
  mutable %y : float<4x33> output "y"
  mutable %unused : float<3> input "unused"
  constant %w : float<33> = TWOS
  constant %v : float<4> = [1.0, 2.0, 3.0, 4.0]
  activation %a : float<4x33>
  activation %b : float<4x33>
  activation %c : float<4x33>
  view %rows = %w offset 0 strides [0, 1] : float<4x33>
  view %columns = %v offset 0 strides [1, 0] : float<4x33>
  view %c.top = %c offset 0 strides [33, 1] : float<2x33>
  view %c.bottom = %c offset 66 strides [33, 1] : float<2x33>
  view %a.top = %a offset 0 strides [33, 1] : float<2x33>
  view %b.bottom = %b offset 66 strides [33, 1] : float<2x33>
  code {
    Alloc(@out %a)
    "a" ElementWiseLoop(@out %a, @in %x, @in %rows) {program = {v2:float = Add(v0, v1)}}
    Alloc(@out %b)
    "b" Softmax(@out %b, @in %a) {axis = 1}
    Alloc(@out %c)
    "top" Copy(@out %c.top, @in %a.top)
    Dealloc(@out %a)
    "bottom" Copy(@out %c.bottom, @in %b.bottom)
    "y" ElementWiseLoop(@out %y, @in %b, @in %columns) {program = {v2:float = Mul(v0, v1)}}
    Dealloc(@out %b)
    "s" ElementWiseLoop(@out %s, @in %s, @in %c) {program = {v2:float = Add(v0, v1)}}
    Dealloc(@out %c)
  }
}
)";

/// Each buffer has one byte more than the alignment.
inline constexpr const char *bytes = R"(
ir "bytes" {
  mutable %x : int8<65> input "x"
  mutable %y : int8<65> output "y"
  activation %a : int8<65>
  activation %b : int8<65>
  code {
    Alloc(@out %a)
    "a" ElementWiseLoop(@out %a, @in %x) {program = {v1:int8 = Neg(v0)}}
    Alloc(@out %b)
    "b" ElementWiseLoop(@out %b, @in %x) {program = {v1:int8 = Abs(v0)}}
    "y" ElementWiseLoop(@out %y, @in %a, @in %b) {program = {v2:int8 = Add(v0, v1)}}
    Dealloc(@out %a)
    Dealloc(@out %b)
  }
}
)";

/// A loop and a branch, both while `kept` is live.
inline constexpr const char *control = R"(
ir "control" {
  mutable %x : float<33> input "x"
  mutable %flag : bool<> input "flag"
  mutable %y : float<33> output "y"
  activation %kept : float<33>
  activation %loop : float<33>
  activation %count : int64<>
  activation %if : float<33>
  code {
    Alloc(@out %kept)
    "kept" Softmax(@out %kept, @in %x) {axis = 0}
    Alloc(@out %loop)
    Alloc(@out %count)
    "loop" Loop(@out %loop, @out %count, none, none, @in %x, @in %kept) {body = ir "body" {
      mutable %i : int64<> input "i"
      mutable %c : bool<> input "c"
      mutable %state : float<33> input "state"
      mutable %capture : float<33> input "capture"
      mutable %goOn : bool<> output "goOn"
      mutable %next : float<33> output "next"
      activation %sum : float<33>
      activation %soft : float<33>
      code {
        Alloc(@out %sum)
        "sum" ElementWiseLoop(@out %sum, @in %state, @in %capture) {program = {v2:float = Add(v0, v1)}}
        Alloc(@out %soft)
        "soft" Softmax(@out %soft, @in %sum) {axis = 0}
        "next" ElementWiseLoop(@out %next, @in %soft, @in %sum) {program = {v2:float = Mul(v0, v1)}}
        Dealloc(@out %sum)
        Dealloc(@out %soft)
        "goOn" Copy(@out %goOn, @in %c)
      }
    }, numStates = 1, maxTripCount = 3, segments = [2, 1, 1, 2]}
    Dealloc(@out %count)
    Alloc(@out %if)
    "if" If(@out %if, @in %flag, @in %loop) {thenBody = ir "then" {
      mutable %tx : float<33> input "tx"
      mutable %ty : float<33> output "ty"
      constant %twos : float<33> = TWOS
      activation %inner : float<33>
      code {
        Alloc(@out %inner)
        "inner" Softmax(@out %inner, @in %tx) {axis = 0}
        "ty" ElementWiseLoop(@out %ty, @in %inner, @in %twos) {program = {v2:float = Add(v0, v1)}}
        Dealloc(@out %inner)
      }
    }, elseBody = ir "else" {
      mutable %ex : float<33> input "ex"
      mutable %ey : float<33> output "ey"
      code {
        "ey" Copy(@out %ey, @in %ex)
      }
    }, segments = [1, 1, 1]}
    Dealloc(@out %loop)
    "y" ElementWiseLoop(@out %y, @in %kept, @in %if) {program = {v2:float = Add(v0, v1)}}
    Dealloc(@out %kept)
    Dealloc(@out %if)
  }
}
)";

/// Half of `a` is averaged while the other half is made.
inline constexpr const char *averages = R"(
ir "averages" {
  mutable %x : float<64> input "x"
  mutable %y : float<64> output "y"
  activation %a : float<64>
  view %x.first = %x offset 0 strides [1] : float<32>
  view %x.second = %x offset 32 strides [1] : float<32>
  view %first = %a offset 0 strides [1] : float<32>
  view %second = %a offset 32 strides [1] : float<32>
  code {
    Alloc(@out %a)
    "first" Copy(@out %first, @in %x.first)
    "start" StartAllReduce(@inout %first)
    "second" Copy(@out %second, @in %x.second)
    "finish" FinishAllReduce(@inout %first)
    "y" Copy(@out %y, @in %a)
    Dealloc(@out %a)
  }
}
)";

/// A run with N rows reads no more of a than has been written.
inline constexpr const char *ranges = R"(
ir "ranges" {
  mutable %N : int64<> input "N" range "N" [1, 3]
  mutable %x : float<4x2> input "x"
  mutable %y : float<4x2> output "y" next ["N", ""]
  activation %a : float<4x2>
  view %from = %x offset 0 strides [2, 1] : float<3x2>
  view %to = %a offset 0 strides [2, 1] : float<3x2>
  code {
    Alloc(@out %a)
    "part" Copy(@out %to, @in %from)
    "y" Copy(@out %y, @in %a) bounds {result[0] = "N"}
    Dealloc(@out %a)
  }
}
)";

/// Parses one of these programs, where TWOS stands for 33 elements.
inline std::unique_ptr<IRFunction> parseProgram(llvm::StringRef text) {
  std::string literal = "[2.0";
  for (int i = 1; i < 33; ++i)
    literal += ", 2.0";
  auto [before, after] = text.split("TWOS");
  return parse(after.empty() ? text.str()
                             : (before + literal + "]" + after).str());
}

} // namespace glowish::test

#endif // GLOWISH_TESTS_UNIT_PLANPROGRAMS_H
