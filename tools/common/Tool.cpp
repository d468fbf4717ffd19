//===- Tool.cpp - Common main function of the tools -----------------------===//

#include "common/Tool.h"
#include "common/Glog.h"
#include "common/GlowFlags.h"
#include "common/Processes.h"
#include "common/ValueOption.h"
#include "glowish/Backends/CPU/FatalErrors.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Progress.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace glowish;
namespace cl = llvm::cl;

namespace {

/// Takes LLVM's own options off the command line: they are for debugging LLVM,
/// and some have names that we need (-print-after). Constructed before every
/// option of ours.
struct LLVMOptionRemover {
  LLVMOptionRemover() {
    std::vector<cl::Option *> options;
    for (const auto &entry : cl::getRegisteredOptions())
      if (!llvm::StringRef(entry.first()).starts_with("help") &&
          entry.first() != "version")
        options.push_back(entry.second);
    for (cl::Option *option : options)
      option->removeArgument();
  }
};

} // namespace

__attribute__((init_priority(101))) static LLVMOptionRemover llvmOptionRemover;

static cl::OptionCategory generalCategory("General options");
static ValueOption<int>
    verbosity("v",
              cl::desc("Log to stderr what is decided and how large it gets "
                       "(1), also passes (2), also details (3)"),
              cl::value_desc("level"), inRange(0, LogLevels::most),
              cl::cat(generalCategory));
static cl::opt<std::string> moduleLevels(
    "vmodule",
    cl::desc("Log source files whose names fit a pattern with another level"),
    cl::value_desc("pattern=level,..."), cl::cat(generalCategory));
static ValueOption<bool> isVerbose("verbose", cl::desc("The same as -v=1"),
                                   cl::cat(generalCategory));

/// Begins to log if options ask for it.
static llvm::Error startLog(const char *program) {
  LogLevels levels = {.verbosity =
                          std::max(verbosity.getValue(), isVerbose ? 1 : 0)};
  if (moduleLevels.getNumOccurrences()) {
    auto modules = parseLogModules(moduleLevels);
    if (!modules)
      return addContext(modules.takeError(), "-vmodule: ");
    levels.modules = std::move(*modules);
  }
  if (levels.verbosity == 0 && levels.modules.empty())
    return llvm::Error::success();
  startGlog(program, std::move(levels));
  return llvm::Error::success();
}

/// Ends the process with one line where there is nothing to go back to; no
/// files are left behind.
[[noreturn]] static void endWithLine(llvm::StringRef line) {
  (void)!write(STDERR_FILENO, line.data(), line.size());
  llvm::sys::RunInterruptHandlers();
  _exit(ExitCode::failure);
}

static void endWithoutMemory(void *, const char *, bool) {
  endWithLine("error: out of memory\n");
}

static void endOverFatalError(void *, const char *reason, bool) {
  Progress::clearShown();
  endWithLine("error: " + describeFatalError(reason) + "\n");
}

/// Large tensors are mappings of their own, so that the system has their memory
/// back when they are gone. glibc would take them from the heap after the first
/// one that is freed.
static void mapLargeTensors() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int glowish::reportToolError(llvm::Error error) {
  return reportError(spellSettings(std::move(error), spellAsFlag));
}

//===- The command line ---------------------------------------------------===//

/// The error message that refuseValue stores; empty if there is none.
static std::string &getRefusal() {
  static std::string refusal;
  return refusal;
}

bool glowish::refuseValue(llvm::StringRef option, llvm::StringRef value,
                          const llvm::Twine &accepted) {
  return refuseLine("-" + option + "=" + value + ": accepted: " + accepted);
}

bool glowish::refuseLine(const llvm::Twine &message) {
  std::string &refusal = getRefusal();
  if (refusal.empty())
    refusal = message.str();
  return true;
}

/// The option that looks most like \p wrong.
static llvm::StringRef findNearest(llvm::StringRef wrong) {
  llvm::StringRef nearest;
  unsigned best = unsigned(wrong.size() + 1) / 2;
  for (const auto &entry : cl::getRegisteredOptions()) {
    if (entry.second->getOptionHiddenFlag() == cl::ReallyHidden)
      continue;
    unsigned distance = entry.first().edit_distance(wrong, true, best);
    // The map has no order, and the message has to be the same each time.
    if (distance < best || (distance == best && entry.first() < nearest)) {
      best = distance;
      nearest = entry.first();
    }
  }
  return nearest;
}

/// Finds what LLVM would report with more lines, or lines of its own: options
/// that there are not, and those without a value, or with one too many.
static llvm::Error checkArguments(llvm::ArrayRef<const char *> arguments) {
  const auto &options = cl::getRegisteredOptions();
  for (size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    if (argument == "--")
      break;
    if (argument == "-" || !argument.consume_front("-"))
      continue;
    argument.consume_front("-");
    llvm::StringRef name = argument.split('=').first;
    auto found = options.find(name);
    if (found == options.end()) {
      llvm::StringRef nearest = findNearest(name);
      return makeError("-{0}: there is no such option{1}; --help lists all",
                       argument,
                       nearest.empty() ? "" : " (-" + nearest.str() + " is)");
    }
    const cl::Option &option = *found->second;
    bool hasValue = argument.size() > name.size();
    cl::ValueExpected expected = option.getValueExpectedFlag();
    if (hasValue && expected == cl::ValueDisallowed)
      return makeError("-{0}: accepted: -{1}, without a value", argument, name);
    if (!hasValue && expected == cl::ValueRequired && ++i == arguments.size())
      return makeError("-{0}: the value is missing; accepted: -{0}=<{1}>", name,
                       option.ValueStr.empty() ? "value" : option.ValueStr);
  }
  return llvm::Error::success();
}

