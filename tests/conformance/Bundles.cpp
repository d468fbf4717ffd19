//===- Bundles.cpp - ONNX's own tests as linked bundles -------------------===//

#include "Bundles.h"
#include "NodeTest.h"
#include "common/Foreign/TemporaryFolder.h"
#include "common/SourceFolder.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace glowish;

namespace {

/// One bundle: a test with a set of data.
struct Unit {
  unsigned test;
  unsigned dataSet;
  /// Of the files and the functions.
  std::string name;
  /// The linked program; empty before.
  std::string program = "";
  /// Inputs that are constants in the bundle.
  std::set<std::string> constants = {};
  bool failed = false;
};

/// Runs many units. Phases follow each other for some hundred of them, so that
/// not all bundles of a suite are on the disk together.
class BundleRunner {
public:
  BundleRunner(llvm::ArrayRef<NodeTest> tests, const JobOptions &options,
               std::function<void(uint64_t, JobResult)> done,
               std::unique_ptr<TemporaryFolder> folder, std::string compiler)
      : tests(tests), options(options), done(std::move(done)),
        folder(std::move(folder)), compiler(std::move(compiler)) {}

  llvm::Error run();

private:
  llvm::Error runChunk(llvm::MutableArrayRef<Unit> units);
  llvm::Error compileAll(llvm::MutableArrayRef<Unit> units);
  llvm::Expected<std::string> compile(const Unit &unit) const;
  llvm::Error linkAll(llvm::ArrayRef<Unit *> units);
  llvm::Error link(llvm::ArrayRef<const Unit *> units,
                   llvm::StringRef program) const;
  llvm::Error runAll(llvm::ArrayRef<Unit *> units);
  llvm::Expected<double> run(const Unit &unit) const;
  llvm::Error runProgram(const Unit &unit, const TestData &data,
                         std::string &output) const;
  llvm::Error execute(llvm::ArrayRef<std::string> arguments,
                      const std::string &output) const;
  void fail(Unit &unit, JobResult result);

  llvm::ArrayRef<NodeTest> tests;
  const JobOptions &options;
  std::function<void(uint64_t, JobResult)> done;
  std::unique_ptr<TemporaryFolder> folder;
  std::string compiler;
};

} // namespace

void BundleRunner::fail(Unit &unit, JobResult result) {
  unit.failed = true;
  done(unit.test, std::move(result));
}

//===- Compiling ----------------------------------------------------------===//

/// Writes the bundle of \p unit; returns its constant inputs, one a line.
llvm::Expected<std::string> BundleRunner::compile(const Unit &unit) const {
  const NodeTest &test = tests[unit.test];
  GLOWISH_ASSIGN_OR_RETURN(TestData data, readTestData(test, unit.dataSet));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(TargetOptions()));
  Compilation compilation(*backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(ImportedTest imported,
                           importForData(compilation, test, data));
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(std::move(imported.graph)));
  BundleOptions bundle;
  bundle.folder = folder->getPath().str();
  bundle.networkName = bundle.entryName = unit.name;
  bundle.api = BundleApi::Dynamic;
  GLOWISH_RETURN_IF_ERROR(
      writeBundle(*backend, program.getIR(), program.getPlan(), bundle));
  return llvm::join(imported.constants, "\n");
}

llvm::Error BundleRunner::compileAll(llvm::MutableArrayRef<Unit> units) {
  return runJobs(
      units.size(), options, [&](uint64_t i) { return compile(units[i]); },
      [&](uint64_t i, JobResult result) {
        if (!result.passed)
          return fail(units[i], std::move(result));
        for (llvm::StringRef name : llvm::split(result.text, '\n'))
          units[i].constants.insert(name.str());
      });
}

//===- Linking ------------------------------------------------------------===//

/// Runs a program; the error has what it wrote to stderr. \p output: the file
/// that gets its stdout.
llvm::Error BundleRunner::execute(llvm::ArrayRef<std::string> arguments,
                                  const std::string &output) const {
  std::string errors = output + ".stderr", message;
  llvm::SmallVector<llvm::StringRef> views(arguments.begin(), arguments.end());
  bool isStarted = true;
  int code = llvm::sys::ExecuteAndWait(
      views[0], views, std::nullopt, {std::nullopt, output, errors},
      options.seconds, /*MemoryLimit=*/0, &message, &isStarted);
  if (code == 0)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(errors));
  return makeError("exit code {0}: {1}{2}", code, message,
                   text->getBuffer().take_front(1000).rtrim());
}

