//===- ProgramKeyTest.cpp - All that programs are made from ---------------===//

#include "ProgramCacheFixture.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Support/BuildIdentity.h"
#include <gmock/gmock.h>

using namespace glowish;

namespace {

/// float<2xEXTENT>
Type makeOpen(llvm::StringRef extent) {
  return Type(ElemKind::Float, {2, 3})
      .withExtents({std::nullopt, Extent::parse(extent)});
}

using ProgramKeyTest = ProgramCacheTest;

using Change = std::function<void(ModelRequest &)>;

/// Options of the import, each of which may make another program.
std::vector<std::pair<std::string, Change>> getImportChanges() {
#define CHANGE(STATEMENT)                                                      \
  {#STATEMENT, [](ModelRequest &request) {                                     \
     ImportOptions &in = request.importOptions;                                \
     in.STATEMENT;                                                             \
   }}
#define TFLITE(STATEMENT)                                                      \
  {#STATEMENT, [](ModelRequest &request) {                                     \
     auto options = std::make_shared<TFLiteOptions>();                         \
     options->STATEMENT;                                                       \
     request.importOptions.ofFormat = options;                                 \
   }}
  auto one = std::make_shared<const Tensor>(Type(ElemKind::Float, {}));
  auto two = std::make_shared<const Tensor>(
      Tensor::fromValues<float>(Type(ElemKind::Float, {}), {2}));
  return {
      CHANGE(symbols["N"] = 2),
      CHANGE(symbols["N"] = 3),
      CHANGE(symbols["M"] = 2),
      CHANGE(method = "encode"),
      CHANGE(symbolRanges["N"] = IntRange({1, 2})),
      CHANGE(symbolRanges["N"] = IntRange({1, 3})),
      CHANGE(symbolRanges["N"] = IntRange({0, 2})),
      CHANGE(states.clear()),
      CHANGE(states.push_back({"a", "bc"})),
      CHANGE(states.push_back({"ab", "c"})),
      CHANGE(inputTypes["x"] = Type(ElemKind::Float, {2, 3})),
      CHANGE(inputTypes["x"] = Type(ElemKind::Float, {2, 3, 1})),
      CHANGE(inputTypes["x"] = Type(ElemKind::Int32, {2, 3})),
      CHANGE(inputTypes["x"] = makeOpen("N")),
      CHANGE(inputTypes["x"] = makeOpen("M")),
      CHANGE(inputTypes["x"] = makeOpen("N + 1")),
      CHANGE(inputTypes["x"] = Type(ElemKind::Int8Q, {3}, {{0.5f}, {1}})),
      CHANGE(inputTypes["x"] = Type(ElemKind::Int8Q, {3}, {{0.5f}, {2}})),
      CHANGE(inputTypes["x"] = Type(ElemKind::Int8Q, {3}, {{1.5f}, {1}})),
      CHANGE(inputTypes["x"] = Type(ElemKind::Int8Q, {1}, {{0.5f}, {1}, 0})),
      CHANGE(fusedInputs["x"] = &getFusedRows()[0]),
      CHANGE(fusedInputs["x"] = &getFusedRows()[1]),
      {"zero",
       [=](ModelRequest &r) { r.importOptions.constantInputs["total"] = one; }},
      {"two",
       [=](ModelRequest &r) { r.importOptions.constantInputs["total"] = two; }},
      CHANGE(maxTripCount = 7),
      CHANGE(maxExtents["y"] = 7),
      CHANGE(givenTypes.clear()),
      CHANGE(givenTypes["x"] = Type(ElemKind::Float, {5, 3})),
      CHANGE(givenTypesInOrder.push_back(Type(ElemKind::Float, {5, 3}))),
      TFLITE(hasFloatInputs = true),
      TFLITE(hasFloatOutputs = true),
      TFLITE(turnsUInt8ToInt8 = true),
      TFLITE(renamesTensors = true),
      TFLITE(hasFloatSoftmax = true),
      TFLITE(biasScaleTolerance = 0.5),
      TFLITE(refusesBiasScales = false),
      CHANGE(isStrict = true),
  };
#undef TFLITE
#undef CHANGE
}

void addSymbol(ModelRequest &request, std::vector<int64_t> values,
               std::optional<IntRange> range = {}) {
  request.symbols.push_back({"N", std::move(values), range});
}

