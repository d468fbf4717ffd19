//===- ElementWise.cpp - Scalar programs at every index -------------------===//

#include "Run.h"
#include "glowish/Ops/Scalar.h"
#include <array>

using namespace glowish;
using namespace glowish::interpreter;

/// Whether the formula of \p Formula can be instantiated on elements stored as
/// \p T: the record's kinds, at compile time.
template <typename Formula, typename T> constexpr bool takes() {
  using Kinds = ScalarOpInfo::Kinds;
  if constexpr (isLowPrecision<T>)
    return Formula::kinds == Kinds::Stored;
  using C = ComputeType<T>;
  switch (Formula::kinds) {
  case Kinds::Float:
    return std::is_floating_point_v<C>;
  case Kinds::Number:
    return !std::is_same_v<T, bool>;
  case Kinds::Signed:
    return std::is_signed_v<C>;
  case Kinds::Integer:
    return std::is_integral_v<C> && !std::is_same_v<T, bool>;
  case Kinds::Int32:
    return std::is_same_v<T, int32_t>;
  case Kinds::UInt64:
    return std::is_same_v<T, uint64_t>;
  case Kinds::Bool:
    return std::is_same_v<T, bool>;
  case Kinds::Byte:
    return std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>;
  case Kinds::Any:
  case Kinds::Stored:
    return true;
  }
}

/// A computed \p value as an element of type \p To. Floats saturate, NaN
/// becomes 0; integers wrap; anything but 0 is true.
template <typename To, typename From> static To convert(From value) {
  constexpr bool isFromFloat = std::is_floating_point_v<From>;
  if constexpr (std::is_same_v<To, bool>)
    return value != From(0);
  else if constexpr (isLowInt<To> && isFromFloat)
    return To(int64_t(Num<int32_t>::convert(double(value))));
  else if constexpr (isLowInt<To>)
    return To(int64_t(value));
  else if constexpr (isLowFloat<To> && !isFromFloat)
    return To(float(value));
  else if constexpr (std::is_integral_v<To> && isFromFloat)
    return Num<To>::convert(double(value));
  else
    return To(value);
}

/// \p Formula at every index: arguments of storage type \p T, results \p R.
template <typename Formula, typename T, typename R, size_t... Args>
static void runStep(const ScalarStep &step, llvm::ArrayRef<const Tensor *> args,
                    Tensor &result, std::index_sequence<Args...>) {
  using C = ComputeType<T>;
  auto out = result.data<R>();
  std::array<const uint8_t *, sizeof...(Args)> elements = {
      args[Args]->getByteRange().data()...};
  auto argument = [&](auto position, size_t i) {
    constexpr size_t arg = decltype(position)::value;
    if constexpr (Formula::firstIsBool && arg == 0)
      return Num<bool>(reinterpret_cast<const bool *>(elements[arg])[i]);
    else
      return Num<C>(C(reinterpret_cast<const T *>(elements[arg])[i]));
  };
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = convert<R>(
        Formula::eval(argument(std::integral_constant<size_t, Args>(), i)...,
                      step.params)
            .value);
}

template <typename Formula, typename T>
static void runStepWithResult(const ScalarStep &step,
                              llvm::ArrayRef<const Tensor *> args,
                              Tensor &result) {
  auto run = [&](auto zero) {
    runStep<Formula, T, decltype(zero)>(
        step, args, result, std::make_index_sequence<Formula::numArgs>());
  };
  if constexpr (Formula::result == ScalarOpInfo::Result::Same)
    run(T());
  else if constexpr (Formula::result == ScalarOpInfo::Result::Bool)
    run(false);
  else
    dispatchElemKind(step.kind, run);
}

Tensor interpreter::evaluateProgram(const ScalarProgram &program,
                                    std::vector<Tensor> values) {
  for (const ScalarStep &step : program.steps) {
    Tensor result(values[0].getType().withKind(step.kind));
    llvm::SmallVector<const Tensor *, 3> args;
    for (unsigned arg : step.args)
      args.push_back(&values[arg]);
    dispatchScalarOp(step.op, [&](auto formula) {
      using Formula = decltype(formula);
      dispatchElemKind(args.back()->getType().getKind(), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (takes<Formula, T>())
          runStepWithResult<Formula, T>(step, args, result);
        else
          llvm_unreachable("ScalarProgram::check refuses this kind");
      });
    });
    values.push_back(std::move(result));
  }
  // The empty program is its input 0.
  return std::move(program.empty() ? values.front() : values.back());
}

void interpreter::runElementWiseLoop(const Memory &memory,
                                     const ElementWiseLoopInstr &instr) {
  std::vector<Tensor> inputs;
  for (const Buffer *buffer : instr.getInputs())
    inputs.push_back(gatherOperand(memory, buffer));
  // A program without inputs would be a Fill.
  scatterOperand(memory, instr.getResult(),
                 evaluateProgram(instr.getProgram(), std::move(inputs)));
}
