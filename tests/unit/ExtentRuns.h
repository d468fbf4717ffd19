//===- ExtentRuns.h - Programs whose runs decide extents --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_EXTENTRUNS_H
#define GLOWISH_TESTS_UNIT_EXTENTRUNS_H

#include "Differential.h"
#include "ExtentTemplates.h"
#include "Messages.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Base/ForEachIndex.h"
#include <cmath>
#include <functional>

namespace glowish {

/// Returns "N = 3, M = 2".
inline std::string print(const ExtentValues &values) {
  std::string text;
  for (const auto &[symbol, value] : values)
    text += (text.empty() ? "" : ", ") + symbol + " = " + std::to_string(value);
  return text;
}

/// A module compiled for one back end, to be run several times.
struct Program {
  std::unique_ptr<Backend> backend;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;

  /// The placeholder that a model calls \p name, which it has.
  const Buffer *find(llvm::StringRef name) const {
    return llvm::cantFail(session->findPlaceholder(name));
  }
};

/// The back end for \p target, or the interpreter.
inline std::unique_ptr<Backend>
createBackend(bool isCPU, const TargetOptions &target = TargetOptions()) {
  if (!isCPU)
    return createInterpreter();
  return llvm::cantFail(CPUBackend::create(target));
}

/// Compiles \p module, verified after each pass.
inline llvm::Expected<Program>
compileProgram(std::unique_ptr<Module> module, std::unique_ptr<Backend> backend,
               CompilationOptions options = CompilationOptions()) {
  Program result;
  result.backend = std::move(backend);
  options.verifyEach = true;
  Compilation compilation(*result.backend, std::move(options));
  GLOWISH_ASSIGN_OR_RETURN(result.program,
                           compilation.compile(std::move(module)));
  GLOWISH_ASSIGN_OR_RETURN(result.session, Session::create(*result.program));
  return result;
}

/// The shape that \p input has in a run with \p values.
inline Dims evaluateShape(const Buffer *input, const ExtentValues &values) {
  return evaluateShape(input->getShape(), input->getInputExtents().dims,
                       [&](llvm::StringRef symbol) {
                         return std::optional(values.find(symbol)->second);
                       });
}

/// Makes the elements of \p input that lie outside of \p shape NaN, or
/// \p integer in a kind of more than one byte.
inline void poisonOutside(const Session &session, const Buffer *input,
                          DimsRef shape, double integer = 0x7FFFFFFF) {
  Tensor whole = session.getTensor(input);
  ElemKind kind = whole.getType().getKind();
  double value = isFloatKind(kind)        ? std::nan("")
                 : kind == ElemKind::Bool ? 1
                 : getElemSize(kind) == 1 ? 117
                                          : integer;
  int64_t element = 0;
  forEachIndex(whole.getType().getShape(), [&](DimsRef index) {
    bool isInside = true;
    for (auto [i, extent] : llvm::zip_equal(index, shape))
      isInside &= i < extent;
    if (!isInside)
      whole.setFromDouble(element, value);
    ++element;
  });
}

/// How inputs are made and what is beyond their extents.
struct RunInputs {
  /// Makes the elements of the input \p name for a run with \p values; random
  /// ones where it is null.
  std::function<Tensor(llvm::StringRef name, const Type &type, uint64_t seed,
                       const ExtentValues &values)>
      makeElements = nullptr;
  /// The integers beyond the extents of inputs, for a run each; floats are NaN
  /// there.
  std::vector<double> outsides = {0x7FFFFFFF};
};

/// Returns whether the shape of an input of \p session states \p symbol.
inline bool isStatedByAShape(const Session &session, llvm::StringRef symbol) {
  return llvm::any_of(session.getPlaceholders(), [&](const Buffer *input) {
    return llvm::any_of(input->getInputExtents().dims, [&](const auto &dim) {
      return dim && dim->getSymbol() == symbol;
    });
  });
}

/// Sets the inputs of \p open to tensors whose extents are \p values, with
/// number \p number of \p how beyond them, and those of \p fixed, which may be
/// null, to the same tensors. A symbol has an input of its own, which is set
/// where the shape of no other states it.
inline llvm::Error setInputs(Program &open, Program *fixed,
                             const ExtentValues &values,
                             const RunInputs &how = {}, size_t number = 0) {
  uint64_t seed = 0;
  for (const Buffer *input : open.session->getPlaceholders()) {
    if (!input->isInput())
      continue;
    if (const auto &range = input->getInputExtents().range) {
      if (!isStatedByAShape(*open.session, range->symbol))
        GLOWISH_RETURN_IF_ERROR(open.session->setInput(
            input,
            Tensor::fromValues<int64_t>(input->getType(),
                                        {values.find(range->symbol)->second})));
      continue;
    }
    const Type &bounds = input->getType();
    Type type = input->getInputExtents().dims.empty()
                    ? bounds
                    : bounds.withShape(evaluateShape(input, values));
    ++seed;
    Tensor tensor = how.makeElements ? how.makeElements(input->getModelName(),
                                                        type, seed, values)
                                     : makeRandom(type, seed);
    GLOWISH_RETURN_IF_ERROR(open.session->setInput(input, tensor));
    poisonOutside(*open.session, input, type.getShape(), how.outsides[number]);
    if (fixed)
      GLOWISH_RETURN_IF_ERROR(
          fixed->session->setInput(fixed->find(input->getModelName()), tensor));
  }
  return llvm::Error::success();
}

/// Expects \p actual to be \p expected: integers are the same, floats near, and
/// NaN and infinities at the same places.
inline void expectSame(const Tensor &actual, const Tensor &expected,
                       const std::string &name) {
  ASSERT_EQ(actual.getType().str(), expected.getType().str()) << name;
  ElemKind kind = expected.getType().getKind();
  double tolerance = !isFloatKind(kind)       ? 0
                     : getElemSize(kind) == 2 ? 1e-2
                                              : 5e-6;
  Comparison result = compareTensors(actual, expected, tolerance, tolerance);
  int64_t at = result.worstMismatchIndex;
  EXPECT_EQ(result.numMismatches, 0)
      << name << ", element " << at << ": " << actual.getAsDouble(at)
      << ", not " << expected.getAsDouble(at);
}

/// Runs \p open with the extents \p values and expects the outputs of \p fixed,
/// which is compiled for these.
inline void compareRuns(Program &open, Program &fixed,
                        const ExtentValues &values, const RunInputs &how = {}) {
  for (size_t i = 0; i < how.outsides.size(); ++i) {
    ASSERT_EQ(getMessage(setInputs(open, &fixed, values, how, i)), "");
    ASSERT_EQ(getMessage(open.session->run()), "");
    ASSERT_EQ(getMessage(fixed.session->run()), "");
    ASSERT_FALSE(fixed.session->getOutputs().empty());
    for (const Buffer *output : fixed.session->getOutputs()) {
      llvm::StringRef name = output->getModelName();
      expectSame(open.session->getOutput(open.find(name)),
                 fixed.session->getOutput(output), name.str());
    }
  }
}

/// Compiles a model for the values of its symbols, or for their ranges where
/// \p values is null.
using CompileModel = llvm::function_ref<llvm::Expected<Program>(
    const ExtentValues *values, bool isCPU)>;

/// Compiles a model for ranges, once for each back end, and compares its runs
/// with those of the model compiled for each of \p runs. With \p nothing some
/// values have no elements: the programs run, and outputs are compared where
/// the model for them is not refused.
inline void checkRuns(CompileModel compile, llvm::ArrayRef<ExtentValues> runs,
                      const RunInputs &how = {},
                      const std::optional<ExtentValues> &nothing = {}) {
  std::vector<Program> programs;
  for (bool isCPU : {false, true}) {
    llvm::Expected<Program> open = compile(nullptr, isCPU);
    ASSERT_TRUE(bool(open)) << llvm::toString(open.takeError());
    programs.push_back(std::move(*open));
  }
  EXPECT_GE(runs.size(), 2u);
  auto check = [&](const ExtentValues &values, bool mayBeRefused) {
    SCOPED_TRACE(print(values));
    llvm::Expected<Program> fixed = compile(&values, /*isCPU=*/false);
    std::string message = fixed ? "" : llvm::toString(fixed.takeError());
    ASSERT_TRUE(mayBeRefused || message.empty()) << message;
    for (Program &open : programs) {
      SCOPED_TRACE(&open == programs.data() ? "interpreter" : "CPU");
      if (message.empty()) {
        compareRuns(open, *fixed, values, how);
        continue;
      }
      EXPECT_EQ(getMessage(setInputs(open, nullptr, values, how)), "");
      EXPECT_EQ(getMessage(open.session->run()), "");
    }
  };
  for (const ExtentValues &values : runs)
    check(values, /*mayBeRefused=*/false);
  if (nothing)
    check(*nothing, /*mayBeRefused=*/true);
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTRUNS_H