RangeProfile makeProfile(llvm::StringRef model, uint64_t checksum = 0,
                         std::set<std::string> floatNodes = {}) {
  RangeProfile profile;
  profile.model = model.str();
  profile.checksum = checksum;
  profile.floatNodes = std::move(floatNodes);
  return profile;
}

/// The same of the compilation.
std::vector<std::pair<std::string, Change>> getCompilationChanges() {
#define CHANGE(STATEMENT)                                                      \
  {#STATEMENT, [](ModelRequest &request) {                                     \
     CompilationOptions &with = request.options;                               \
     with.STATEMENT;                                                           \
   }}
#define QUANTIZE(STATEMENT)                                                    \
  {#STATEMENT, [](ModelRequest &request) {                                     \
     auto options = std::make_shared<QuantizationOptions>();                   \
     options->STATEMENT;                                                       \
     request.options.quantization = options;                                   \
   }}
  return {
      CHANGE(function = "main"),
      CHANGE(graphPasses.limit = 3),
      CHANGE(irPasses.limit = 3),
      CHANGE(maxMergedElements = 3),
      CHANGE(schedule = ScheduleStrategy::PostOrder),
      CHANGE(rematerialization.cheapNodes = true),
      CHANGE(rematerialization.numSegments = 2),
      CHANGE(maxActivationBytes = 1 << 20),
      CHANGE(reusesActivations = false),
      CHANGE(placesIOInArena = true),
      CHANGE(arenaRegions.push_back({"fast", 1024})),
      CHANGE(arenaRegions.push_back({"fast", 2048})),
      CHANGE(arenaRegions.push_back({"slow", 1024})),
      CHANGE(precision = PrecisionConfig()),
      CHANGE(precision = PrecisionConfig({ElemKind::BFloat16})),
      CHANGE(precision = PrecisionConfig({ElemKind::Float16, true})),
      CHANGE(precision =
                 PrecisionConfig({ElemKind::Float16, false, {NodeKind::Add}})),
      CHANGE(quantizesActivations = true),
      QUANTIZE(isDynamic = false),
      QUANTIZE(isDynamic = true),
      QUANTIZE(weights = WeightQuantization()),
      QUANTIZE(weights = WeightQuantization({ElemKind::UInt8})),
      QUANTIZE(weights = WeightQuantization({ElemKind::Int8, 32})),
      QUANTIZE(weights = WeightQuantization({ElemKind::Int8, 0, false})),
      QUANTIZE(embeddings = WeightQuantization()),
      QUANTIZE(config.schema = QuantizationSchema::Symmetric),
      QUANTIZE(config.calibration = QuantizationCalibration::KL),
      QUANTIZE(config.calibratesConstants = true),
      QUANTIZE(config.isChannelwise = false),
      QUANTIZE(config.isRowwise = false),
      QUANTIZE(config.equalizesChannels = true),
      QUANTIZE(config.correctsBiases = true),
      QUANTIZE(config.keptKinds = {NodeKind::MatMul}),
      QUANTIZE(config.needsQuantizedOperand = false),
      QUANTIZE(config.assertsAll = true),
      QUANTIZE(profile = RangeProfile()),
      QUANTIZE(profile = makeProfile("model")),
      QUANTIZE(profile = makeProfile("model", 1)),
      QUANTIZE(profile = makeProfile("", 0, {"node"})),
      {"symbols", [](ModelRequest &r) { addSymbol(r, {1, 2}); }},
      {"others", [](ModelRequest &r) { addSymbol(r, {1, 3}); }},
      {"range", [](ModelRequest &r) { addSymbol(r, {1}, IntRange{1, 2}); }},
  };
#undef CHANGE
#undef QUANTIZE
}

TEST_F(ProgramKeyTest, OptionsAreInTheKey) {
  std::map<KeyHasher::Digest, std::string> known = {
      {getKey(getRequest()), "nothing"}};
  for (const auto &changes : {getImportChanges(), getCompilationChanges()})
    for (const auto &[name, change] : changes) {
      ModelRequest request = getRequest();
      change(request);
      auto [place, isNew] = known.insert({getKey(request), name});
      EXPECT_TRUE(isNew) << name << " has the key of " << place->second;
      ModelRequest again = getRequest();
      change(again);
      EXPECT_EQ(getKey(again), place->first) << name;
    }
}

