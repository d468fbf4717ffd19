//===- CompilationSections.cpp - Report sections of a compilation ---------===//

#include "Sections.h"
#include "glowish/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

std::string glowish::getElementId(const ProgramRecord &record,
                                  llvm::StringRef name) {
  return ("p" + llvm::Twine(record.number) + "-" + name).str();
}

std::string glowish::getHeading(const ProgramRecord &record,
                                llvm::StringRef what) {
  return record.title.empty() ? what.str() : (what + ", " + record.title).str();
}

//===- The model ----------------------------------------------------------===//

static void printStorage(llvm::raw_ostream &os, const ProgramRecord &record) {
  HtmlTable table(
      os,
      {{"input or output"}, {"name"}, {"type"}, {"bytes", /*isNumber=*/true}});
  for (const StorageRecord &storage : record.storage) {
    llvm::StringRef role = storage.isInput && storage.isOutput ? "both"
                           : storage.isInput                   ? "input"
                           : storage.isOutput                  ? "output"
                                                               : "state";
    table.addRow(role, storage.name, storage.type, storage.bytes);
  }
}

static void printKinds(llvm::raw_ostream &os, const ProgramRecord &record) {
  std::string last = ("after " + getPhaseName(record.graphPhase)).str();
  HtmlTable table(os, {{"operator"},
                       {"nodes imported", /*isNumber=*/true},
                       {last, /*isNumber=*/true}});
  for (const auto &[kind, count] : record.kinds)
    table.addRow(kind, uint64_t(count.imported), uint64_t(count.last));
}

static void printPlanFacts(HtmlTable &facts, const ProgramRecord &record) {
  const MemoryPlan &plan = *record.planned->plan;
  Cost cost;
  size_t numInstrs = 0;
  for (const Instruction &instr : record.planned->function->getInstrs()) {
    cost += getCost(instr);
    numInstrs += !instr.isLifetimeMarker();
  }
  facts.addRow("instructions", std::to_string(numInstrs));
  facts.addRow("constants of the program", formatExactBytes(plan.constantSize));
  bool isIOInArena = !plan.arenaPlaceholders.empty();
  facts.addRow(isIOInArena ? "states" : "inputs and outputs",
               formatExactBytes(plan.mutableSize));
  facts.addRow(isIOInArena ? "arena, with inputs and outputs" : "arena",
               formatExactBytes(plan.activationSize));
  for (auto [i, region] : llvm::enumerate(plan.arenaRegions))
    facts.addRow("region " + region.name + " of the arena",
                 llvm::formatv("{0}, {1:P1} of the accesses, as estimated",
                               formatExactBytes(region.size),
                               plan.getAccessShare(i)));
  facts.addRow("largest live set",
               llvm::formatv("{0}, {1:P1} of the arena",
                             formatExactBytes(plan.peakLiveBytes),
                             plan.getEfficiency()));
  facts.addRow("floating-point operations",
               formatShort(1e-6 * cost.flops) + " million");
  facts.addRow("bytes read and written", formatBytes(uint64_t(cost.bytes)));
  if (const auto &profile = record.profile)
    facts.addRow("measured",
                 llvm::formatv("{0} runs, median {1:F3} ms", profile->numRuns,
                               1e3 * profile->runSeconds));
}

static size_t countImported(const ProgramRecord &record) {
  size_t count = 0;
  for (const auto &[kind, nodes] : record.kinds)
    count += nodes.imported;
  return count;
}

void glowish::printModelSection(PageWriter &page, const ProgramRecord &record) {
  HtmlSection section(page, getElementId(record, "model"),
                      getHeading(record, "Model"));
  page.os << "<div class=\"beside\">\n";
  {
    HtmlTable facts(page.os, {{"fact"}, {"value"}});
    facts.addRow("nodes imported", std::to_string(countImported(record)));
    facts.addRow("constants of the model",
                 llvm::formatv("{0}, {1} elements, {2}", record.numConstants,
                               record.constantElements,
                               formatExactBytes(record.constantBytes)));
    if (record.planned)
      printPlanFacts(facts, record);
  }
  printStorage(page.os, record);
  printKinds(page.os, record);
  page.os << "</div>\n";
}

//===- The graph ----------------------------------------------------------===//