static llvm::Error parseCommandLine(int argc, char **argv,
                                    llvm::StringRef overview) {
  llvm::SmallVector<const char *> arguments(argv + 1, argv + argc);
  llvm::BumpPtrAllocator allocator;
  cl::ExpansionContext expansion(allocator, cl::TokenizeGNUCommandLine);
  GLOWISH_RETURN_IF_ERROR(expansion.expandResponseFiles(arguments));
  registerGlowFlags();
  GLOWISH_RETURN_IF_ERROR(checkArguments(arguments));
  std::string message;
  llvm::raw_string_ostream errors(message);
  if (cl::ParseCommandLineOptions(argc, argv, overview, &errors))
    return checkGlowFlags();
  if (!getRefusal().empty())
    return makeError("{0}", getRefusal());
  // "TOOL: Too many positional arguments specified!\nCan specify ..."
  llvm::StringRef text = llvm::StringRef(message).trim();
  text.consume_front((llvm::sys::path::filename(argv[0]) + ": ").str());
  std::string line = text.str();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return makeError("{0}", line);
}

static std::vector<llvm::Expected<bool> (*)()> &getListPrinters() {
  static std::vector<llvm::Expected<bool> (*)()> printers;
  return printers;
}

ListPrinter::ListPrinter(llvm::Expected<bool> (*print)()) {
  getListPrinters().push_back(print);
}

/// Whether a list was printed.
static llvm::Expected<bool> printLists() {
  for (auto *print : getListPrinters()) {
    GLOWISH_ASSIGN_OR_RETURN(bool printed, print());
    if (printed)
      return true;
  }
  return false;
}

/// Prints the list that is asked for, or else calls \p body with \p error or
/// what is wrong with the list.
static llvm::Expected<int>
runBody(llvm::Error error,
        llvm::function_ref<llvm::Expected<int>(llvm::Error)> body) {
  if (error)
    return body(std::move(error));
  llvm::Expected<bool> printed = printLists();
  if (printed && *printed)
    return ExitCode::success;
  return body(printed.takeError());
}

/// Calls \p body with what is wrong with the command line.
static int runMain(int argc, char **argv, llvm::StringRef overview,
                   llvm::ArrayRef<cl::OptionCategory *> categories,
                   llvm::function_ref<llvm::Expected<int>(llvm::Error)> body) {
  mapLargeTensors();
  llvm::InitLLVM init(argc, argv);
  // InitLLVM has made operator new call it too.
  llvm::install_bad_alloc_error_handler(endWithoutMemory);
  llvm::install_fatal_error_handler(endOverFatalError);
  // Writing beyond the file size limit is then an error like a full disk, and
  // not a crash.
  std::signal(SIGXFSZ, SIG_IGN);
  handleSignals();
  llvm::SmallVector<const cl::OptionCategory *> shown(categories.begin(),
                                                      categories.end());
  shown.push_back(&generalCategory);
  cl::HideUnrelatedOptions(shown);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "glowish " GLOWISH_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
  });
  llvm::Error error = parseCommandLine(argc, argv, overview);
  if (!error)
    error = startLog(argv[0]);
  llvm::Expected<int> code = runBody(std::move(error), body);
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    std::error_code reason = llvm::outs().error();
    llvm::outs().clear_error();
    llvm::consumeError(code.takeError());
    return reportError(
        makeError("cannot write to stdout: {0}", reason.message()));
  }
  return code ? *code : reportToolError(code.takeError());
}

int glowish::runTool(int argc, char **argv, llvm::StringRef overview,
                     llvm::ArrayRef<cl::OptionCategory *> categories,
                     llvm::function_ref<llvm::Expected<int>()> body) {
  return runMain(argc, argv, overview, categories,
                 [&](llvm::Error error) -> llvm::Expected<int> {
                   GLOWISH_RETURN_IF_ERROR(std::move(error));
                   return body();
                 });
}

int glowish::runGroupTool(
    int argc, char **argv, llvm::StringRef overview,
    llvm::ArrayRef<cl::OptionCategory *> categories,
    llvm::function_ref<llvm::Expected<int>(ProcessGroup *)> body) {
  return runMain(argc, argv, overview, categories, [&](llvm::Error error) {
    auto runAll = [&](ProcessGroup *group) -> llvm::Expected<int> {
      // If one only ended, the launcher would end also those that are yet to
      // report this.
      GLOWISH_RETURN_IF_ERROR(agree(group, std::move(error)));
      return body(group);
    };
    llvm::Expected<int> code = runInGroup(runAll);
    // Still there where the processes could not join.
    llvm::consumeError(std::move(error));
    return code;
  });
}
