//===- measure-operators.cpp - Element types that operators take ----------===//
//
// Writes lib/Importer/ONNX/OperatorKinds.def: for each ONNX operator that can
// be imported, the element types that its inputs may have on each back end, and
// the inputs that must be constants. They are not claimed but tried out, on
// those of ONNX's tests whose models are one node (docs/testing.md).
//
//===----------------------------------------------------------------------===//

#include "OperatorProbe.h"
#include "common/Tool.h"
#include "common/Workers.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <thread>

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::list<std::string>
    suites("suite", cl::OneOrMore,
           cl::desc("Folder with ONNX's tests (may be repeated)"),
           cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string> output("o", cl::Required,
                                   cl::desc("The file to write"),
                                   cl::value_desc("file"), cl::cat(category));
static cl::opt<unsigned> numWorkers("j", cl::desc("Processes at a time"),
                                    cl::value_desc("N"), cl::init(0),
                                    cl::cat(category));

namespace {

/// An operator's name as listOnnxOperators() has it, and what is tried.
using Probes = std::map<std::string, std::vector<OperatorProbe>>;

/// One element type for one group of inputs.
struct Trial {
  const std::string *name;
  unsigned group;
  ElemKind kind;
  ProbeResult result = {};
};

} // namespace

static JobOptions getJobOptions() {
  JobOptions options;
  options.numWorkers = numWorkers
                           ? numWorkers
                           : std::max(1u, std::thread::hardware_concurrency());
  return options;
}

/// The tests of operators that are registered: of each the few that tell inputs
/// apart best, by the number of element types, then of inputs.
static llvm::Expected<Probes> chooseProbes(llvm::ArrayRef<NodeTest> tests) {
  constexpr size_t most = 2;
  Probes probes;
  for (const auto &[name, opsets] : listOnnxOperators())
    probes[name];
  for (const NodeTest &test : tests) {
    auto found = probes.find(test.skip ? "" : getOnlyOperator(test));
    if (found == probes.end())
      continue;
    llvm::Expected<TestData> data = readTestData(test, 0);
    if (!data)
      llvm::consumeError(data.takeError());
    // Kinds are those of inputs that the model itself has.
    else if (data->containers.empty())
      found->second.push_back({&test, std::move(*data)});
  }
  for (auto &[name, list] : probes) {
    auto getRank = [](const OperatorProbe &probe) {
      std::set<ElemKind> kinds;
      for (const NamedTensor &input : probe.data.inputs)
        kinds.insert(input.tensor->getType().getKind());
      return std::pair(kinds.size(), probe.data.inputs.size());
    };
    llvm::stable_sort(list, [&](const auto &a, const auto &b) {
      return getRank(a) > getRank(b);
    });
    if (list.size() > most)
      list.erase(list.begin() + most, list.end());
  }
  return probes;
}

/// Finds the constants and groups of all probes; leaves out those that fail,
/// and those that group their inputs otherwise than the operator's first.
static llvm::Error prepare(Probes &probes) {
  std::vector<OperatorProbe *> all;
  for (auto &[name, list] : probes)
    for (OperatorProbe &probe : list)
      all.push_back(&probe);
  std::set<const OperatorProbe *> passed;
  GLOWISH_RETURN_IF_ERROR(runJobs(
      all.size(), getJobOptions(),
      [&](uint64_t i) -> llvm::Expected<std::string> {
        GLOWISH_ASSIGN_OR_RETURN(std::set<std::string> constants,
                                 findConstants(*all[i]));
        return llvm::join(constants, "\n");
      },
      [&](uint64_t i, JobResult result) {
        if (!result.passed)
          return;
        passed.insert(all[i]);
        for (llvm::StringRef name : llvm::split(result.text, '\n'))
          if (!name.empty())
            all[i]->constants.insert(name.str());
        groupInputs(*all[i]);
      }));
  for (auto &[name, list] : probes) {
    std::vector<OperatorProbe> kept;
    for (OperatorProbe &probe : list)
      if (passed.count(&probe) &&
          (kept.empty() || kept[0].groups == probe.groups))
        kept.push_back(std::move(probe));
    list = std::move(kept);
  }
  return llvm::Error::success();
}

static llvm::Expected<std::vector<Trial>> tryAll(const Probes &probes) {
  std::vector<Trial> trials;
  for (const auto &[name, list] : probes)
    for (unsigned group = 0; !list.empty() && group < list[0].groups.size();
         ++group)
      for (unsigned kind = 0; kind <= unsigned(ElemKind::Bool); ++kind)
        trials.push_back({&name, group, ElemKind(kind)});
  auto job = [&](uint64_t i) -> llvm::Expected<std::string> {
    const Trial &trial = trials[i];
    ProbeResult all;
    for (const OperatorProbe &probe : probes.at(*trial.name)) {
      ProbeResult result = tryKind(probe, trial.group, trial.kind);
      all.onInterpreter |= result.onInterpreter;
      all.onCPU |= result.onCPU;
      if (all.onCPU)
        break;
    }
    return std::string(all.onInterpreter ? "i" : "") + (all.onCPU ? "c" : "");
  };
  auto done = [&](uint64_t i, JobResult result) {
    llvm::StringRef text = result.text;
    trials[i].result = {result.passed && text.contains('i'),
                        result.passed && text.contains('c')};
    if (!result.passed || text == "i")
      llvm::errs() << *trials[i].name << " of "
                   << getElemKindName(trials[i].kind) << ": "
                   << (result.passed ? "the back ends differ" : text) << "\n";
  };
  GLOWISH_RETURN_IF_ERROR(runJobs(trials.size(), getJobOptions(), job, done));
  return trials;
}

/// "floats, integers, bool", or the kinds that are there.
static std::string describe(const std::set<ElemKind> &kinds) {
  std::vector<std::string> words;
  auto add = [&](llvm::StringRef name, auto isIn) {
    std::vector<std::string> there;
    unsigned count = 0;
    for (unsigned i = 0; i <= unsigned(ElemKind::Bool); ++i) {
      count += isIn(ElemKind(i));
      if (isIn(ElemKind(i)) && kinds.count(ElemKind(i)))
        there.push_back(getElemKindName(ElemKind(i)).str());
    }
    if (there.size() == count)
      there = {name.str()};
    words.insert(words.end(), there.begin(), there.end());
  };
  add("floats", isFloatKind);
  add("integers", isIntegerKind);
  add("bool", [](ElemKind kind) { return kind == ElemKind::Bool; });
  return words.empty() ? "none" : llvm::join(words, ", ");
}

/// "X: floats; indices: int32, int64".
static std::string describeGroups(const OperatorProbe &probe,
                                  llvm::ArrayRef<Trial> trials, bool onCPU) {
  std::vector<std::string> parts;
  for (unsigned group = 0; group < probe.groups.size(); ++group) {
    std::set<ElemKind> kinds;
    for (const Trial &trial : trials)
      if (trial.group == group &&
          (onCPU ? trial.result.onCPU : trial.result.onInterpreter))
        kinds.insert(trial.kind);
    parts.push_back(llvm::join(probe.groups[group], ", ") + ": " +
                    describe(kinds));
  }
  return llvm::join(parts, "; ");
}

static llvm::Expected<int> measure() {
  std::vector<NodeTest> tests;
  for (const std::string &suite : suites) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeTest> found, findNodeTests(suite));
    llvm::move(found, std::back_inserter(tests));
  }
  GLOWISH_ASSIGN_OR_RETURN(Probes probes, chooseProbes(tests));
  GLOWISH_RETURN_IF_ERROR(prepare(probes));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Trial> trials, tryAll(probes));
  std::string text =
      "// Written by measure-operators (docs/testing.md). Do not edit.\n"
      "// OPERATOR_KINDS(name, on the interpreter, on CPU, constants)\n\n";
  llvm::ArrayRef<Trial> rest = trials;
  for (const auto &[name, list] : probes) {
    auto own = rest.take_while(
        [&, &name = name](const Trial &trial) { return *trial.name == name; });
    rest = rest.drop_front(own.size());
    if (list.empty())
      continue;
    std::set<std::string> constants;
    for (const OperatorProbe &probe : list)
      constants.insert(probe.constants.begin(), probe.constants.end());
    text += llvm::formatv("OPERATOR_KINDS(\"{0}\", \"{1}\",\n"
                          "               \"{2}\", \"{3}\")\n",
                          name, describeGroups(list[0], own, false),
                          describeGroups(list[0], own, true),
                          llvm::join(constants, ", "));
  }
  GLOWISH_RETURN_IF_ERROR(writeFile(output, text));
  return ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Finds out which element types ONNX's operators take.\n",
                 {&category}, measure);
}
