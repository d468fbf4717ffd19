//===- Profile.cpp - Run times of instructions ----------------------------===//

#include "glowish/Driver/Profile.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <map>

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
glowish::measureProfile(Session &session, const IRFunction &function,
                        InstrClock &clock, unsigned numRuns, double peakRate) {
  Profile profile;
  profile.numRuns = std::max(1u, numRuns);
  profile.peakRate = peakRate;
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker())
      profile.rows.push_back({&instr, getCost(instr), 0});
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

//===- Printing -----------------------------------------------------------===//

/// What is known of an instruction, of a kind, or of the program.
static void printNumbers(llvm::raw_ostream &os, const Profile &profile,
                         const Cost &cost, double seconds) {
  double total = profile.getSeconds();
  double rate = seconds > 0 ? cost.flops / seconds : 0;
  os << llvm::format("%10.2f %5.1f %9.3f", 1e6 * seconds,
                     total > 0 ? 100 * seconds / total : 0.0,
                     1e-6 * cost.flops);
  if (cost.flops > 0)
    os << llvm::format(" %8.1f %6.1f", 1e-9 * rate,
                       100 * rate / profile.peakRate);
  else
    os << "        -      -";
  os << llvm::format(" %9.3f %6.1f", 1e-6 * cost.bytes,
                     seconds > 0 ? 1e-9 * cost.bytes / seconds : 0.0);
}

static void printHeader(llvm::raw_ostream &os, llvm::StringRef what) {
  os << "        us     %     MFLOP  GFLOP/s % peak        MB   GB/s  " << what
     << "\n";
}

static void printInstrs(llvm::raw_ostream &os, const Profile &profile) {
  std::vector<const Profile::Row *> sorted;
  sorted.reserve(profile.rows.size());
  for (const Profile::Row &row : profile.rows)
    sorted.push_back(&row);
  // Equals in the order of the program, which is that of the rows in memory.
  llvm::sort(sorted, [](const auto *a, const auto *b) {
    return a->seconds != b->seconds ? a->seconds > b->seconds : a < b;
  });
  printHeader(os, "instruction");
  for (const Profile::Row *row : sorted) {
    printNumbers(os, profile, row->cost, row->seconds);
    os << "  " << row->instr->getKindName() << ' '
       << row->instr->getOperand(0)->getType() << " \"";
    os.write_escaped(row->instr->getName()) << "\"\n";
  }
}

static void printKinds(llvm::raw_ostream &os, const Profile &profile) {
  struct Kind {
    Cost cost;
    double seconds = 0;
    unsigned count = 0;
  };
  std::map<llvm::StringRef, Kind> kinds;
  for (const Profile::Row &row : profile.rows) {
    Kind &kind = kinds[row.instr->getKindName()];
    kind.cost += row.cost;
    kind.seconds += row.seconds;
    ++kind.count;
  }
  std::vector<std::pair<llvm::StringRef, Kind>> sorted(kinds.begin(),
                                                       kinds.end());
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return a.second.seconds != b.second.seconds
               ? a.second.seconds > b.second.seconds
               : a.first < b.first;
  });
  printHeader(os, "kind");
  for (const auto &[name, kind] : sorted) {
    printNumbers(os, profile, kind.cost, kind.seconds);
    os << "  " << kind.count << " " << name << "\n";
  }
}

void glowish::printProfile(llvm::raw_ostream &os, const Profile &profile) {
  printInstrs(os, profile);
  os << "\n";
  printKinds(os, profile);
  printNumbers(os, profile, profile.getCost(), profile.getSeconds());
  os << "  " << profile.rows.size() << " in all\n\n";
  os << llvm::format("%u runs: median %.3f ms; the instructions' medians are "
                     "%.3f ms; FMA peak of the cores %.1f GFLOP/s\n",
                     profile.numRuns, 1e3 * profile.runSeconds,
                     1e3 * profile.getSeconds(), 1e-9 * profile.peakRate);
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

static void printEvent(llvm::json::OStream &json, const Profile::Row &row,
                       double start) {
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
      json.attribute("result", row.instr->getOperand(0)->getType().str());
      json.attribute("flops", int64_t(row.cost.flops));
      json.attribute("bytes", int64_t(row.cost.bytes));
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
    json.attributeArray("traceEvents", [&] {
      double start = 0;
      for (const Profile::Row &row : profile.rows) {
        printEvent(json, row, start);
        start += row.seconds;
      }
    });
  });
  os << "\n";
  return writeFile(path, text);
}