/// What a target is made of: other code, other keys.
TEST_F(ProgramKeyTest, TargetsAreInTheKey) {
  std::map<KeyHasher::Digest, std::string> known;
  auto add = [&](llvm::StringRef name, auto change) {
    TargetOptions target = getQuickTarget();
    change(target);
    std::unique_ptr<CPUBackend> own =
        llvm::cantFail(CPUBackend::create(target));
    ModelRequest request{*own, in("model.onnxtxt"), importOptions, {}};
    std::optional<KeyHasher::Digest> key = findKey(request);
    ASSERT_TRUE(key) << name.str();
    auto [place, isNew] = known.insert({*key, name.str()});
    EXPECT_TRUE(isNew) << name.str() << " has the key of " << place->second;
  };
  using Options = TargetOptions;
  add("the host", [](Options &) {});
  add("LLVM's optimizer",
      [](Options &o) { o.testing.compilesQuickly = false; });
  add("tasks of small kernels",
      [](Options &o) { o.testing.dividesSmallKernels = true; });
  add("a rank", [](Options &o) { o.testing.choiceRank = 1; });
  add("a triple", [](Options &o) { o.triple = "x86_64-unknown-linux-gnu"; });
  add("aarch64", [](Options &o) { o.triple = "aarch64-linux-gnu"; });
  add("an architecture", [](Options &o) { o.architecture = "aarch64"; });
  for (const char *cpu : {"x86-64", "x86-64-v3", "x86-64,x86-64-v3"})
    add(cpu, [&](Options &o) {
      o.triple = "x86_64-linux-gnu";
      o.cpu = cpu;
    });
  add("a level", [](Options &o) {
    o.triple = "x86_64-linux-gnu";
    o.cpu = "x86-64,x86-64-v3";
    o.testing.onlyLevel = "x86-64-v3";
  });
  add("an attribute", [](Options &o) {
    o.triple = "x86_64-linux-gnu";
    o.cpu = "x86-64";
    o.attributes = {"+avx2"};
  });
  add("an ABI", [](Options &o) {
    o.triple = "riscv64-linux-gnu";
    o.abi = "lp64d";
  });
  add("hard floats", [](Options &o) {
    o.triple = "armv7-linux-gnueabi";
    o.floatABI = llvm::FloatABI::Hard;
  });
  add("soft floats", [](Options &o) {
    o.triple = "armv7-linux-gnueabi";
    o.floatABI = llvm::FloatABI::Soft;
  });
  add("static code",
      [](Options &o) { o.relocationModel = llvm::Reloc::Static; });
  add("a code model", [](Options &o) { o.codeModel = llvm::CodeModel::Large; });
  add("2 threads", [](Options &o) { o.numThreads = 2; });
  add("3 threads", [](Options &o) { o.numThreads = 3; });
  add("no Winograd", [](Options &o) { o.winograd = WinogradLimit::None; });
  add("Winograd F2", [](Options &o) { o.winograd = WinogradLimit::F2; });
  add("weights packed once", [](Options &o) { o.packsWeightsOnce = true; });
  add("reproducible", [](Options &o) { o.isReproducible = true; });
  put("tuning", "glowish-tuning 1\n");
  add("tuned", [&](Options &o) { o.tuningFile = in("tuning"); });
}

/// Where compiling does more than to make programs, it is done.
TEST_F(ProgramKeyTest, SideEffectsHaveNoKey) {
  PassOptions::Selection some;
  some.names = {"dce"};
  std::vector<Change> changes = {
      [](ModelRequest &r) { r.options.dumpGraph = true; },
      [](ModelRequest &r) { r.options.dumpIR = true; },
      [](ModelRequest &r) { r.options.dotFile = "a.dot"; },
      [](ModelRequest &r) { r.options.importedDotFile = "a.dot"; },
      [](ModelRequest &r) { r.options.printAfterAll = true; },
      [](ModelRequest &r) { r.options.verifyEach = true; },
      [](ModelRequest &r) { r.options.stopAfter = Phase::Plan; },
      [](ModelRequest &r) { r.options.graphPasses.printNames = true; },
      [](ModelRequest &r) { r.options.graphPasses.printBefore.all = true; },
      [=](ModelRequest &r) { r.options.graphPasses.printAfter = some; },
      [=](ModelRequest &r) { r.options.irPasses.verifyBefore = some; },
      [=](ModelRequest &r) { r.options.irPasses.verifyAfter = some; },
  };
  VariableValues variables;
  changes.push_back(
      [&](ModelRequest &r) { r.importOptions.variables = &variables; });
  for (auto [i, change] : llvm::enumerate(changes)) {
    ModelRequest request = getRequest();
    change(request);
    EXPECT_FALSE(findKey(request)) << i;
  }
  TargetOptions target = getQuickTarget();
  target.dumpsLLVM = true;
  auto printing = llvm::cantFail(CPUBackend::create(target));
  ModelRequest request{*printing, in("model.onnxtxt"), importOptions, {}};
  EXPECT_FALSE(findKey(request));
}

