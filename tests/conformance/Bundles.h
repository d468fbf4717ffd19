//===- Bundles.h - ONNX's own tests as linked bundles -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_BUNDLES_H
#define GLOWISH_TESTS_CONFORMANCE_BUNDLES_H

#include "Suite.h"
#include "common/Workers.h"

namespace glowish {

/// Compiles each set of data of each test to a bundle, with the code of
/// model-compiler, links them to C programs (tests/e2e/run_bundle.c), many to
/// one, runs them, each in a process of its own, and compares. \p done gets the
/// index of a test and what became of it; the text of one that passed is
/// PassedTest::str(). \p options.seconds are for compiling one, and for running
/// it; \p options.jobsPerProcess, the tests that a process compiles.
llvm::Error runBundleTests(llvm::ArrayRef<NodeTest> tests,
                           const JobOptions &options,
                           std::function<void(uint64_t, JobResult)> done);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_BUNDLES_H
