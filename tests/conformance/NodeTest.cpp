//===- NodeTest.cpp - One test of ONNX's own ------------------------------===//

#include "NodeTest.h"
#include "Tolerances.h"
#include "UlpError.h"
#include "common/Foreign/OnnxRuntime.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Driver/RunnableProgram.h"
#include "glowish/Driver/Session.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Importer/OnnxModel.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <onnx/onnx_pb.h>

using namespace glowish;

//===- Importing ----------------------------------------------------------===//

/// Which inputs are constants; later ones have those of the earlier.
enum class Binding { None, Small, AllOfRankOne };

static bool isBound(const Type &type, Binding binding) {
  if (binding == Binding::None || type.getRank() > 1)
    return false;
  return binding == Binding::AllOfRankOne || type.getRank() == 0 ||
         !isFloatKind(type.getKind());
}

/// The names of the inputs that \p isConstant chooses.
static std::set<std::string>
chooseInputs(const TestData &data,
             llvm::function_ref<bool(const NamedTensor &)> isConstant) {
  std::set<std::string> names;
  for (const NamedTensor &input : data.inputs)
    if (isConstant(input))
      names.insert(input.name);
  return names;
}

ImportOptions
glowish::makeImportOptions(const TestData &data,
                           const std::set<std::string> &constants) {
  ImportOptions options;
  for (const NamedTensor &input : data.inputs) {
    if (constants.count(input.name))
      options.constantInputs[input.name] = input.tensor;
    else
      options.inputTypes[input.name] = input.tensor->getType();
  }
  return options;
}

namespace {

/// A program, and the inputs that are constants in it.
struct CompiledTest {
  PlannedProgram program;
  std::set<std::string> constants;
};

} // namespace

/// Imports the model as its file has it, or with tensors in the place of
/// inputs that are sequences or optionals.
static llvm::Expected<ModelGraph> import(Compilation &compilation,
                                         const NodeTest &test,
                                         const TestData &data,
                                         const ImportOptions &options) {
  if (data.containers.empty())
    return compilation.import(test.model, options);
  GLOWISH_ASSIGN_OR_RETURN(onnx::ModelProto proto, readModelProto(test.model));
  replaceContainers(proto, data.containers);
  GLOWISH_ASSIGN_OR_RETURN(
      OnnxModel model,
      OnnxModel::parse(proto.SerializeAsString(), test.model, ""));
  return compilation.import(model, options, /*isLast=*/true);
}

llvm::Expected<ImportedTest> glowish::importForData(Compilation &compilation,
                                                    const NodeTest &test,
                                                    const TestData &data) {
  std::set<std::string> constants;
  llvm::Error problem = llvm::Error::success();
  for (Binding binding :
       {Binding::None, Binding::Small, Binding::AllOfRankOne}) {
    std::set<std::string> next =
        chooseInputs(data, [&](const NamedTensor &input) {
          return llvm::is_contained(test.constantInputs, input.name) ||
                 isBound(input.tensor->getType(), binding);
        });
    if (binding != Binding::None && next.size() == constants.size())
      continue;
    constants = std::move(next);
    llvm::Expected<ModelGraph> graph =
        import(compilation, test, data, makeImportOptions(data, constants));
    llvm::consumeError(std::move(problem));
    if (graph)
      return ImportedTest{std::move(*graph), std::move(constants)};
    problem = graph.takeError();
  }
  return std::move(problem);
}

//===- The first dimension as a symbol ------------------------------------===//

/// The inputs whose first dimension runs decide, and its least value.
struct OpenInputs {
  std::set<std::string> names;
  int64_t least;
};

