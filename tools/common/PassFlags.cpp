//===- PassFlags.cpp - Flags about single passes --------------------------===//

#include "common/PassFlags.h"
#include "common/CommonOptions.h"
#include "common/ValueOption.h"
#include "glowish/IR/Passes.h"
#include <deque>

using namespace glowish;
namespace cl = llvm::cl;

namespace {

/// The flags for the passes of one kind, "graph" or "ir". All are there for
/// the graph and for the IR.
class PassFlags {
public:
  explicit PassFlags(llvm::StringRef unit)
      : printBefore(*this, "dump-" + unit + "-before",
                    "Print before passes: all, or these"),
        printAfter(*this, "dump-" + unit + "-after",
                   "Print after passes: all, or these"),
        verifyBefore(*this, "verify-before", unit,
                     "Verify before passes: all, or these"),
        verifyAfter(*this, "verify-after", unit,
                    "Verify after passes: all, or these"),
        printNames(keep("print-" + unit + "-passes"),
                   cl::desc("Name passes as they run"), cl::Hidden,
                   cl::cat(debugCategory)),
        limit(keep("stop-" + unit + "-passes-after-num"),
              cl::desc("Run this many passes, and then only those that the "
                       "rest of the compilation needs"),
              cl::value_desc("N"), cl::Hidden, cl::cat(debugCategory)) {}

  /// \p table has all passes of the kind.
  template <typename Pass>
  llvm::Error read(llvm::ArrayRef<Pass> table, PassOptions &options) const {
    auto find = [&](llvm::StringRef name) {
      const Pass *pass = findPass(table, name);
      return pass ? pass->name : llvm::StringRef();
    };
    GLOWISH_RETURN_IF_ERROR(printBefore.read(find, options.printBefore));
    GLOWISH_RETURN_IF_ERROR(printAfter.read(find, options.printAfter));
    GLOWISH_RETURN_IF_ERROR(verifyBefore.read(find, options.verifyBefore));
    GLOWISH_RETURN_IF_ERROR(verifyAfter.read(find, options.verifyAfter));
    options.printNames = printNames;
    if (limit.getNumOccurrences())
      options.limit = limit.getValue();
    return llvm::Error::success();
  }

private:
  /// A flag for all passes, and one for some.
  class Selector {
  public:
    Selector(PassFlags &owner, const llvm::Twine &start, const char *what)
        : Selector(owner.keep(start + "-all-passes"),
                   owner.keep(start + "-passes"), what) {}
    Selector(PassFlags &owner, llvm::StringRef start, llvm::StringRef unit,
             const char *what)
        : Selector(owner.keep(start + "-all-" + unit + "-passes"),
                   owner.keep(start + "-" + unit + "-passes"), what) {}

    /// \p find: the name of the pass that is called so; empty if none is.
    llvm::Error read(llvm::function_ref<llvm::StringRef(llvm::StringRef)> find,
                     PassOptions::Selection &selection) const {
      selection.all = all;
      for (const std::string &name : some) {
        llvm::StringRef pass = find(name);
        if (pass.empty())
          return makeError("-{0}={1}: there is no such pass; `glowish-opt "
                           "-list-passes` lists them",
                           some.ArgStr, name);
        selection.names.insert(pass.str());
      }
      return llvm::Error::success();
    }

  private:
    Selector(llvm::StringRef allName, llvm::StringRef someName,
             const char *what)
        : all(allName, cl::desc(what), cl::Hidden, cl::cat(debugCategory)),
          some(someName, cl::desc(what), cl::value_desc("pass,..."),
               cl::CommaSeparated, cl::Hidden, cl::cat(debugCategory)) {}

    ValueOption<bool> all;
    cl::list<std::string> some;
  };

  /// Options refer to their names.
  llvm::StringRef keep(const llvm::Twine &name) {
    return names.emplace_back(name.str());
  }

  std::deque<std::string> names;
  Selector printBefore, printAfter, verifyBefore, verifyAfter;
  ValueOption<bool> printNames;
  ValueOption<uint64_t> limit;
};

} // namespace

static PassFlags graphFlags("graph");
static PassFlags irFlags("ir");

static ValueOption<bool> optimizeIR("optimize-ir",
                                    cl::desc("Run IR passes (default)"),
                                    cl::init(true), cl::Hidden,
                                    cl::cat(debugCategory));
static ValueOption<ScheduleStrategy>
    schedule(cl::desc("Order of the nodes (default: the best of several)"),
             cl::init(ScheduleStrategy::Best),
             cl::values(clEnumValN(ScheduleStrategy::ChildMemSize,
                                   "child-mem-size-based",
                                   "By the memory that operands need"),
                        clEnumValN(ScheduleStrategy::PostOrder,
                                   "topological-sort-based", "Post-order")),
             cl::Hidden, cl::cat(debugCategory));
static ValueOption<bool> reusesActivations(
    "reuse-activation-memory-allocations",
    cl::desc("Let activations have the place of dead ones (default)"),
    cl::init(true), cl::Hidden, cl::cat(debugCategory));
static ValueOption<uint64_t> maxMergedElements(
    "const-dedup-size",
    cl::desc("Merge equal constants up to this number of elements (default 0: "
             "of any)"),
    cl::value_desc("N"), cl::init(0), cl::Hidden, cl::cat(debugCategory));

llvm::Error glowish::readPassFlags(CompilationOptions &options) {
  GLOWISH_RETURN_IF_ERROR(
      graphFlags.read(getGraphPasses(), options.graphPasses));
  GLOWISH_RETURN_IF_ERROR(irFlags.read(getIRPasses(), options.irPasses));
  if (!optimizeIR)
    options.irPasses.limit = 0;
  options.schedule = schedule;
  options.reusesActivations = reusesActivations;
  if (maxMergedElements)
    options.maxMergedElements = int64_t(std::min<uint64_t>(
        maxMergedElements, std::numeric_limits<int64_t>::max()));
  return llvm::Error::success();
}
