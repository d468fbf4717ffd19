//===- Requantization.cpp - Rounded floats to bytes through integers ------===//
//
// Cast(Add(Round(y), z)) to a kind of 8 bits becomes
//
//   Cast(Clip(Add(Cast(Round(y)), z)))
//
// with an int32 inside the outer Cast. Float sums with |z| <= 255 are exact up
// to 2^23, and what is larger saturates either way. A NaN, which would become
// z, is told apart where y may be one.
//
//===----------------------------------------------------------------------===//

#include "Selection/Requantization.h"
#include <cmath>

using namespace glowish;

namespace {

class Requantizer {
public:
  Requantizer(ProgramInputs &code, IRFunction &function,
              const Instruction &before)
      : code(code), function(function), before(before),
        numInputs(unsigned(code.inputs.size())) {}

  bool run();

private:
  /// What a Cast makes a byte of.
  struct Match {
    /// The value that is rounded.
    unsigned rounded;
    /// An input, if there is one.
    std::optional<unsigned> zeroPoint;
    int64_t zero = 0;
  };

  ScalarStep *getStep(unsigned value, ScalarOp op);
  std::optional<Match> match(const ScalarStep &cast);
  double getBound(unsigned value) const;
  double getStepBound(const ScalarStep &step,
                      llvm::ArrayRef<double> bounds) const;
  unsigned add(ScalarOp op, llvm::ArrayRef<unsigned> args, ElemKind kind,
               llvm::ArrayRef<double> params = {});
  void rewrite(const ScalarStep &cast, const Match &match);
  unsigned addInteger(unsigned oldInput, int64_t value);
  void removeUnused();

  ProgramInputs &code;
  IRFunction &function;
  const Instruction &before;
  unsigned numInputs;
  /// Integers that become inputs behind the others.
  llvm::SmallVector<Buffer *, 2> integers;
  std::vector<ScalarStep> steps;
  /// For the values of the old program those of the new one. Inputs behind the
  /// old ones have numbers from firstInteger on until the end.
  std::vector<unsigned> renamed;
  static constexpr unsigned firstInteger = 1u << 16;
};

} // namespace

static bool isByte(ElemKind kind) {
  return kind == ElemKind::Int8 || kind == ElemKind::UInt8;
}

/// The constant that \p buffer, one value for all elements, shows.
static std::optional<double> getScalar(const Buffer *buffer) {
  if (!buffer || buffer->getRoot()->getKind() != Buffer::Kind::Constant ||
      buffer->getRoot()->getType().getNumElements() != 1)
    return std::nullopt;
  return buffer->getRoot()->getTensor().getAsDouble(0);
}

ScalarStep *Requantizer::getStep(unsigned value, ScalarOp op) {
  if (value < numInputs)
    return nullptr;
  ScalarStep &step = code.program.steps[value - numInputs];
  return step.op == op ? &step : nullptr;
}

std::optional<Requantizer::Match> Requantizer::match(const ScalarStep &cast) {
  if (cast.op != ScalarOp::Cast || !isByte(cast.kind))
    return std::nullopt;
  unsigned value = cast.args[0];
  Match found;
  if (const ScalarStep *sum = getStep(value, ScalarOp::Add)) {
    if (sum->kind != ElemKind::Float || sum->args[1] >= numInputs)
      return std::nullopt;
    found.zeroPoint = sum->args[1];
    std::optional<double> zero = getScalar(code.inputs[sum->args[1]]);
    if (!zero || std::abs(*zero) > 255 || *zero != std::rint(*zero))
      return std::nullopt;
    found.zero = int64_t(*zero);
    value = sum->args[0];
  }
  const ScalarStep *round = getStep(value, ScalarOp::Round);
  if (!round || round->kind != ElemKind::Float)
    return std::nullopt;
  found.rounded = round->args[0];
  return found;
}

//===- Bounds -------------------------------------------------------------===//

