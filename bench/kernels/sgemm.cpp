//===- sgemm.cpp - Matrix products against OpenBLAS -----------------------===//
//
// C = A * B in float, row-major: [m, k] times [k, n]. B is constant: glowish
// packs it when it compiles; OpenBLAS packs both as it computes.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Report.h"
#include "glowish/Graph/Nodes.h"
#include <cblas.h>

using namespace glowish;
using namespace glowish::bench;

namespace {

struct Shape {
  int64_t m, n, k;
};

/// A GEMM in both programs.
struct Gemm {
  Gemm(CPUBackend &backend, Shape s)
      : shape(s), a(makeRandom({s.m, s.k}, 1)), b(makeRandom({s.k, s.n}, 2)),
        c(s.m * s.n),
        kernel(backend, a, [&](Module &module, Function &f, NodeValue x) {
          return f
              .create<MatMulNode>(
                  "matmul", x, NodeValue(module.createConstant("b", b.clone())))
              ->getResult();
        }) {}

  void runOther() {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, shape.m, shape.n,
                shape.k, 1, a.data<float>().data(), shape.k,
                b.data<float>().data(), shape.n, 0, c.data(), shape.n);
  }

  Shape shape;
  Tensor a, b;
  std::vector<float> c;
  Kernel kernel;
};

} // namespace

static constexpr Shape shapes[] = {
    {1024, 1024, 1024}, {512, 512, 512}, {128, 768, 768}, {128, 3072, 768},
    {128, 768, 3072},   {49, 512, 4608}, {1, 1000, 2048},
};

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  std::vector<Case> cases;
  for (const Shape &shape : shapes) {
    auto gemm = std::make_shared<Gemm>(*backend, shape);
    std::string name = llvm::formatv("{0}x{1}x{2}", shape.m, shape.n, shape.k);
    gemm->kernel.run();
    gemm->runOther();
    if (!isClose(gemm->kernel.getResult(), gemm->c))
      return reportError(makeError("{0}: glowish differs from OpenBLAS", name));
    cases.push_back({name, 2.0 * shape.m * shape.n * shape.k, /*count=*/1,
                     gemm->kernel.getInstrKind().str(),
                     [gemm] { gemm->kernel.run(); },
                     [gemm] { gemm->runOther(); }});
  }
  llvm::outs() << "C = A * B as m x n x k, B constant; times in ms\n\n";
  return measureAndReport(*backend, "OpenBLAS", std::move(cases));
}