/// Returns what is tried in turn: all inputs with the first dimension of the
/// first one, and then each alone.
static std::vector<OpenInputs>
listOpenInputs(const TestData &data, const std::set<std::string> &constants) {
  std::vector<const NamedTensor *> inputs;
  for (const NamedTensor &input : data.inputs)
    if (input.tensor->getType().getRank() > 0 && !constants.count(input.name))
      inputs.push_back(&input);
  std::vector<std::set<std::string>> groups(1);
  for (const NamedTensor *input : inputs)
    if (input->tensor->getType().getDim(0) ==
        inputs.front()->tensor->getType().getDim(0))
      groups.front().insert(input->name);
  if (inputs.size() > 1)
    for (const NamedTensor *input : inputs)
      groups.push_back({input->name});
  std::vector<OpenInputs> all;
  for (const std::set<std::string> &names : groups)
    for (int64_t least : {0, 1})
      if (!names.empty())
        all.push_back({names, least});
  return all;
}

/// The first dimension of \p open is a symbol, whose largest value is more than
/// that of the data: what is beyond it is there, and must not be seen.
static ImportOptions makeOpenOptions(const TestData &data,
                                     const std::set<std::string> &constants,
                                     const OpenInputs &open) {
  constexpr llvm::StringLiteral symbol = "first";
  ImportOptions options = makeImportOptions(data, constants);
  for (const std::string &name : open.names) {
    Type &type = options.inputTypes.at(name);
    int64_t extent = type.getDim(0);
    Dims shape(type.getShape());
    ++shape.front();
    std::vector<std::optional<Extent>> extents(shape.size());
    extents.front() = Extent::parse(symbol);
    type = type.withShape(shape).withExtents(extents);
    options.typeSymbols.insert(symbol.str());
    options.symbolRanges[symbol.str()] = {std::min(open.least, extent),
                                          extent + 1};
  }
  return options;
}

static llvm::Expected<PlannedProgram>
importAndCompile(Backend &backend, const NodeTest &test, const TestData &data,
                 const ImportOptions &options) {
  Compilation compilation(backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           import(compilation, test, data, options));
  return compilation.compile(std::move(graph));
}

/// Compiles the test's model for a range of its first dimension. The error
/// begins with "refused: " where all that is tried is refused.
static llvm::Expected<CompiledTest>
compileOpen(Backend &backend, const NodeTest &test, const TestData &data) {
  Compilation ofData(backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(ImportedTest imported,
                           importForData(ofData, test, data));
  std::string refusal = "no input has dimensions and is no constant";
  std::vector<OpenInputs> all = listOpenInputs(data, imported.constants);
  for (const OpenInputs &open : all) {
    llvm::Expected<PlannedProgram> program = importAndCompile(
        backend, test, data, makeOpenOptions(data, imported.constants, open));
    if (program)
      return CompiledTest{std::move(*program), std::move(imported.constants)};
    std::string message = llvm::toString(program.takeError());
    // The others are tried for what the model takes, not for what it says.
    if (open.names == all.front().names)
      refusal = std::move(message);
  }
  return makeError("refused: {0}", refusal);
}

//===- Comparing ----------------------------------------------------------===//

/// So that numbers that differ look different.
static std::string format(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

static llvm::Error checkOutput(llvm::StringRef name, const Tensor &actual,
                               const Tensor &expected,
                               const RandomOutputs &random) {
  if (actual.getType() != expected.getType())
    return makeError("output '{0}' is {1}, not {2}", name,
                     actual.getType().str(), expected.getType().str());
  if (random.contains(name))
    return random.check(name, actual);
  Tolerance tolerance = getTolerance(expected.getType().getKind());
  Comparison result =
      compareTensors(actual, expected, tolerance.relative, tolerance.absolute);
  if (!result.numMismatches)
    return llvm::Error::success();
  int64_t at = result.worstMismatchIndex;
  return makeError("output '{0}' differs in {1} of {2} elements, most by {3} "
                   "at {4}: {5}, not {6}",
                   name, result.numMismatches, expected.getNumElements(),
                   format(result.worstMismatch), at,
                   format(actual.getAsDouble(at)),
                   format(expected.getAsDouble(at)));
}

llvm::Expected<double> glowish::checkOutputs(const TestData &data,
                                             llvm::ArrayRef<Tensor> outputs) {
  double ulps = 0;
  for (auto [expected, actual] : llvm::zip_equal(data.outputs, outputs)) {
    GLOWISH_RETURN_IF_ERROR(
        checkOutput(expected.name, actual, *expected.tensor, data.random));
    if (!data.random.contains(expected.name))
      ulps = std::max(ulps, measureUlps(actual, *expected.tensor));
  }
  return ulps;
}

//===- What is reported ---------------------------------------------------===//

void PassedTest::add(const PassedTest &other) {
  constants.insert(other.constants.begin(), other.constants.end());
  ulps = std::max(ulps, other.ulps);
}

std::string PassedTest::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.17g", ulps);
  for (const std::string &name : constants)
    os << "\n" << name;
  return text;
}

PassedTest PassedTest::parse(llvm::StringRef text) {
  PassedTest result;
  auto [first, names] = text.split('\n');
  first.getAsDouble(result.ulps);
  for (llvm::StringRef name : llvm::split(names, '\n'))
    if (!name.empty())
      result.constants.insert(name.str());
  return result;
}

//===- Running ------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Backend>>
glowish::createTestBackend(llvm::StringRef name) {
  if (name == "Interpreter")
    return createInterpreter();
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(TargetOptions()));
  return backend;
}