/// The largest magnitude of the elements of \p buffer; infinity where they may
/// be infinite or NaN.
static double getBound(const Buffer *buffer) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  if (!buffer)
    return 0x1p31;
  ElemKind kind = buffer->getType().getKind();
  const Buffer *root = buffer->getRoot();
  if (isIntegerKind(kind))
    return std::ldexp(1, 8 * int(getElemSize(kind)));
  if (root->getKind() != Buffer::Kind::Constant || kind != ElemKind::Float)
    return unknown;
  double largest = 0;
  for (int64_t i = 0; i < root->getType().getNumElements(); ++i) {
    double magnitude = std::abs(root->getTensor().getAsDouble(i));
    if (!(magnitude <= largest))
      largest = std::isnan(magnitude) ? unknown : magnitude;
  }
  return largest;
}

/// Roundings may make a float a little larger: there is a wide margin to where
/// that would matter.
double Requantizer::getStepBound(const ScalarStep &step,
                                 llvm::ArrayRef<double> bounds) const {
  auto get = [&](unsigned i) { return bounds[step.args[i]]; };
  if (isIntegerKind(step.kind))
    return std::ldexp(1, 8 * int(getElemSize(step.kind)));
  switch (step.op) {
  case ScalarOp::Add:
  case ScalarOp::Sub:
    return get(0) + get(1);
  case ScalarOp::Mul:
    return get(0) * get(1);
  case ScalarOp::Max:
  case ScalarOp::Min:
    return std::max(get(0), get(1));
  case ScalarOp::Relu:
  case ScalarOp::Cast:
    return get(0);
  case ScalarOp::Round:
    return get(0) + 1;
  default:
    return std::numeric_limits<double>::infinity();
  }
}

/// Infinity where \p value may be infinite or NaN.
double Requantizer::getBound(unsigned value) const {
  std::vector<double> bounds;
  for (const Buffer *input : code.inputs)
    bounds.push_back(::getBound(input));
  for (const ScalarStep &step : code.program.steps) {
    if (bounds.size() > value)
      break;
    double bound = getStepBound(step, bounds);
    // Beyond, floats could become infinite.
    bounds.push_back(bound < 0x1p100 ? bound
                                     : std::numeric_limits<double>::infinity());
  }
  return bounds[value];
}

//===- The new program ----------------------------------------------------===//

unsigned Requantizer::add(ScalarOp op, llvm::ArrayRef<unsigned> args,
                          ElemKind kind, llvm::ArrayRef<double> params) {
  steps.push_back({op, llvm::SmallVector<unsigned, 3>(args),
                   llvm::SmallVector<double, 2>(params), kind});
  return numInputs + unsigned(steps.size()) - 1;
}

/// \p value as an input of int32 that is as \p oldInput, one for all elements.
unsigned Requantizer::addInteger(unsigned oldInput, int64_t value) {
  Tensor scalar(Type(ElemKind::Int32, DimsRef()));
  scalar.data<int32_t>()[0] = int32_t(value);
  Buffer *constant = function.createConstant(
      before.getName(), std::make_shared<const Tensor>(std::move(scalar)));
  const Buffer *old = code.inputs[oldInput];
  integers.push_back(function.createView(
      before.getName(), constant, old->getType().withKind(ElemKind::Int32),
      /*offset=*/0, Dims(old->getType().getRank(), 0)));
  return firstInteger + unsigned(integers.size()) - 1;
}

