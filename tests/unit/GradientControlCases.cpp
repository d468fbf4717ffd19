//===- GradientControlCases.cpp - Branches and loops to differentiate -----===//

#include "GradientCases.h"

using namespace glowish;

/// Both branches read captures, one of them only some; z is captured twice. The
/// last result is a capture in one branch and a constant in the other.
static const char *branch = R"(
module "m"
placeholder %flag : bool<> input "flag"
placeholder %x : double<3x5> input "x"
placeholder %z : double<5> input "z"
placeholder %y : double<3x5> output "y"
placeholder %n : int64<> output "n"
placeholder %s : double<3> output "s"
placeholder %same : double<5> output "same"
constant %two : double<> = [2.0]
constant %five : double<5> = [1.0, 2.0, 3.0, 4.0, 5.0]
constant %one : int64<> = [1]
function "main" {
  %square = Mul(%x, %x) : double<3x5>
  %r:4 = If(%flag, %square, %z, %z) {thenBody = body "then" (%a : double<3x5>, %b : double<5>, %c : double<5>) -> (%ra : double<3x5>, %rn : int64<>, %rs : double<3>, %rc : double<5>) {
    %ab = Mul(%a, %b) : double<3x5>
    %abc = Sub(%ab, %c) : double<3x5>
    %sine = Sin(%abc) : double<3x5>
    %sums = Reduce(%ab) {mode = "sum", axes = [1], keepDims = false} : double<3>
    Save(%sine, %ra)
    Save(%one, %rn)
    Save(%sums, %rs)
    Save(%c, %rc)
  }, elseBody = body "else" (%d : double<3x5>, %e : double<5>, %f : double<5>) -> (%rd : double<3x5>, %rm : int64<>, %rt : double<3>, %rf : double<5>) {
    %double = Mul(%d, %two) : double<3x5>
    %means = Reduce(%d) {mode = "mean", axes = [1], keepDims = false} : double<3>
    Save(%double, %rd)
    Save(%one, %rm)
    Save(%means, %rt)
    Save(%five, %rf)
  }} : double<3x5>, int64<>, double<3>, double<5>
  %tanh = Tanh(%r:0) : double<3x5>
  Save(%tanh, %y)
  Save(%r:1, %n)
  Save(%r:2, %s)
  Save(%r:3, %same)
}
)";

/// States that swap, one that stays as it is, an integer state that picks from
/// a capture, an unused capture, a scan of a state and one of a capture.
static const char *loop = R"(
module "m"
placeholder %trips : int64<> input "trips"
placeholder %begins : bool<> input "begins"
placeholder %x : double<3> input "x"
placeholder %z : double<3> input "z"
placeholder %w : double<3x5> input "w"
placeholder %a : double<3> output "a"
placeholder %b : double<3> output "b"
placeholder %k : double<3> output "k"
placeholder %at : int64<> output "at"
placeholder %scan : double<7x3> output "scan"
placeholder %picks : double<7x3> output "picks"
placeholder %n : int64<> output "n"
constant %zero : int64<> = [0]
constant %two : int64<> = [2]
constant %limit : double<> = [0.3]
constant %index : int64<> = [0]
function "main" {
  %l:7 = Loop(%trips, %begins, %x, %z, %x, %zero, %w, %z) {body = body "body" (%i : int64<>, %c : bool<>, %p : double<3>, %q : double<3>, %kept : double<3>, %j : int64<>, %m : double<3x5>, %idle : double<3>) -> (%rc : bool<>, %rp : double<3>, %rq : double<3>, %rkept : double<3>, %rj : int64<>, %r1 : double<3>, %r2 : double<3>) {
    %column = Gather(%m, %j) {axis = 1} : double<3>
    %scaled = Mul(%p, %column) : double<3>
    %sum = Add(%scaled, %q) : double<3>
    %sine = Sin(%sum) : double<3>
    %more = Mul(%sine, %kept) : double<3>
    %next = Add(%j, %two) : int64<>
    %first = Gather(%sum, %index) {axis = 0} : double<>
    %less = Less(%first, %limit) : bool<>
    Save(%less, %rc)
    Save(%q, %rp)
    Save(%more, %rq)
    Save(%kept, %rkept)
    Save(%next, %rj)
    Save(%sine, %r1)
    Save(%column, %r2)
  }, numStates = 4, maxTripCount = 7} : double<3>, double<3>, double<3>, int64<>, double<7x3>, double<7x3>, int64<>
  Save(%l:0, %a)
  Save(%l:1, %b)
  Save(%l:2, %k)
  Save(%l:3, %at)
  Save(%l:4, %scan)
  Save(%l:5, %picks)
  Save(%l:6, %n)
}
)";