/// Sets the inputs that are no \p constants.
static llvm::Error setInputs(Session &session, const TestData &data,
                             const std::set<std::string> &constants) {
  for (const NamedTensor &input : data.inputs) {
    if (constants.count(input.name))
      continue;
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(input.name));
    GLOWISH_RETURN_IF_ERROR(session.setInput(buffer, *input.tensor));
  }
  return llvm::Error::success();
}

/// A session whose program runs on another machine.
static llvm::Expected<std::unique_ptr<Session>>
createSession(const PlannedProgram &program, const ForeignTarget &foreign) {
  const IRFunction &function = program.getIR();
  const MemoryPlan &plan = program.getPlan();
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<Executable> executable,
      foreign.compile(program.getBackend(), function, plan));
  auto keep = [](const auto *) {};
  return Session::create(RunnableProgram{
      {&function, keep},
      {&plan, keep},
      std::move(executable),
      std::make_shared<const Tensor>(makeConstantRegion(function, plan))});
}

/// Runs \p test on the inputs that are no constants, and returns the outputs.
static llvm::Expected<std::vector<Tensor>>
runCompiled(const CompiledTest &test, const TestData &data,
            const ForeignTarget *foreign) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           foreign ? createSession(test.program, *foreign)
                                   : Session::create(test.program));
  GLOWISH_RETURN_IF_ERROR(setInputs(*session, data, test.constants));
  GLOWISH_RETURN_IF_ERROR(session->run());
  // More elements of a sequence than are expected would not be compared.
  if (session->getOutputs().size() != data.outputs.size())
    return makeError("the model has {0} outputs, not {1}",
                     session->getOutputs().size(), data.outputs.size());
  std::vector<Tensor> outputs;
  for (const NamedTensor &output : data.outputs) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session->findPlaceholder(output.name));
    outputs.push_back(session->getOutput(buffer).clone());
  }
  return outputs;
}

llvm::Expected<std::vector<Tensor>>
glowish::compileAndRun(Compilation &compilation, ImportedTest test,
                       const TestData &data, const ForeignTarget *foreign) {
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(std::move(test.graph)));
  return runCompiled({std::move(program), std::move(test.constants)}, data,
                     foreign);
}

static llvm::Error keep(llvm::StringRef bytes, const std::string &path) {
  GLOWISH_RETURN_IF_ERROR(
      createDirectories(llvm::sys::path::parent_path(path)));
  return writeFile(path, bytes);
}

