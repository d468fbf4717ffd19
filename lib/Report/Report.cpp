//===- Report.cpp - A page about a compilation ----------------------------===//

#include "glowish/Report/Report.h"
#include "GraphTree.h"
#include "Sections.h"
#include "glowish/Report/MemoryMap.h"

using namespace glowish;

static constexpr llvm::StringLiteral pageText =
#include "glowish/page.html.inc"
    ;
static constexpr llvm::StringLiteral styleText =
#include "glowish/page.css.inc"
    ;
static constexpr llvm::StringLiteral scriptText =
#include "glowish/page.js.inc"
    ;

Report::Report(std::string title, bool hasTimes)
    : title(std::move(title)), hasTimes(hasTimes) {}
Report::~Report() = default;

ProgramRecord &Report::beginRecord(const Compilation &compilation) {
  programs.push_back(std::make_unique<ProgramRecord>());
  programs.back()->compilation = &compilation;
  programs.back()->number = programs.size() - 1;
  return *programs.back();
}

ProgramRecord &Report::getRecord(const Compilation &compilation) {
  // An earlier compilation may have been where this one is.
  for (const auto &record : llvm::reverse(programs))
    if (record->compilation == &compilation)
      return *record;
  return beginRecord(compilation);
}

void Report::addFact(std::string name, std::string value) {
  facts.push_back({std::move(name), std::move(value)});
}

void Report::setProgramTitle(size_t program, std::string programTitle) {
  if (program < programs.size())
    programs[program]->title = std::move(programTitle);
}

void Report::addProfile(size_t program, Profile profile) {
  if (program < programs.size())
    programs[program]->profile = std::move(profile);
}

bool Report::isPlanned() const {
  return !programs.empty() && llvm::all_of(programs, [](const auto &record) {
    return record->planned.has_value();
  });
}

//===- What is recorded ---------------------------------------------------===//

static void recordModel(ProgramRecord &record, const GraphStage &graph) {
  const Module &module = graph.getModule();
  for (const auto &placeholder : module.getPlaceholders())
    record.storage.push_back({placeholder->getModelName().str(),
                              placeholder->getType().str(),
                              uint64_t(placeholder->getType().getSizeInBytes()),
                              placeholder->isInput(), placeholder->isOutput()});
  for (const Node &constant : module.getConstants()) {
    ++record.numConstants;
    record.constantElements += uint64_t(constant.getType().getNumElements());
    record.constantBytes += uint64_t(constant.getType().getSizeInBytes());
  }
  forEachNode(graph.getFunction(), [&](const Node &node) {
    ++record.kinds[node.getKindName().str()].imported;
  });
}

static void recordGraph(ProgramRecord &record, Phase phase,
                        const Function &function) {
  for (auto &[kind, count] : record.kinds)
    count.last = 0;
  forEachNode(function, [&](const Node &node) {
    ++record.kinds[node.getKindName().str()].last;
  });
  record.graphPhase = phase;
  record.graph.clear();
  llvm::raw_string_ostream os(record.graph);
  printGraphTree(os, function, getElementId(record, ""));
}

/// The passes that have run since the last phase are those of \p phase.
static void placePasses(ProgramRecord &record, Phase phase) {
  for (PassRecord &pass : llvm::reverse(record.passes)) {
    if (pass.isPlaced)
      break;
    pass.phase = phase;
    pass.isPlaced = true;
  }
}

void Report::afterPhase(Phase phase, const Compilation &compilation,
                        const GraphStage &graph) {
  bool isFirst = phase == Phase::Import;
  ProgramRecord &record =
      isFirst ? beginRecord(compilation) : getRecord(compilation);
  if (isFirst)
    recordModel(record, graph);
  // A schedule changes no node; copies for rematerialization are not shown.
  if (phase != Phase::Schedule) {
    recordGraph(record, phase, graph.getFunction());
    record.lastSize = countNodes(graph.getFunction());
  }
  placePasses(record, phase);
}

void Report::afterPhase(Phase phase, const Compilation &compilation,
                        const IRProgram &program) {
  ProgramRecord &record = getRecord(compilation);
  record.lastSize = countInstrs(program.getIR());
  placePasses(record, phase);
}

