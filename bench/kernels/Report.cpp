//===- Report.cpp - Report of the kernel benchmarks -----------------------===//

#include "Report.h"
#include "glowish/Backends/CPU/PeakRate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <sched.h>
#include <unistd.h>

using namespace glowish;
using namespace glowish::bench;

//===- One core -----------------------------------------------------------===//

/// Libraries read how many threads they are to have when they are loaded: the
/// program begins again with the environment that they look at.
static void restrictToOneCore(char **argv) {
  static constexpr const char *variables[] = {"OMP_NUM_THREADS",
                                              "OPENBLAS_NUM_THREADS"};
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  if (getenv(variables[0]) && getenv(variables[1]))
    return;
  sched_setaffinity(0, sizeof cpus, &cpus);
  for (const char *variable : variables)
    setenv(variable, "1", /*overwrite=*/1);
  execv("/proc/self/exe", argv);
  llvm::report_fatal_error("the program cannot start itself again");
}

std::unique_ptr<CPUBackend> bench::initialize(int argc, char **argv) {
  restrictToOneCore(argv);
  TargetOptions target;
  target.winograd = WinogradLimit::None;
  // Whatever else the machine does is to meet both programs.
  char interleaving[] = "--benchmark_enable_random_interleaving=true";
  std::vector<char *> rest;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("-mattr="))
      for (llvm::StringRef feature : llvm::split(argument, ','))
        target.attributes.push_back(feature.str());
    else if (argument == "-winograd=2")
      target.winograd = WinogradLimit::F2;
    else if (argument == "-winograd=4")
      target.winograd = WinogradLimit::F4;
    else
      rest.push_back(argv[i]);
  }
  rest.insert(rest.begin() + 1, interleaving);
  int count = rest.size();
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data()))
    exit(1);
  return llvm::ExitOnError("error: ")(CPUBackend::create(target));
}

//===- Measuring ----------------------------------------------------------===//

namespace {

/// Keeps the times of all repetitions by the names of their benchmarks.
class Collector : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context &) override { return true; }
  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs)
      if (run.run_type == Run::RT_Iteration)
        times[run.run_name.function_name].push_back(run.cpu_accumulated_time /
                                                    run.iterations);
  }

  /// The median in seconds; nothing where a filter left the benchmark out.
  std::optional<double> getSeconds(const std::string &name) {
    std::vector<double> &values = times[name];
    if (values.empty())
      return std::nullopt;
    llvm::sort(values);
    return values[values.size() / 2];
  }

private:
  std::map<std::string, std::vector<double>> times;
};

/// Sums over the cases that were measured.
struct Totals {
  double flops = 0, ownSeconds = 0, otherSeconds = 0, logRatio = 0;
  unsigned cases = 0;
};

} // namespace

static void registerBenchmark(const std::string &name,
                              std::function<void()> run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run](benchmark::State &state) {
                                 run();
                                 for (auto _ : state)
                                   run();
                               })
      ->MinTime(0.1)
      ->Repetitions(5);
}

//===- Printing -----------------------------------------------------------===//

static void printCase(const Case &c, double own, double other,
                      double peakRate) {
  double ownRate = c.flops / own, otherRate = c.flops / other;
  llvm::outs() << llvm::left_justify(c.name, 28)
               << llvm::format(" %6u %9.3f %9.3f %8.1f %6.1f %8.1f %6.1f %6.2f",
                               c.count, 1e3 * own, 1e3 * other, 1e-9 * ownRate,
                               100 * ownRate / peakRate, 1e-9 * otherRate,
                               100 * otherRate / peakRate, other / own)
               << "  " << c.kernel << "\n";
}

static void printTotals(const Totals &totals, llvm::StringRef otherName,
                        llvm::StringRef peakName, double peakRate) {
  if (totals.cases == 0)
    return;
  llvm::outs()
      << llvm::format("\nFlop-weighted mean: glowish %.1f %% of the peak, ",
                      100 * totals.flops / totals.ownSeconds / peakRate)
      << otherName
      << llvm::format(" %.1f %%; ratio %.2f\nGeometric mean of the ratios: "
                      "%.2f\n",
                      100 * totals.flops / totals.otherSeconds / peakRate,
                      totals.otherSeconds / totals.ownSeconds,
                      std::exp(totals.logRatio / totals.cases))
      << peakName << llvm::format(" of the core: %.1f G/s\n", 1e-9 * peakRate);
}

int bench::measureAndReport(CPUBackend &backend, llvm::StringRef otherName,
                            std::vector<Case> cases) {
  llvm::ExitOnError check("error: ");
  return measureAndReport(
      "FMA peak", [&] { return check(measurePeakRate(backend)); }, otherName,
      std::move(cases));
}

int bench::measureAndReport(llvm::StringRef peakName,
                            llvm::function_ref<double()> measurePeak,
                            llvm::StringRef otherName,
                            std::vector<Case> cases) {
  for (const Case &c : cases) {
    registerBenchmark("glowish/" + c.name, c.runOwn);
    registerBenchmark(otherName.str() + "/" + c.name, c.runOther);
  }
  Collector collector;
  double peakRate = measurePeak();
  benchmark::RunSpecifiedBenchmarks(&collector);
  peakRate = std::max(peakRate, measurePeak());

  llvm::outs() << llvm::left_justify("shape", 28) << "  count        ms "
               << llvm::right_justify(otherName, 9)
               << "  GFLOP/s % peak  GFLOP/s % peak  ratio  kernel\n";
  Totals totals;
  for (const Case &c : cases) {
    auto own = collector.getSeconds("glowish/" + c.name);
    auto other = collector.getSeconds(otherName.str() + "/" + c.name);
    if (!own || !other)
      continue;
    printCase(c, *own, *other, peakRate);
    totals.flops += c.count * c.flops;
    totals.ownSeconds += c.count * *own;
    totals.otherSeconds += c.count * *other;
    totals.logRatio += std::log(*other / *own);
    ++totals.cases;
  }
  printTotals(totals, otherName, peakName, peakRate);
  return 0;
}
