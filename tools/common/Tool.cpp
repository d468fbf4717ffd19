//===- Tool.cpp - What every command line does ----------------------------===//

#include "common/Tool.h"
#include "glowish/Support/DebugOutput.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <unistd.h>

using namespace glowish;
namespace cl = llvm::cl;

namespace {

/// Takes LLVM's own options off the command line: they are for people who
/// debug LLVM, and some have names that we need (-print-after). Constructed
/// before every option of ours.
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
static cl::list<std::string>
    debugTypes("debug-only",
               cl::desc("Print debugging output to stderr: phases, passes, "
                        "patches (of -max-activation-bytes), constants (that "
                        "variants share)"),
               cl::value_desc("type,..."), cl::CommaSeparated,
               cl::cat(generalCategory));
static cl::opt<bool> isVerbose("verbose",
                               cl::desc("The same as -debug-only=phases"),
                               cl::cat(generalCategory));

static llvm::Error enableDebugTypes() {
  std::vector<std::string> types = debugTypes;
  if (isVerbose)
    types.push_back("phases");
  return addContext(enableDebugOutput(types), "-debug-only: ");
}

/// Without memory there is nothing to go back to: one line, and no files left
/// behind.
static void endWithoutMemory(void *, const char *, bool) {
  static constexpr llvm::StringLiteral message = "error: out of memory\n";
  (void)!write(STDERR_FILENO, message.data(), message.size());
  llvm::sys::RunInterruptHandlers();
  _exit(ExitCode::failure);
}

int glowish::runTool(int argc, char **argv, llvm::StringRef overview,
                     llvm::ArrayRef<cl::OptionCategory *> categories,
                     std::function<llvm::Expected<int>()> body) {
  llvm::InitLLVM init(argc, argv);
  // InitLLVM has made operator new call it too.
  llvm::install_bad_alloc_error_handler(endWithoutMemory);
  // Writing beyond the file size limit is then an error like a full disk, and
  // not a crash.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::SmallVector<const cl::OptionCategory *> shown(categories.begin(),
                                                      categories.end());
  shown.push_back(&generalCategory);
  cl::HideUnrelatedOptions(shown);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "glowish " GLOWISH_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
  });
  std::string message;
  llvm::raw_string_ostream errors(message);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errors))
    return reportError(makeError("{0}", llvm::StringRef(message).trim()));
  if (llvm::Error error = enableDebugTypes())
    return reportError(std::move(error));
  llvm::Expected<int> code = body();
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    std::error_code reason = llvm::outs().error();
    llvm::outs().clear_error();
    llvm::consumeError(code.takeError());
    return reportError(
        makeError("cannot write to stdout: {0}", reason.message()));
  }
  return code ? *code : reportError(code.takeError());
}
