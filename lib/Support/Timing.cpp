//===- Timing.cpp - Wall-clock time by phase ------------------------------===//

#include "glowish/Support/Timing.h"
#include "glowish/Support/Log.h"
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
  if (running && rows[current].name == name)
    return;
  end();
  current = findRow(name);
  running = true;
  GLOWISH_VLOG(2, "phase {0} begins", name);
  start = Clock::now();
}

void PhaseTimer::end() {
  if (!running)
    return;
  running = false;
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  rows[current].seconds += seconds;
  GLOWISH_VLOG(1, "phase {0} took {1:F1} ms", rows[current].name,
               1e3 * seconds);
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

std::unique_ptr<PhaseTimer> glowish::makeTimerForLog(PhaseTimer *&timer) {
  if (timer || !GLOWISH_IS_LOGGED(1))
    return nullptr;
  auto made = std::make_unique<PhaseTimer>();
  timer = made.get();
  return made;
}