llvm::Error BundleRunner::link(llvm::ArrayRef<const Unit *> units,
                               llvm::StringRef program) const {
  std::string header, list;
  for (const Unit *unit : units) {
    header += llvm::formatv("#include \"{0}.h\"\n", unit->name);
    list += llvm::formatv(" \\\n  {{\"{0}\", &{0}_config, {0}, "
                          "{0}_check_weights},",
                          unit->name);
  }
  GLOWISH_RETURN_IF_ERROR(writeFile(
      (program + ".h").str(), header + "#define BUNDLE_LIST" + list + "\n"));
  std::vector<std::string> arguments = {
      compiler,
      "-std=c99",
      "-O1",
      "-Wall",
      "-Wextra",
      "-Werror",
      "-I" + folder->getPath().str(),
      "-DBUNDLE_HEADER=\"" + program.str() + ".h\"",
      getSourcePath("tests/e2e/run_bundle.c")};
  for (const Unit *unit : units)
    arguments.push_back(folder->getFile(unit->name + ".o"));
  arguments.insert(arguments.end(), {"-lm", "-o", program.str()});
  return execute(arguments, (program + ".stdout").str());
}

/// Links pieces of \p units to one program each; what fails together is tried
/// alone.
llvm::Error BundleRunner::linkAll(llvm::ArrayRef<Unit *> units) {
  constexpr size_t mostInOne = 32;
  std::vector<llvm::ArrayRef<Unit *>> pieces;
  for (llvm::ArrayRef<Unit *> rest = units; !rest.empty();
       rest = rest.drop_front(std::min(mostInOne, rest.size())))
    pieces.push_back(rest.take_front(mostInOne));
  auto getProgram = [&](uint64_t i) {
    return folder->getFile("run_" + pieces[i].front()->name);
  };
  std::vector<Unit *> alone;
  auto take = [&](uint64_t i, JobResult result) {
    for (Unit *unit : pieces[i]) {
      if (result.passed)
        unit->program = getProgram(i);
      else if (pieces[i].size() == 1)
        fail(*unit, {false, "linking: " + result.text});
      else
        alone.push_back(unit);
    }
  };
  auto job = [&](uint64_t i) -> llvm::Expected<std::string> {
    GLOWISH_RETURN_IF_ERROR(link(pieces[i], getProgram(i)));
    return "";
  };
  // There are fewer pieces than a process has jobs.
  JobOptions single = options;
  single.jobsPerProcess = 1;
  GLOWISH_RETURN_IF_ERROR(runJobs(pieces.size(), single, job, take));
  pieces.clear();
  for (Unit *&unit : alone)
    pieces.push_back(unit);
  return runJobs(pieces.size(), single, job, take);
}

//===- Running ------------------------------------------------------------===//

/// The type as run_bundle prints it.
static std::string describe(const Type &type) {
  std::string text = std::to_string(unsigned(type.getKind())) + ":";
  llvm::raw_string_ostream os(text);
  llvm::interleave(type.getShape(), os, ",");
  return text;
}

static std::string getOutputFile(const Unit &unit, const std::string &folder,
                                 size_t index) {
  return folder + unit.name + ".output" + std::to_string(index);
}

llvm::Error BundleRunner::runProgram(const Unit &unit, const TestData &data,
                                     std::string &output) const {
  std::vector<std::string> arguments = {
      unit.program, folder->getFile(unit.name + ".weights.bin"),
      "-bundle=" + unit.name};
  for (auto [i, input] : llvm::enumerate(data.inputs)) {
    if (unit.constants.count(input.name))
      continue;
    std::string file =
        folder->getFile(unit.name + ".input" + std::to_string(i));
    llvm::ArrayRef<uint8_t> bytes = input.tensor->getByteRange();
    GLOWISH_RETURN_IF_ERROR(writeFile(
        file, llvm::StringRef(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size())));
    arguments.push_back("-input=" + input.name + "=" + file);
  }
  for (auto [i, expected] : llvm::enumerate(data.outputs))
    arguments.push_back("-output=" + expected.name + "=" +
                        getOutputFile(unit, folder->getFile(""), i));
  std::string file = folder->getFile(unit.name + ".stdout");
  GLOWISH_RETURN_IF_ERROR(execute(arguments, file));
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(file));
  output = text->getBuffer().str();
  return llvm::Error::success();
}

