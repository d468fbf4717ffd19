//===- ProgramCacheFixture.h - A model and a cache --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_PROGRAMCACHEFIXTURE_H
#define GLOWISH_TESTS_UNIT_PROGRAMCACHEFIXTURE_H

#include "ProgramKey.h"
#include "TestFolder.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/ProgramCache.h"
#include "glowish/Driver/Session.h"

namespace glowish {

/// y = x * factors + total, total = the sum of x over N; -state keeps the
/// total. factors: ramp, a constant of 3 floats.
inline constexpr llvm::StringLiteral programCacheModel = R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  initializer { dims: 3 data_type: 1 name: "ramp"
                float_data: 1 float_data: 2 float_data: 3 }
  node { op_type: "Mul" input: "x" input: "ramp" output: "scaled" name: "mul" }
  node { op_type: "Add" input: "scaled" input: "total" output: "y" }
  node { op_type: "ReduceSum" input: "x" output: "sum" name: "sum"
         attribute { name: "keepdims" type: INT i: 0 }
         attribute { name: "nonsense" type: INT i: 0 } }
  node { op_type: "Add" input: "sum" input: "total" output: "next" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "N" } dim { dim_value: 3 } } } } }
  input { name: "total" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  output { name: "next" type { tensor_type { elem_type: 1 } } }
})";

/// Without LLVM's optimizer.
inline TargetOptions getQuickTarget() {
  TargetOptions target;
  target.testing.compilesQuickly = true;
  return target;
}

/// Gives a test a model, and a cache in the folder.
class ProgramCacheTest : public TestFolder {
protected:
  void SetUp() override {
    TestFolder::SetUp();
    put("model.onnxtxt", programCacheModel);
    backend = llvm::cantFail(CPUBackend::createLocal(getQuickTarget()));
    importOptions.states.push_back({"total", "next"});
    cache = openCache();
  }
  std::unique_ptr<ProgramCache> openCache(uint64_t maxBytes = 1 << 30,
                                          llvm::StringRef name = "cache") {
    return llvm::cantFail(
        ProgramCache::open({in(name), maxBytes, [this](llvm::StringRef line) {
                              warnings.push_back(line.str());
                            }}));
  }
  /// The model for x with \p count rows.
  ModelRequest getRequest(int64_t count = 2) {
    ModelRequest request{*backend, in("model.onnxtxt"), importOptions, {}};
    request.importOptions.givenTypes.insert_or_assign(
        "x", Type(ElemKind::Float, {count, 3}));
    return request;
  }
  KeyHasher::Digest getKey(const ModelRequest &request) {
    return findKey(request).value();
  }
  /// None of a request whose programs are not kept.
  std::optional<KeyHasher::Digest> findKey(const ModelRequest &request) {
    return computeProgramKey(request, *request.backend.createCodeSerializer());
  }
  std::string getFileName(const ModelRequest &request) {
    return llvm::toHex(getKey(request), /*LowerCase=*/true) +
           ".glowish-program";
  }
  /// The names of the files with programs.
  std::vector<std::string> listPrograms() {
    std::vector<std::string> names = list(in("cache"));
    llvm::erase_if(names, [](const std::string &name) {
      return !llvm::StringRef(name).ends_with(".glowish-program");
    });
    return names;
  }
  /// A path of the only file with programs.
  std::string getOnlyFile() {
    std::vector<std::string> names = listPrograms();
    EXPECT_EQ(names.size(), 1u);
    return names.empty() ? "" : "cache/" + names[0];
  }
  /// y of a new session of \p program, for x = 1, 2, 3, ...
  static std::vector<float> run(const RunnableProgram &program, int64_t count) {
    std::unique_ptr<Session> session = llvm::cantFail(Session::create(program));
    return run(*session, count);
  }
  static std::vector<float> run(Session &session, int64_t count) {
    Tensor x = makeInput(count);
    const Buffer *input = llvm::cantFail(session.findPlaceholder("x"));
    llvm::cantFail(session.setInput(input, x));
    llvm::cantFail(session.run());
    Tensor y = session.getOutput(llvm::cantFail(session.findPlaceholder("y")));
    return y.data<float>().vec();
  }
  static Tensor makeInput(int64_t count) {
    Tensor x(Type(ElemKind::Float, {count, 3}));
    for (int64_t i = 0; i < 3 * count; ++i)
      x.data<float>()[size_t(i)] = float(i + 1);
    return x;
  }

  std::unique_ptr<CPUBackend> backend;
  ImportOptions importOptions;
  std::unique_ptr<ProgramCache> cache;
  std::vector<std::string> warnings;
};

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_PROGRAMCACHEFIXTURE_H
