// glog_host MODEL [LEVEL]: a program with glog of its own, which imports MODEL
// and compiles it for the interpreter, and with LEVEL has the compiler's log
// there. Exits with 1 if its flags of glog have changed.
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Support/Log.h"
#include <cstdlib>
#include <glog/logging.h>

using namespace glowish;

static void logLine(const LogLine &line) {
  google::LogMessage(line.file, line.number,
                     line.severity == LogSeverity::Warning
                         ? google::GLOG_WARNING
                         : google::GLOG_INFO)
          .stream()
      << line.text.str();
}

static llvm::Error compile(const char *path) {
  std::unique_ptr<Backend> backend = createInterpreter();
  Compilation compilation(*backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(path, ImportOptions()));
  return compilation.compile(std::move(graph)).takeError();
}

int main(int argc, char **argv) {
  FLAGS_logtostderr = true;
  FLAGS_v = 2;
  google::InitGoogleLogging(argv[0]);
  VLOG(2) << "of the program";
  if (argc > 2)
    setLog(logLine, {.verbosity = std::atoi(argv[2])});
  if (llvm::Error error = compile(argv[1]))
    return reportError(std::move(error));
  VLOG(3) << "not logged";
  return FLAGS_v == 2 && FLAGS_logtostderr && FLAGS_minloglevel == 0 ? 0 : 1;
}
