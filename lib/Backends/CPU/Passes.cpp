//===- Passes.cpp - The CPU back end's passes over the IR -----------------===//

#include "Passes.h"
#include "Selection/GroupStatistics.h"
#include "Selection/KernelSelection.h"
#include "Selection/NBitsKernels.h"
#include "Selection/Requantization.h"
#include "Selection/TwoStepReductions.h"
#include "glowish/Support/Error.h"

using namespace glowish;

/// Runs \p pass with the input of \p context; an error where another back end,
/// or none, runs it.
template <auto pass>
static llvm::Expected<bool> run(IRFunction &function,
                                const IRPassContext &context) {
  const auto *input = llvm::any_cast<CPUPassInput>(&context.backend);
  if (!input)
    return makeError("a pass of the back end CPU, which is not at work here");
  return pass(function, *input);
}

static bool runReductions(IRFunction &function, const CPUPassInput &) {
  return prepareReductions(function);
}
static bool runGroupNormalizations(IRFunction &function,
                                   const CPUPassInput &input) {
  return prepareGroupNormalizations(function, *input.target);
}
static bool runRequantizations(IRFunction &function,
                               const CPUPassInput &input) {
  return prepareRequantizations(function, *input.target);
}
static bool runNBitsKernels(IRFunction &function, const CPUPassInput &) {
  return prepareNBitsKernels(function);
}
template <SelectedOps selected>
static bool runSelection(IRFunction &function, const CPUPassInput &input) {
  return selectKernels(function, selected, *input.target, input.choose);
}

static const IRPassRegistration registrations[] = {
    IRPassRegistration({.name = "cpu-group-normalizations",
                        .exactness = Exactness::Rounding,
                        .doc = "Divide statistics of large images into tasks",
                        .run = run<runGroupNormalizations>}),
    IRPassRegistration({.name = "cpu-integer-kernels",
                        .exactness = Exactness::Exact,
                        .doc = "Choose kernels of bytes, and pack weights",
                        .run = run<runSelection<SelectedOps::Bytes>>}),
    IRPassRegistration({.name = "cpu-nbits-kernels",
                        .exactness = Exactness::Exact,
                        .doc = "Pack weights of few bits in blocks",
                        .run = run<runNBitsKernels>}),
    IRPassRegistration({.name = "cpu-reductions",
                        .exactness = Exactness::Rounding,
                        .doc = "Reduce large tensors in two steps",
                        .run = run<runReductions>}),
    IRPassRegistration({.name = "cpu-requantizations",
                        .exactness = Exactness::Rounding,
                        .doc = "Multiply sums by scales in integers",
                        .run = run<runRequantizations>}),
    IRPassRegistration({.name = "cpu-select-kernels",
                        .exactness = Exactness::Rounding,
                        .doc = "Choose kernels of convolutions and matmuls, "
                               "and pack weights",
                        .run = run<runSelection<SelectedOps::Others>>})};

const Pipeline &glowish::getCPUPipeline() {
  static const Pipeline pipeline = {
      {{"cpu-reductions", "cpu-group-normalizations", "cpu-integer-kernels",
        "cpu-requantizations", "cpu-nbits-kernels", "cpu-select-kernels"},
       /*toFixedPoint=*/false,
       /*required=*/
       {"cpu-integer-kernels", "cpu-nbits-kernels", "cpu-select-kernels"}}};
  return pipeline;
}