void Report::afterPhase(Phase phase, const Compilation &compilation,
                        const PlannedProgram &program) {
  ProgramRecord &record = getRecord(compilation);
  record.planned = {&program.getIR(), &program.getPlan(),
                    &program.getBackend()};
  placePasses(record, phase);
}

void Report::afterWeightQuantization(
    const Compilation &compilation,
    llvm::ArrayRef<NodeOfQuantizedWeights> nodes) {
  getRecord(compilation).quantizedWeights = nodes.vec();
}

void Report::countPass(const PassRun &pass, ProgramRecord &record) {
  record.inner.changed |= pass.changed;
  record.inner.seconds += pass.seconds;
  if (pass.isOnBody)
    return;
  record.inner.pass = pass.name.str();
  record.inner.before = record.lastSize;
  record.inner.after = record.lastSize = pass.after;
  record.passes.push_back(std::move(record.inner));
  record.inner = PassRecord();
}

void Report::afterPass(const PassRun &pass, const Compilation &compilation,
                       Function &unit) {
  countPass(pass, getRecord(compilation));
}

void Report::afterPass(const PassRun &pass, const Compilation &compilation,
                       IRFunction &unit) {
  ProgramRecord &record = getRecord(compilation);
  countPass(pass, record);
  // The last run of the pass determines the record; later, buffers are shared.
  if (!pass.isOnBody && pass.name == "fuse-loops")
    record.unfusedLoops = describeUnfusedLoops(unit);
}

//===- The page -----------------------------------------------------------===//

void Report::printMemory(llvm::raw_ostream &os) const {
  std::vector<MappedProgram> mapped;
  for (const auto &record : programs)
    mapped.push_back({record->title.empty() ? title : record->title,
                      record->planned->function, record->planned->plan});
  printMemoryMap(os, mapped);
}

static void printProgram(PageWriter &page, const ProgramRecord &record,
                         bool hasTimes, const CodeSizes *sizes) {
  printModelSection(page, record);
  printQuantizedWeightSection(page, record);
  printPassSection(page, record, hasTimes);
  if (!record.planned)
    return printGraphSection(page, record);
  Timeline timeline(*record.planned->function, *record.planned->plan);
  printMemorySection(page, record);
  printCostSection(page, record, timeline, sizes);
  printUnfusedLoopSection(page, record);
  printScheduleSection(page, record, timeline);
  printGraphSection(page, record);
  printConstantSection(page, record, timeline);
}

void Report::printFacts(llvm::raw_ostream &os) const {
  HtmlTable table(os, {{"fact"}, {"value"}});
  for (const auto &[name, value] : facts)
    table.addRow(name, value);
}

void Report::print(llvm::raw_ostream &os) const {
  std::string content, navigation;
  llvm::raw_string_ostream contentStream(content), navigationStream(navigation);
  PageWriter page{contentStream, {}};
  printFacts(contentStream);
  std::vector<const ProgramRecord *> records;
  for (const auto &record : programs) {
    printProgram(page, *record, hasTimes, codeSizes ? &*codeSizes : nullptr);
    records.push_back(record.get());
  }
  if (codeSizes)
    printCodeSection(page, records, *codeSizes);
  for (const PageWriter::Entry &entry : page.contents) {
    printLink(navigationStream, entry.id, entry.heading);
    navigationStream << '\n';
  }
  std::string escapedTitle;
  llvm::raw_string_ostream titleStream(escapedTitle);
  printEscaped(titleStream, title);
  // The template is markup with the names of its parts in double braces.
  llvm::StringRef rest = pageText;
  while (!rest.empty()) {
    auto [markup, after] = rest.split("{{");
    os << markup;
    auto [part, next] = after.split("}}");
    if (part == "title")
      os << escapedTitle;
    else if (part == "style")
      os << styleText;
    else if (part == "script")
      os << scriptText;
    else if (part == "navigation")
      os << navigation;
    else if (part == "content")
      os << content;
    else
      assert(part.empty() && "the template names an unknown part");
    rest = next;
  }
}