/// The bytes of the model count, and nothing else of it.
TEST_F(ProgramKeyTest, ModelsAreInTheKey) {
  KeyHasher::Digest key = getKey(getRequest());
  put("copy.onnxtxt", programCacheModel);
  ModelRequest copy = getRequest();
  copy.path = in("copy.onnxtxt");
  EXPECT_EQ(getKey(copy), key);
  std::string other = programCacheModel.str();
  other[other.find("float_data: 3") + 12] = '4';
  put("copy.onnxtxt", other);
  EXPECT_NE(getKey(copy), key);
  ModelRequest missing = getRequest();
  missing.path = in("none.onnx");
  EXPECT_FALSE(findKey(missing));
}

/// A model with its weights beside it: those of a body, too.
TEST_F(ProgramKeyTest, ExternalDataAreInTheKey) {
  constexpr llvm::StringLiteral text = R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  initializer { dims: 1 data_type: 1 name: "w" data_location: EXTERNAL
                external_data { key: "location" value: "w.bin" } }
  node { op_type: "Constant" output: "v" attribute { name: "value" type: TENSOR
         t { dims: 1 data_type: 1 data_location: EXTERNAL
             external_data { key: "location" value: "v.bin" } } } }
  node { op_type: "Add" input: "x" input: "w" output: "a" }
  node { op_type: "Add" input: "a" input: "v" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 1 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";
  put("external.onnxtxt", text);
  ModelRequest request{*backend, in("external.onnxtxt"), {}, {}};
  put("w.bin", "\1\0\0\0");
  EXPECT_FALSE(findKey(request));
  std::set<KeyHasher::Digest> keys;
  for (const char *w : {"wwww", "vvvv"})
    for (const char *v : {"wwww", "vvvv"}) {
      put("w.bin", w);
      put("v.bin", v);
      keys.insert(getKey(request));
    }
  EXPECT_EQ(keys.size(), 4u);
}

/// A Caffe2 model of two files, and a text form with its weights.
TEST_F(ProgramKeyTest, SecondFilesAreInTheKey) {
  std::set<KeyHasher::Digest> keys;
  put("net.pbtxt", "name: \"net\"");
  put("net.graph", "not read");
  for (const char *contents : {"name: \"a\"", "name: \"b\""}) {
    put("init.pbtxt", contents);
    ModelRequest caffe2{*backend, in("net.pbtxt"), {}, {}};
    caffe2.importOptions.secondFile = in("init.pbtxt");
    keys.insert(getKey(caffe2));
    put("net.graph.weights", contents);
    ModelRequest text{*backend, in("net.graph"), {}, {}};
    keys.insert(getKey(text));
  }
  EXPECT_EQ(keys.size(), 4u);
}

/// Nothing in a file depends on where and when it was made.
TEST_F(ProgramKeyTest, FilesAreDeterministic) {
  std::error_code code = llvm::sys::fs::create_directory(in("elsewhere"));
  ASSERT_FALSE(code);
  put("elsewhere/a.onnxtxt", programCacheModel);
  auto other = openCache(1 << 30, "other");
  ModelRequest request = getRequest();
  llvm::cantFail(makeRunnable(request, cache.get()));
  request.path = in("elsewhere/a.onnxtxt");
  llvm::cantFail(makeRunnable(request, other.get()));
  std::vector<std::string> names = list(in("cache"));
  ASSERT_EQ(names, list(in("other")));
  ASSERT_EQ(names.size(), 1u);
  std::string bytes = read("cache/" + names[0]);
  EXPECT_EQ(bytes, read("other/" + names[0]));
  EXPECT_EQ(bytes.find(folder.str().str()), std::string::npos);
}

TEST_F(ProgramKeyTest, BuildsAreInTheKey) {
  KeyHasher builds[2], nothing;
  for (KeyHasher &key : builds)
    addBuildIdentity(key);
  EXPECT_EQ(builds[0].finish(), builds[1].finish());
  EXPECT_NE(builds[0].finish(), nothing.finish());
}

} // namespace
