//===- Profile.cpp - Run times of instructions ----------------------------===//

#include "glowish/Driver/Profile.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/File.h"
#include "llvm/Support/JSON.h"

using namespace glowish;

Cost Profile::getCost() const {
  Cost sum;
  for (const Row &row : rows)
    sum += row.cost;
  return sum;
}

double Profile::getSeconds() const {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.seconds;
  return sum;
}

double Profile::getRooflineSeconds() const {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.rooflineSeconds;
  return sum;
}

//===- Measuring ----------------------------------------------------------===//

static double getMedian(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

static double getSecondsBetween(InstrClock::Time from, InstrClock::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

llvm::Expected<Profile>
glowish::measureProfile(Session &session, const PlannedProgram &program,
                        InstrClock &clock, unsigned numRuns, double peakRate) {
  Profile profile;
  profile.symbols = session.getSymbolValues();
  profile.run = std::make_shared<const RunProgram>(
      makeRunProgram(program.getIR(), program.getPlan(), profile.symbols));
  profile.numRuns = std::max(1u, numRuns);
  profile.peakRate = peakRate;
  auto inRun = profile.run->function->getInstrs().begin();
  for (const Instruction &instr : program.getIR().getInstrs())
    if (!instr.isLifetimeMarker()) {
      profile.rows.push_back({&instr, &*inRun, getCost(*inRun), 0});
      ++inRun;
    }
  std::vector<std::vector<double>> times(profile.rows.size());
  std::vector<double> runTimes;
  for (unsigned run = 0; run < profile.numRuns; ++run) {
    clock.clear();
    GLOWISH_RETURN_IF_ERROR(session.run());
    llvm::ArrayRef<InstrClock::Time> marks = clock.getMarks();
    assert(marks.size() == times.size() + 1 &&
           "the back end marks the time after each instruction");
    for (size_t i = 0; i < times.size(); ++i)
      times[i].push_back(getSecondsBetween(marks[i], marks[i + 1]));
    runTimes.push_back(getSecondsBetween(marks.front(), marks.back()));
  }
  for (size_t i = 0; i < times.size(); ++i)
    profile.rows[i].seconds = getMedian(std::move(times[i]));
  profile.runSeconds = getMedian(std::move(runTimes));
  return profile;
}

//===- Roofline -----------------------------------------------------------===//

/// Each level has its own limit, as in the hierarchical model (Ilic et al.,
/// Cache-aware Roofline Model, 2014): what lies far away comes through all that
/// are nearer.
static void findBound(Profile::Row &row, const MachineLimits &limits) {
  row.rooflineSeconds = row.operations / limits.peakRate;
  row.bound = 0;
  double bytes = 0;
  for (size_t level = limits.levels.size(); level-- > 0;) {
    bytes += row.bytes[level];
    double seconds = bytes / limits.levels[level].readRate;
    if (seconds > row.rooflineSeconds) {
      row.rooflineSeconds = seconds;
      row.bound = unsigned(level) + 1;
    }
  }
}

void glowish::addRoofline(Profile &profile, const PlannedProgram &program,
                          const MachineLimits &limits) {
  std::vector<BytesByLevel> traffic = countCacheTraffic(
      *profile.run->function, profile.run->plan, limits.getCaches());
  assert(traffic.size() == profile.rows.size() && "both without lifetimes");
  for (size_t i = 0; i < traffic.size(); ++i) {
    Profile::Row &row = profile.rows[i];
    row.operations = program.getBackend().countOperations(*row.inRun);
    row.bytes = std::move(traffic[i]);
    findBound(row, limits);
  }
  profile.limits = limits;
}

std::string glowish::getLevelName(const MachineLimits &limits, size_t level) {
  if (limits.levels[level].bytes == 0)
    return "memory";
  return llvm::formatv("L{0}", level + 1);
}

//===- Chrome's trace event format ----------------------------------------===//

/// JSON has no bytes that are not UTF-8; names of nodes may have.
static std::string toUTF8(llvm::StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

static void printNumber(llvm::json::OStream &json, llvm::StringRef key,
                        double value) {
  json.attributeBegin(key);
  json.rawValue(llvm::formatv("{0:F3}", value).str());
  json.attributeEnd();
}

/// What bench/compare makes a roofline of with the rates that it measures.
static void printWork(llvm::json::OStream &json, const Profile::Row &row) {
  json.attribute("operations", int64_t(row.operations));
  json.attributeArray("bytesByLevel", [&] {
    for (double bytes : row.bytes)
      json.value(int64_t(bytes));
  });
  printNumber(json, "roofline", 1e6 * row.rooflineSeconds);
}

static void printEvent(llvm::json::OStream &json, const Profile::Row &row,
                       double start, bool hasRoofline) {
  llvm::StringRef name = row.instr->getName();
  llvm::StringRef kind = row.instr->getKindName();
  json.object([&] {
    json.attribute("name", name.empty() ? kind.str() : toUTF8(name));
    json.attribute("cat", kind);
    json.attribute("ph", "X");
    printNumber(json, "ts", 1e6 * start);
    printNumber(json, "dur", 1e6 * row.seconds);
    json.attribute("pid", 1);
    json.attribute("tid", 1);
    json.attributeObject("args", [&] {
      json.attribute("result", row.inRun->getOperand(0)->getType().str());
      json.attribute("flops", int64_t(row.cost.flops));
      json.attribute("bytes", int64_t(row.cost.bytes));
      if (hasRoofline)
        printWork(json, row);
    });
  });
}

static void printLimits(llvm::json::OStream &json,
                        const MachineLimits &limits) {
  json.attributeObject("otherData", [&] {
    printNumber(json, "GFLOP/s", 1e-9 * limits.peakRate);
    json.attributeArray("levels", [&] {
      for (size_t i = 0; i < limits.levels.size(); ++i)
        json.object([&] {
          json.attribute("name", getLevelName(limits, i));
          json.attribute("bytes", int64_t(limits.levels[i].bytes));
          printNumber(json, "GB/s", 1e-9 * limits.levels[i].readRate);
        });
    });
  });
}

llvm::Error glowish::writeProfileTrace(const Profile &profile,
                                       llvm::StringRef path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("displayTimeUnit", "ms");
    if (profile.limits)
      printLimits(json, *profile.limits);
    json.attributeArray("traceEvents", [&] {
      double start = 0;
      for (const Profile::Row &row : profile.rows) {
        printEvent(json, row, start, profile.limits.has_value());
        start += row.seconds;
      }
    });
  });
  os << "\n";
  return writeFile(path, text);
}