void glowish::printGraphSection(PageWriter &page, const ProgramRecord &record) {
  if (record.graph.empty())
    return;
  HtmlSection section(
      page, getElementId(record, "graph"), getHeading(record, "Graph"),
      llvm::formatv("After the phase {0}, in order. Names up to a slash or a "
                    "dot are groups.",
                    getPhaseName(record.graphPhase))
          .str());
  std::string id = getElementId(record, "nodes");
  page.os << "<p><button data-fold=\"" << id
          << "\">Fold all</button> <button data-unfold=\"" << id
          << "\">Unfold all</button></p>\n<div class=\"graph\" id=\"" << id
          << "\">\n"
          << record.graph << "</div>\n";
}

//===- Quantized weights --------------------------------------------------===//

void glowish::printQuantizedWeightSection(PageWriter &page,
                                          const ProgramRecord &record) {
  if (record.quantizedWeights.empty())
    return;
  HtmlSection section(
      page, getElementId(record, "weights"),
      getHeading(record, "Quantized weights"),
      "The nodes whose weights alone are quantized. The error is the root of "
      "the mean square, as a share of that of the weights.");
  HtmlTable table(page.os, {{"node"},
                            {"operator"},
                            {"weights"},
                            {"block", /*isNumber=*/true},
                            {"error", /*isNumber=*/true}});
  for (const NodeOfQuantizedWeights &node : record.quantizedWeights) {
    table.addRow(node.name, getNodeInfo(node.kind).name, node.type.str(),
                 uint64_t(node.block));
    table.addNumber(node.error, llvm::formatv("{0:P2}", node.error).str());
  }
}

//===- The passes ---------------------------------------------------------===//

void glowish::printPassSection(PageWriter &page, const ProgramRecord &record,
                               bool hasTimes) {
  if (record.passes.empty())
    return;
  HtmlSection section(
      page, getElementId(record, "passes"), getHeading(record, "Passes"),
      "In the order in which they ran: on nodes until the phase lower, on "
      "instructions in optimize-ir. Marks of lifetimes are no instructions, "
      "and "
      "those of bodies count.");
  std::string box = getElementId(record, "idle");
  page.os << "<p><input type=\"checkbox\" class=\"idle\" id=\"" << box
          << "\"><label for=\"" << box
          << "\"> also those that changed nothing</label></p>\n";
  std::vector<Column> columns = {{"phase"},
                                 {"pass"},
                                 {"before", /*isNumber=*/true},
                                 {"after", /*isNumber=*/true},
                                 {"difference", /*isNumber=*/true},
                                 {"changed"}};
  if (hasTimes)
    columns.push_back({"ms", /*isNumber=*/true});
  HtmlTable table(page.os, columns, "passes");
  for (const PassRecord &pass : record.passes) {
    table.beginRow("", pass.changed ? "" : "idle");
    table.addText(getPhaseName(pass.phase));
    table.addText(pass.pass);
    table.addNumber(uint64_t(pass.before));
    table.addNumber(uint64_t(pass.after));
    auto difference = int64_t(pass.after) - int64_t(pass.before);
    table.addNumber(double(difference),
                    (difference > 0 ? "+" : "") + std::to_string(difference));
    table.addText(pass.changed ? "yes" : "no");
    if (hasTimes)
      table.addNumber(pass.seconds, formatFixed(1e3 * pass.seconds, 3));
  }
}

//===- What was not fused -------------------------------------------------===//

void glowish::printUnfusedLoopSection(PageWriter &page,
                                      const ProgramRecord &record) {
  if (!record.planned)
    return;
  HtmlSection section(
      page, getElementId(record, "unfused"), getHeading(record, "Unfused"),
      record.unfusedLoops.empty()
          ? "No element-wise loop is left beside the instructions."
          : "Element-wise loops that are instructions of their own, and what "
            "kept them from the convolution, matmul, normalization or loop "
            "that makes an input of theirs.");
  if (record.unfusedLoops.empty())
    return;
  HtmlTable table(page.os, {{"loop"}, {"type"}, {"program"}, {"why"}});
  for (const UnfusedLoopText &loop : record.unfusedLoops) {
    table.addRow(loop.name, loop.type);
    printElement(table.addMarkup(), "code", "",
                 llvm::StringRef(loop.program).ltrim());
    llvm::raw_ostream &why = table.addMarkup();
    if (loop.missedFusions.empty())
      why << "no such instruction makes an input of it";
    for (const auto &[producer, reason] : loop.missedFusions)
      printElement(why, "div", "", producer + ": " + reason);
  }
}
