//===- ProgramSections.cpp - Report sections of a program -----------------===//

#include "GraphTree.h"
#include "Sections.h"
#include "glowish/IR/Cost.h"
#include "glowish/Report/MemoryMap.h"
#include "glowish/Support/Numbers.h"

using namespace glowish;

std::string glowish::getStepId(const ProgramRecord &record, unsigned number) {
  return getElementId(record, "i" + std::to_string(number));
}

/// Kind and name of \p instr, as deep as it is inside bodies.
static void printInstrName(llvm::raw_ostream &os, const TimelineStep &step) {
  for (unsigned i = 0; i < step.depth; ++i)
    os << "<span class=\"inner\"></span>";
  os << "<b>" << step.instr->getKindName() << "</b> ";
  printEscaped(os, step.instr->getName());
}

//===- The schedule -------------------------------------------------------===//

/// The instruction that last wrote a root.
using LastWriters = llvm::DenseMap<const Buffer *, unsigned>;

/// Operands that are read link to the instruction of \p writers that wrote
/// them.
static void printOperands(llvm::raw_ostream &os, const ProgramRecord &record,
                          const LastWriters &writers,
                          const Instruction &instr) {
  bool isFirst = true;
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    const Buffer *buffer = instr.getOperand(i);
    if (!buffer)
      continue;
    os << (isFirst ? "" : ", ") << '@'
       << getRoleName(instr.getOperandInfo(i).role) << ' ';
    isFirst = false;
    const Buffer *root = buffer->getRoot();
    auto writer = instr.reads(i) ? writers.find(root) : writers.end();
    if (writer != writers.end()) {
      printLink(os, getStepId(record, writer->second), buffer->getName());
    } else {
      bool isConstant = root->getKind() == Buffer::Kind::Constant;
      printElement(os, "i", isConstant ? "constant" : "", buffer->getName());
    }
    os << ' ';
    printElement(os, "span", "type", buffer->getType().str());
  }
  printAttrCode(os, instr.getInfo(), instr.getAttrs(),
                instr.getNumProgramInputs());
}

void glowish::printScheduleSection(PageWriter &page,
                                   const ProgramRecord &record,
                                   const Timeline &timeline) {
  HtmlSection section(
      page, getElementId(record, "schedule"), getHeading(record, "Schedule"),
      "The instructions in order, those of bodies after the one "
      "that has them.");
  HtmlTable table(page.os, {{"#", /*isNumber=*/true},
                            {"instruction"},
                            {"operands"},
                            {"live", /*isNumber=*/true,
                             "bytes of activations that live then"}});
  auto peak = double(std::max<uint64_t>(1, timeline.getPeak()));
  LastWriters writers;
  for (auto [i, step] : llvm::enumerate(timeline.getSteps())) {
    table.beginRow(getStepId(record, unsigned(i)));
    table.addNumber(uint64_t(i));
    printInstrName(table.addMarkup("name"), step);
    const Instruction &instr = *step.instr;
    printOperands(table.addMarkup("operands"), record, writers, instr);
    for (unsigned k = 0; k < instr.getNumOperands(); ++k)
      if (const Buffer *buffer = instr.getOperand(k))
        if (instr.writes(k))
          writers[buffer->getRoot()] = unsigned(i);
    table.addBar(double(step.liveBytes), formatBytes(step.liveBytes),
                 double(step.liveBytes) / peak);
  }
}

//===- The arena ----------------------------------------------------------===//

void glowish::printMemorySection(PageWriter &page,
                                 const ProgramRecord &record) {
  HtmlSection section(page, getElementId(record, "memory"),
                      getHeading(record, "Memory"),
                      "The arena over time: each activation from the "
                      "instruction that first uses it to the last one.");
  page.os << "<div class=\"wide\">";
  printMemoryMap(page.os, {{getHeading(record, "Arena"),
                            record.planned->function, record.planned->plan}});
  page.os << "</div>\n";
}

//===- Costs --------------------------------------------------------------===//

std::optional<uint64_t> glowish::getCodeBytes(const CodeSizes *sizes,
                                              const Instruction &instr) {
  if (!sizes)
    return std::nullopt;
  auto found = sizes->kernels.find(&instr);
  if (found == sizes->kernels.end())
    return std::nullopt;
  uint64_t bytes = 0;
  for (const std::string &name : found->second)
    if (auto function = sizes->functions.find(name);
        function != sizes->functions.end())
      bytes += function->second;
  return bytes;
}

static uint64_t getConstantBytes(const Instruction &instr) {
  uint64_t bytes = 0;
  for (const Buffer *buffer : instr.getOperands())
    if (buffer && buffer->getRoot()->getKind() == Buffer::Kind::Constant)
      bytes += buffer->getType().getSizeInBytes();
  return bytes;
}

namespace {

/// Of one instruction, or of those of a kind.
struct CostRow {
  Cost cost;
  std::optional<double> cycles, seconds;
  std::optional<uint64_t> codeBytes;
  uint64_t constantBytes = 0;
  size_t count = 1;

  CostRow &operator+=(const CostRow &other);
};

/// The tables of instructions and of kinds.
class CostPrinter {
public:
  CostPrinter(const ProgramRecord &record, const Timeline &timeline,
              const CodeSizes *sizes);
  void printInstrs(llvm::raw_ostream &os) const;
  void printKinds(llvm::raw_ostream &os) const;

private:
  std::vector<Column> getColumns() const;
  void addCells(HtmlTable &table, const CostRow &row) const;

  const ProgramRecord &record;
  const Timeline &timeline;
  std::vector<CostRow> rows;
  bool hasCycles = false, hasCode = false;
  double totalSeconds = 0;
};

} // namespace

