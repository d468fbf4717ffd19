//===- Timing.cpp - Wall-clock time by phase ------------------------------===//

#include "glowish/Support/Timing.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace glowish;

size_t PhaseTimer::findRow(llvm::StringRef name) {
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name)
      return i;
  rows.push_back({name.str(), 0.0});
  return rows.size() - 1;
}

void PhaseTimer::begin(llvm::StringRef name) {
  end();
  current = findRow(name);
  running = true;
  start = Clock::now();
}

void PhaseTimer::end() {
  if (running)
    rows[current].seconds +=
        std::chrono::duration<double>(Clock::now() - start).count();
  running = false;
}

void PhaseTimer::add(llvm::StringRef name, double seconds) {
  rows[findRow(name)].seconds += seconds;
}

double PhaseTimer::getTotal() const {
  double total = 0;
  for (const Row &row : rows)
    total += row.seconds;
  return total;
}

void PhaseTimer::print(llvm::raw_ostream &os) const {
  double total = getTotal();
  size_t width = llvm::StringRef("total").size();
  for (const Row &row : rows)
    width = std::max(width, row.name.size());
  auto printRow = [&](llvm::StringRef name, double seconds) {
    os << llvm::left_justify(name, width)
       << llvm::format(" %10.3f s %6.1f %%\n", seconds,
                       total > 0 ? 100 * seconds / total : 0.0);
  };
  for (const Row &row : rows)
    printRow(row.name, row.seconds);
  printRow("total", total);
}