void Requantizer::rewrite(const ScalarStep &cast, const Match &match) {
  constexpr ElemKind i32 = ElemKind::Int32;
  double low = cast.kind == ElemKind::Int8 ? -128 : 0;
  double high = cast.kind == ElemKind::Int8 ? 127 : 255;
  unsigned value = match.rounded;
  bool mayBeNaN = std::isinf(getBound(value));
  // What is below 0 saturates.
  if (const ScalarStep *relu = getStep(value, ScalarOp::Relu);
      relu && double(match.zero) <= low)
    value = relu->args[0];
  unsigned y = renamed[value];
  unsigned integer =
      add(ScalarOp::Cast, {add(ScalarOp::Round, {y}, ElemKind::Float)}, i32);
  if (match.zero) {
    // Far enough from the limits of int32 for the sum not to wrap.
    if (!(getBound(match.rounded) < 0x1p30))
      integer = add(ScalarOp::Clip, {integer}, i32, {-32768, 32767});
    integer = add(ScalarOp::Add,
                  {integer, addInteger(*match.zeroPoint, match.zero)}, i32);
  }
  integer = add(ScalarOp::Clip, {integer}, i32, {low, high});
  if (mayBeNaN && match.zero) {
    unsigned isNumber = add(ScalarOp::Equal, {y, y}, ElemKind::Bool);
    unsigned zero = add(ScalarOp::Sub, {integer, integer}, i32);
    integer = add(ScalarOp::Select, {isNumber, integer, zero}, i32);
  }
  renamed.push_back(add(ScalarOp::Cast, {integer}, cast.kind));
}

/// Drops steps and inputs, but input 0, that nothing uses any more.
void Requantizer::removeUnused() {
  size_t total = numInputs + steps.size();
  // Steps, behind which the new inputs are still numbered.
  std::vector<bool> isUsed(total + integers.size());
  auto getIndex = [&](unsigned value) {
    return value >= firstInteger ? total + (value - firstInteger)
                                 : size_t(value);
  };
  isUsed[0] = isUsed[total - 1] = true;
  for (size_t i = steps.size(); i-- > 0;)
    if (isUsed[numInputs + i])
      for (unsigned arg : steps[i].args)
        isUsed[getIndex(arg)] = true;
  std::vector<unsigned> numbers(isUsed.size());
  llvm::SmallVector<Buffer *, 4> inputs;
  auto keepInput = [&](size_t index, Buffer *input) {
    if (!isUsed[index])
      return;
    numbers[index] = unsigned(inputs.size());
    inputs.push_back(input);
  };
  for (unsigned i = 0; i < numInputs; ++i)
    keepInput(i, code.inputs[i]);
  for (size_t i = 0; i < integers.size(); ++i)
    keepInput(total + i, integers[i]);
  ScalarProgram program;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!isUsed[numInputs + i])
      continue;
    for (unsigned &arg : steps[i].args)
      arg = numbers[getIndex(arg)];
    numbers[numInputs + i] = unsigned(inputs.size() + program.steps.size());
    program.steps.push_back(std::move(steps[i]));
  }
  code = {std::move(program), std::move(inputs)};
}

bool Requantizer::run() {
  bool isChanged = false;
  for (unsigned i = 0; i < numInputs; ++i)
    renamed.push_back(i);
  for (const ScalarStep &step : code.program.steps) {
    if (auto found = match(step)) {
      rewrite(step, *found);
      isChanged = true;
      continue;
    }
    ScalarStep copy = step;
    for (unsigned &arg : copy.args)
      arg = renamed[arg];
    renamed.push_back(add(copy.op, copy.args, copy.kind, copy.params));
  }
  if (isChanged)
    removeUnused();
  return isChanged;
}

bool glowish::requantizeInIntegers(ProgramInputs &code, IRFunction &function,
                                   const Instruction &before) {
  return Requantizer(code, function, before).run();
}

bool glowish::prepareRequantizations(IRFunction &function,
                                     const TargetDescription &target) {
  if (!prefersIntegers(target))
    return false;
  bool changed = false;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();) {
    auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&*it++);
    if (!loop)
      continue;
    ProgramInputs code = {loop->getProgram(),
                          llvm::SmallVector<Buffer *, 4>(loop->getInputs())};
    if (!requantizeInIntegers(code, function, *loop))
      continue;
    function.replace(loop, ElementWiseLoopInstr::draft(loop->getResult(),
                                                       std::move(code.program),
                                                       code.inputs));
    changed = true;
  }
  return changed;
}