/// Imports the model, writes it as ONNX, and imports what was written. \p path:
/// where it is left; empty for nowhere.
static llvm::Expected<ImportedTest>
importWritten(Compilation &compilation, const NodeTest &test,
              const TestData &data, bool isOptimized, const std::string &path) {
  Compilation first(compilation.getBackend(), CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(ImportedTest imported,
                           importForData(first, test, data));
  if (isOptimized) {
    GLOWISH_ASSIGN_OR_RETURN(imported.graph,
                             first.optimize(std::move(imported.graph)));
  }
  llvm::Expected<std::string> bytes = writeOnnx(imported.graph.getModule());
  if (!bytes)
    return addContext(bytes.takeError(), "not written: ");
  if (!path.empty())
    GLOWISH_RETURN_IF_ERROR(keep(*bytes, path));
  GLOWISH_ASSIGN_OR_RETURN(OnnxModel model,
                           OnnxModel::parse(*bytes, "written", ""));
  GLOWISH_ASSIGN_OR_RETURN(
      imported.graph,
      compilation.import(model, ImportOptions(), /*isLast=*/true));
  return imported;
}

static llvm::Expected<std::unique_ptr<Backend>>
createBackend(llvm::StringRef name, const ForeignTarget *foreign) {
  if (!foreign)
    return createTestBackend(name.starts_with("Written") ? "Interpreter"
                                                         : name);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(foreign->getOptions()));
  return backend;
}

/// Runs the model itself in ONNX Runtime.
static llvm::Expected<PassedTest> runInOnnxRuntime(const NodeTest &test) {
  PassedTest all;
  for (unsigned i = 0; i < test.dataPrefixes.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(TestData data, readTestData(test, i));
    if (!data.containers.empty())
      return makeError(
          "sequences and optionals are not passed to ONNX Runtime");
    OnnxRuntimeRun run;
    run.model = test.model;
    for (const NamedTensor &input : data.inputs)
      run.inputs.emplace_back(input.name, input.tensor.get());
    for (const NamedTensor &output : data.outputs)
      run.outputs.push_back(output.name);
    GLOWISH_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, runOnnxRuntime(run));
    GLOWISH_ASSIGN_OR_RETURN(double ulps, checkOutputs(data, outputs));
    all.add({{}, ulps});
  }
  return all;
}

llvm::Expected<PassedTest> glowish::runNodeTest(const NodeTest &test,
                                                llvm::StringRef backendName,
                                                llvm::StringRef written,
                                                const ForeignTarget *foreign) {
  if (backendName == "OnnxRuntime")
    return runInOnnxRuntime(test);
  PassedTest all;
  bool isOpen = backendName.consume_front("Open");
  bool isWritten = backendName.starts_with("Written");
  for (unsigned i = 0; i < test.dataPrefixes.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(TestData data, readTestData(test, i));
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                             createBackend(backendName, foreign));
    if (isOpen) {
      GLOWISH_ASSIGN_OR_RETURN(CompiledTest compiled,
                               compileOpen(*backend, test, data));
      GLOWISH_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                               runCompiled(compiled, data, nullptr));
      GLOWISH_ASSIGN_OR_RETURN(double ulps, checkOutputs(data, outputs));
      all.add({std::move(compiled.constants), ulps});
      continue;
    }
    std::set<std::string> constants;
    PassCheck check(
        [&](Session &session) { return setInputs(session, data, constants); });
    CompilationOptions options;
    if (backendName == "CheckPasses")
      options.passCheck = &check;
    Compilation compilation(*backend, options);
    std::string path;
    if (i == 0 && !written.empty())
      path = (written + "/" + backendName + "/" + test.name + ".onnx").str();
    GLOWISH_ASSIGN_OR_RETURN(
        ImportedTest imported,
        isWritten ? importWritten(compilation, test, data,
                                  backendName == "WrittenOptimized", path)
                  : importForData(compilation, test, data));
    constants = imported.constants;
    GLOWISH_ASSIGN_OR_RETURN(
        std::vector<Tensor> outputs,
        compileAndRun(compilation, std::move(imported), data, foreign));
    GLOWISH_ASSIGN_OR_RETURN(double ulps, checkOutputs(data, outputs));
    all.add({std::move(constants), ulps});
  }
  return all;
}