CostRow &CostRow::operator+=(const CostRow &other) {
  auto add = [](auto &sum, const auto &more) {
    if (more)
      sum = sum.value_or(0) + *more;
  };
  cost += other.cost;
  add(cycles, other.cycles);
  add(seconds, other.seconds);
  add(codeBytes, other.codeBytes);
  constantBytes += other.constantBytes;
  count += other.count;
  return *this;
}

CostPrinter::CostPrinter(const ProgramRecord &record, const Timeline &timeline,
                         const CodeSizes *sizes)
    : record(record), timeline(timeline) {
  llvm::DenseMap<const Instruction *, const Profile::Row *> measured;
  if (record.profile) {
    totalSeconds = record.profile->getSeconds();
    for (const Profile::Row &row : record.profile->rows)
      measured[row.instr] = &row;
  }
  for (const TimelineStep &step : timeline.getSteps()) {
    CostRow row;
    const Profile::Row *own = measured.lookup(step.instr);
    row.cost = own ? own->cost : getCost(*step.instr);
    row.cycles = record.planned->backend->estimateCycles(*step.instr);
    if (own)
      row.seconds = own->seconds;
    row.codeBytes = getCodeBytes(sizes, *step.instr);
    row.constantBytes = getConstantBytes(*step.instr);
    hasCycles |= row.cycles.has_value();
    hasCode |= row.codeBytes.has_value();
    rows.push_back(row);
  }
}

std::vector<Column> CostPrinter::getColumns() const {
  std::vector<Column> columns = {
      {"MFLOP", /*isNumber=*/true,
       "millions of floating-point operations, two for a multiply-add"},
      {"moved", /*isNumber=*/true, "bytes of all operands"},
      {"FLOP/byte", /*isNumber=*/true}};
  if (hasCycles)
    columns.push_back({"estimate", /*isNumber=*/true,
                       "thousands of cycles of one core, by the back end's "
                       "cost model"});
  if (record.profile)
    columns.insert(columns.end(),
                   {{"µs", /*isNumber=*/true, "measured: median of the runs"},
                    {"%", /*isNumber=*/true, "of the measured time"},
                    {"GFLOP/s", /*isNumber=*/true}});
  if (hasCode)
    columns.push_back({"code", /*isNumber=*/true,
                       "bytes of its functions, which equal instructions "
                       "share"});
  columns.push_back(
      {"constants", /*isNumber=*/true, "bytes of its constant operands"});
  return columns;
}

void CostPrinter::addCells(HtmlTable &table, const CostRow &row) const {
  auto add = [&](std::optional<double> value, double factor = 1) {
    if (value)
      table.addNumber(*value, formatShort(factor * *value));
    else
      table.addEmpty();
  };
  auto addBytes = [&](std::optional<uint64_t> bytes) {
    if (bytes)
      table.addNumber(double(*bytes), formatBytes(*bytes));
    else
      table.addEmpty();
  };
  bool hasFlops = row.cost.flops > 0;
  add(hasFlops ? std::optional(row.cost.flops) : std::nullopt, 1e-6);
  addBytes(uint64_t(row.cost.bytes));
  add(hasFlops && row.cost.bytes > 0
          ? std::optional(row.cost.flops / row.cost.bytes)
          : std::nullopt);
  if (hasCycles)
    add(row.cycles, 1e-3);
  if (record.profile) {
    add(row.seconds, 1e6);
    double share =
        row.seconds && totalSeconds > 0 ? *row.seconds / totalSeconds : 0;
    table.addBar(share, formatFixed(100 * share, 1), share);
    bool hasRate = hasFlops && row.seconds && *row.seconds > 0;
    add(hasRate ? std::optional(row.cost.flops / *row.seconds) : std::nullopt,
        1e-9);
  }
  if (hasCode)
    addBytes(row.codeBytes);
  addBytes(row.constantBytes);
}

void CostPrinter::printInstrs(llvm::raw_ostream &os) const {
  std::vector<Column> columns = {{"#", /*isNumber=*/true}, {"instruction"}};
  llvm::append_range(columns, getColumns());
  HtmlTable table(os, columns, "costs");
  for (auto [i, step] : llvm::enumerate(timeline.getSteps())) {
    table.beginRow();
    llvm::raw_ostream &number = table.addMarkup("n");
    printLink(number, getStepId(record, unsigned(i)), std::to_string(i));
    printInstrName(table.addMarkup("name"), step);
    addCells(table, rows[i]);
  }
}

void CostPrinter::printKinds(llvm::raw_ostream &os) const {
  std::map<llvm::StringRef, CostRow> kinds;
  for (auto [step, row] : llvm::zip_equal(timeline.getSteps(), rows)) {
    // Instructions in a body are counted as part of the instruction that has
    // it.
    if (step.depth)
      continue;
    auto [found, isNew] = kinds.try_emplace(step.instr->getKindName(), row);
    if (!isNew)
      found->second += row;
  }
  std::vector<Column> columns = {{"kind"}, {"instructions", /*isNumber=*/true}};
  llvm::append_range(columns, getColumns());
  HtmlTable table(os, columns, "kinds");
  for (const auto &[kind, row] : kinds) {
    table.addRow(kind, uint64_t(row.count));
    addCells(table, row);
  }
}

void glowish::printCostSection(PageWriter &page, const ProgramRecord &record,
                               const Timeline &timeline,
                               const CodeSizes *sizes) {
  HtmlSection section(page, getElementId(record, "costs"),
                      getHeading(record, "Costs"),
                      "A click on a column's head sorts by it. Instructions of "
                      "a body are counted as if it ran once, the one that has "
                      "the body as often as that may run.");
  CostPrinter printer(record, timeline, sizes);
  printer.printKinds(page.os);
  printer.printInstrs(page.os);
}
