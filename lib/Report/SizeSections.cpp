//===- SizeSections.cpp - How large constants and code are ----------------===//

#include "Sections.h"
#include "glowish/Support/Numbers.h"
#include "llvm/ADT/MapVector.h"

using namespace glowish;

/// The most users of one thing that are named.
static constexpr size_t mostNamed = 8;

//===- Constants ----------------------------------------------------------===//

void glowish::printConstantSection(PageWriter &page,
                                   const ProgramRecord &record,
                                   const Timeline &timeline) {
  llvm::MapVector<const Buffer *, std::vector<unsigned>> users;
  for (auto [i, step] : llvm::enumerate(timeline.getSteps()))
    for (const Buffer *buffer : step.instr->getOperands())
      if (buffer && buffer->getRoot()->getKind() == Buffer::Kind::Constant)
        users[buffer->getRoot()].push_back(unsigned(i));
  if (users.empty())
    return;
  HtmlSection section(page, getElementId(record, "constants"),
                      getHeading(record, "Constants"),
                      "In the order of the instructions that read them, as "
                      "they are in the bundle's weights. Equal ones share a "
                      "place.");
  HtmlTable table(page.os, {{"constant"},
                            {"type"},
                            {"bytes", /*isNumber=*/true},
                            {"offset", /*isNumber=*/true},
                            {"read by"}});
  const MemoryPlan &plan = *record.planned->plan;
  for (const auto &[buffer, steps] : users) {
    table.addRow(buffer->getName(), buffer->getType().str(),
                 uint64_t(buffer->getType().getSizeInBytes()),
                 plan.getOffset(buffer));
    llvm::raw_ostream &os = table.addMarkup();
    for (unsigned step : llvm::ArrayRef(steps).take_front(mostNamed)) {
      printLink(os, getStepId(record, step), std::to_string(step));
      os << ' ';
    }
    if (steps.size() > mostNamed)
      os << "and " << steps.size() - mostNamed << " more";
  }
}

//===- Code ---------------------------------------------------------------===//

namespace {

/// An instruction that a function computes.
struct CodeUser {
  const ProgramRecord *record;
  unsigned step;
  const Instruction *instr;
};

using CodeUsers = std::map<std::string, std::vector<CodeUser>>;

} // namespace

static CodeUsers findUsers(llvm::ArrayRef<const ProgramRecord *> records,
                           const CodeSizes &sizes) {
  CodeUsers users;
  for (const ProgramRecord *record : records) {
    if (!record->planned)
      continue;
    Timeline timeline(*record->planned->function, *record->planned->plan);
    for (auto [i, step] : llvm::enumerate(timeline.getSteps())) {
      auto found = sizes.kernels.find(step.instr);
      if (found == sizes.kernels.end())
        continue;
      for (const std::string &name : found->second)
        users[name].push_back({record, unsigned(i), step.instr});
    }
  }
  return users;
}

static void printUsers(llvm::raw_ostream &os, llvm::ArrayRef<CodeUser> users) {
  for (const CodeUser &user : users.take_front(mostNamed)) {
    os << "<div>";
    printLink(os, getStepId(*user.record, user.step),
              describeStep(user.step, *user.instr));
    if (!user.record->title.empty()) {
      os << ' ';
      printEscaped(os, user.record->title);
    }
    os << "</div>";
  }
  if (users.size() > mostNamed)
    os << "and " << users.size() - mostNamed << " more";
}

void glowish::printCodeSection(PageWriter &page,
                               llvm::ArrayRef<const ProgramRecord *> records,
                               const CodeSizes &sizes) {
  std::vector<std::pair<std::string, uint64_t>> functions(
      sizes.functions.begin(), sizes.functions.end());
  llvm::sort(functions, [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  uint64_t total = 0;
  for (const auto &[name, bytes] : functions)
    total += bytes;
  HtmlSection section(page, "code", "Code",
                      "The object has " + formatBytes(sizes.objectBytes) +
                          ", of which functions are " + formatBytes(total) +
                          "; the largest first. A function of no instruction "
                          "is the entry, a body, or LLVM's.");
  HtmlTable table(page.os, {{"function"},
                            {"bytes", /*isNumber=*/true},
                            {"instructions", /*isNumber=*/true},
                            {"of"}});
  CodeUsers users = findUsers(records, sizes);
  for (const auto &[name, bytes] : functions) {
    table.addRow(name);
    table.addBar(double(bytes), std::to_string(bytes),
                 total ? double(bytes) / double(total) : 0);
    auto found = users.find(name);
    table.addNumber(uint64_t(found == users.end() ? 0 : found->second.size()));
    llvm::raw_ostream &os = table.addMarkup();
    if (found != users.end())
      printUsers(os, found->second);
  }
}
