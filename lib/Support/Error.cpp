//===- Error.cpp - User-facing errors -------------------------------------===//

#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

llvm::Error glowish::makeErrorOfText(llvm::StringRef message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 escapeControls(message));
}

//===- Messages with arguments --------------------------------------------===//

/// Prints \p value as formatv does.
template <typename T>
static void printAs(T value, llvm::raw_ostream &os, llvm::StringRef options) {
  llvm::support::detail::build_format_adapter(std::move(value))
      .format(os, options);
}

void ErrorArgument::printText(const ErrorArgument &argument,
                              llvm::raw_ostream &os, llvm::StringRef options) {
  printAs(argument.text, os, options);
}

void ErrorArgument::printSigned(const ErrorArgument &argument,
                                llvm::raw_ostream &os,
                                llvm::StringRef options) {
  printAs(int64_t(argument.integer), os, options);
}

void ErrorArgument::printUnsigned(const ErrorArgument &argument,
                                  llvm::raw_ostream &os,
                                  llvm::StringRef options) {
  printAs(argument.integer, os, options);
}

namespace {

struct ArgumentAdapter : llvm::support::detail::format_adapter {
  explicit ArgumentAdapter(const ErrorArgument &argument)
      : argument(argument) {}
  void format(llvm::raw_ostream &os, llvm::StringRef options) override {
    argument.format(os, options);
  }
  const ErrorArgument &argument;
};

/// A formatv_object of arguments whose number is known at run time.
struct Message : llvm::formatv_object_base {
  Message(const char *format,
          llvm::ArrayRef<llvm::support::detail::format_adapter *> adapters)
      : llvm::formatv_object_base(format, adapters) {}
};

} // namespace

llvm::Error glowish::makeErrorOf(const char *format,
                                 llvm::ArrayRef<ErrorArgument> arguments) {
  llvm::SmallVector<ArgumentAdapter, 4> adapters(arguments.begin(),
                                                 arguments.end());
  llvm::SmallVector<llvm::support::detail::format_adapter *, 4> pointers;
  for (ArgumentAdapter &adapter : adapters)
    pointers.push_back(&adapter);
  return makeErrorOfText(Message(format, pointers).str());
}

//===- Errors of errors ---------------------------------------------------===//

llvm::Error glowish::addContext(llvm::Error error, const llvm::Twine &prefix) {
  llvm::Error result = llvm::Error::success();
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    result = llvm::joinErrors(std::move(result),
                              makeErrorOfText(prefix.str() + info.message()));
  });
  return result;
}

int glowish::reportError(llvm::Error error) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    llvm::SmallVector<llvm::StringRef> lines;
    // Errors of libraries are not escaped yet.
    std::string message = escapeControls(info.message());
    llvm::StringRef(message).rtrim().split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i)
      os << (i ? "  " : "error: ") << lines[i] << '\n';
  });
  llvm::errs() << text;
  // If writing to stderr failed as well, the exit code has to be enough; the
  // stream's destructor would otherwise abort the process.
  llvm::errs().clear_error();
  return 1;
}