/// A loop in a loop, the inner one as often as the outer one has run, and a
/// branch in that.
static const char *nested = R"(
module "m"
placeholder %trips : int64<> input "trips"
placeholder %x : double<3x5> input "x"
placeholder %w : double<5> input "w"
placeholder %y : double<3x5> output "y"
placeholder %rows : double<4x3> output "rows"
constant %one : int64<> = [1]
constant %half : double<> = [0.5]
function "main" {
  %outer:3 = Loop(%trips, none, %x, %w) {body = body "outer" (%i : int64<>, %c : bool<>, %state : double<3x5>, %cap : double<5>) -> (%next : bool<>, %s : double<3x5>, %row : double<3>) {
    %inner:2 = Loop(%i, %c, %state, %cap) {body = body "inner" (%j : int64<>, %d : bool<>, %u : double<3x5>, %v : double<5>) -> (%go : bool<>, %t : double<3x5>) {
      %early = Less(%j, %one) : bool<>
      %branch = If(%early, %u, %v) {thenBody = body "mul" (%p : double<3x5>, %q : double<5>) -> (%pq : double<3x5>) {
        %mul = Mul(%p, %q) : double<3x5>
        Save(%mul, %pq)
      }, elseBody = body "sin" (%e : double<3x5>, %f : double<5>) -> (%ef : double<3x5>) {
        %sine = Sin(%e) : double<3x5>
        %shifted = Add(%sine, %f) : double<3x5>
        Save(%shifted, %ef)
      }} : double<3x5>
      Save(%d, %go)
      Save(%branch, %t)
    }, numStates = 1, maxTripCount = 3} : double<3x5>, int64<>
    %smaller = Mul(%inner:0, %half) : double<3x5>
    %moved = Add(%smaller, %cap) : double<3x5>
    %total = Reduce(%moved) {mode = "sum", axes = [1], keepDims = false} : double<3>
    Save(%c, %next)
    Save(%moved, %s)
    Save(%total, %row)
  }, numStates = 1, maxTripCount = 4} : double<3x5>, double<4x3>, int64<>
  Save(%outer:0, %y)
  Save(%outer:1, %rows)
}
)";

std::vector<GradientCase> glowish::getControlCases() {
  std::vector<GradientCase> cases;
  for (double flag : {0, 1})
    cases.push_back({branch, {held({flag})}});
  // The first element decides when the loop ends: after none, one, three and
  // all rounds.
  InputValues state = at({-0.9, 0.4, 0.7}), table = between(0.2, 0.8);
  for (double trips : {0, 1, 3, 7})
    cases.push_back({loop, {held({trips}), held({1}), state, state, table}});
  cases.push_back({loop, {held({7}), held({0}), state, state, table}});
  cases.push_back(
      {loop, {held({7}), held({1}), at({0.9, 0.4, 0.7}), state, table}});
  for (double trips : {0, 2, 4})
    cases.push_back({nested, {held({trips})}});
  std::string never = loop;
  for (size_t at; (at = never.find("<7x3>")) != std::string::npos;)
    never.replace(at, 5, "<0x3>");
  never.replace(never.find("maxTripCount = 7"), 16, "maxTripCount = 0");
  cases.push_back({never, {held({0}), held({1}), state, state, table}});
  return cases;
}
