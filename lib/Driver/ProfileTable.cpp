//===- ProfileTable.cpp - Profiles as text --------------------------------===//

#include "glowish/Driver/Profile.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace glowish;

namespace {

/// What is known of an instruction, of a kind, or of the program.
struct Sums {
  Cost cost;
  double seconds = 0, rooflineSeconds = 0;

  Sums &operator+=(const Profile::Row &row) {
    cost += row.cost;
    seconds += row.seconds;
    rooflineSeconds += row.rooflineSeconds;
    return *this;
  }
};

} // namespace

static void printNumbers(llvm::raw_ostream &os, const Profile &profile,
                         const Sums &sums) {
  const auto &[cost, seconds, rooflineSeconds] = sums;
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
  if (profile.limits)
    os << llvm::format(" %9.2f %6.1f", 1e6 * rooflineSeconds,
                       seconds > 0 ? 100 * rooflineSeconds / seconds : 0.0);
}

/// \p hasBound: whether each line says what the roofline is bound by.
static void printHeader(llvm::raw_ostream &os, const Profile &profile,
                        llvm::StringRef what, bool hasBound) {
  os << "        us     %     MFLOP  GFLOP/s % peak        MB   GB/s";
  if (profile.limits)
    os << "   roof us % roof" << (hasBound ? "  bound " : "");
  os << "  " << what << "\n";
}

static std::string getBoundName(const Profile &profile,
                                const Profile::Row &row) {
  return row.bound ? getLevelName(*profile.limits, row.bound - 1) : "FMA";
}

static void printInstrs(llvm::raw_ostream &os, const Profile &profile,
                        ProfileOrder order) {
  std::vector<const Profile::Row *> sorted;
  sorted.reserve(profile.rows.size());
  for (const Profile::Row &row : profile.rows)
    sorted.push_back(&row);
  auto getKey = [order](const Profile::Row &row) {
    return row.seconds -
           (order == ProfileOrder::Excess ? row.rooflineSeconds : 0);
  };
  // Equals in the order of the program, which is that of the rows in memory.
  llvm::sort(sorted, [&](const auto *a, const auto *b) {
    return getKey(*a) != getKey(*b) ? getKey(*a) > getKey(*b) : a < b;
  });
  printHeader(os, profile, "instruction", /*hasBound=*/true);
  for (const Profile::Row *row : sorted) {
    printNumbers(os, profile, Sums() += *row);
    if (profile.limits)
      os << "  " << llvm::left_justify(getBoundName(profile, *row), 6);
    os << "  " << row->instr->getKindName() << ' '
       << row->inRun->getOperand(0)->getType() << " \"";
    os.write_escaped(row->instr->getName()) << "\"\n";
  }
}

static void printKinds(llvm::raw_ostream &os, const Profile &profile) {
  struct Kind {
    Sums sums;
    unsigned count = 0;
  };
  std::map<llvm::StringRef, Kind> kinds;
  for (const Profile::Row &row : profile.rows) {
    Kind &kind = kinds[row.instr->getKindName()];
    kind.sums += row;
    ++kind.count;
  }
  std::vector<std::pair<llvm::StringRef, Kind>> sorted(kinds.begin(),
                                                       kinds.end());
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return a.second.sums.seconds != b.second.sums.seconds
               ? a.second.sums.seconds > b.second.sums.seconds
               : a.first < b.first;
  });
  printHeader(os, profile, "kind", /*hasBound=*/false);
  for (const auto &[name, kind] : sorted) {
    printNumbers(os, profile, kind.sums);
    os << "  " << kind.count << " " << name << "\n";
  }
}

static void printLimits(llvm::raw_ostream &os, const MachineLimits &limits) {
  os << "read by the cores:";
  for (size_t i = 0; i < limits.levels.size(); ++i) {
    const MemoryLevel &level = limits.levels[i];
    os << (i ? ", " : " ") << getLevelName(limits, i);
    if (level.bytes)
      os << llvm::format(" (%.0f KB)", double(level.bytes) / 1024);
    os << llvm::format(" %.1f GB/s", 1e-9 * level.readRate);
  }
  os << "\n";
}

void glowish::printProfile(llvm::raw_ostream &os, const Profile &profile,
                           ProfileOrder order) {
  printInstrs(os, profile, order);
  os << "\n";
  printKinds(os, profile);
  printNumbers(
      os, profile,
      {profile.getCost(), profile.getSeconds(), profile.getRooflineSeconds()});
  os << "  " << profile.rows.size() << " in all\n\n";
  os << llvm::format("%u runs: median %.3f ms; the instructions' medians are "
                     "%.3f ms; FMA peak of the cores %.1f GFLOP/s\n",
                     profile.numRuns, 1e3 * profile.runSeconds,
                     1e3 * profile.getSeconds(), 1e-9 * profile.peakRate);
  if (!profile.symbols.empty()) {
    os << "extents of the runs: ";
    llvm::interleaveComma(profile.symbols, os, [&](const auto &symbol) {
      os << symbol.first << " = " << symbol.second;
    });
    os << "\n";
  }
  if (profile.limits)
    printLimits(os, *profile.limits);
}