llvm::Expected<double> BundleRunner::run(const Unit &unit) const {
  GLOWISH_ASSIGN_OR_RETURN(TestData data,
                           readTestData(tests[unit.test], unit.dataSet));
  std::string text;
  GLOWISH_RETURN_IF_ERROR(runProgram(unit, data, text));
  llvm::SmallVector<llvm::StringRef> types;
  llvm::StringRef(text).split(types, '\n', -1, /*KeepEmpty=*/false);
  std::vector<Tensor> outputs;
  for (auto [i, expected] : llvm::enumerate(data.outputs)) {
    const Type &type = expected.tensor->getType();
    if (i >= types.size() || types[i] != describe(type))
      return makeError("output '{0}' is {1} in the bundle, not {2} ({3})",
                       expected.name, i < types.size() ? types[i] : "absent",
                       describe(type), type.str());
    GLOWISH_ASSIGN_OR_RETURN(
        auto file, readFile(getOutputFile(unit, folder->getFile(""), i)));
    if (int64_t(file->getBufferSize()) != type.getSizeInBytes())
      return makeError("output '{0}' has {1} bytes, not {2}", expected.name,
                       file->getBufferSize(), type.getSizeInBytes());
    Tensor tensor(type);
    llvm::copy(file->getBuffer(), static_cast<char *>(tensor.getBytes()));
    outputs.push_back(std::move(tensor));
  }
  return checkOutputs(data, outputs);
}

llvm::Error BundleRunner::runAll(llvm::ArrayRef<Unit *> units) {
  return runJobs(
      units.size(), options,
      [&](uint64_t i) -> llvm::Expected<std::string> {
        GLOWISH_ASSIGN_OR_RETURN(double ulps, run(*units[i]));
        return PassedTest{units[i]->constants, ulps}.str();
      },
      [&](uint64_t i, JobResult result) {
        done(units[i]->test, std::move(result));
      });
}

llvm::Error BundleRunner::runChunk(llvm::MutableArrayRef<Unit> units) {
  auto getRemaining = [&] {
    std::vector<Unit *> remaining;
    for (Unit &unit : units)
      if (!unit.failed)
        remaining.push_back(&unit);
    return remaining;
  };
  GLOWISH_RETURN_IF_ERROR(compileAll(units));
  GLOWISH_RETURN_IF_ERROR(linkAll(getRemaining()));
  GLOWISH_RETURN_IF_ERROR(runAll(getRemaining()));
  folder->empty();
  return llvm::Error::success();
}

llvm::Error BundleRunner::run() {
  constexpr size_t chunk = 256;
  std::vector<Unit> units;
  for (unsigned i = 0; i < tests.size(); ++i)
    for (unsigned k = 0; k < tests[i].dataPrefixes.size(); ++k)
      units.push_back({i, k, "t" + std::to_string(units.size())});
  for (llvm::MutableArrayRef<Unit> rest = units; !rest.empty();
       rest = rest.drop_front(std::min(chunk, rest.size())))
    GLOWISH_RETURN_IF_ERROR(runChunk(rest.take_front(chunk)));
  return llvm::Error::success();
}

llvm::Error
glowish::runBundleTests(llvm::ArrayRef<NodeTest> tests,
                        const JobOptions &options,
                        std::function<void(uint64_t, JobResult)> done) {
  llvm::ErrorOr<std::string> compiler =
      llvm::sys::findProgramByName(GLOWISH_C_COMPILER);
  if (!compiler)
    return makeError("no C compiler '{0}' to link bundles with",
                     GLOWISH_C_COMPILER);
  GLOWISH_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::create());
  return BundleRunner(tests, options, std::move(done), std::move(folder),
                      *compiler)
      .run();
}
