//===- RunResults.h - Writes and checks outputs -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_RUNRESULTS_H
#define GLOWISH_TOOLS_COMMON_RUNRESULTS_H

#include "glowish/Driver/Session.h"
#include "glowish/Importer/ImportOptions.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory runCategory;

/// Whether -output-dir, -expect or -test-data says what outputs are for.
bool asksForResults();
/// Whether -output-dir is given, and nothing that outputs are compared with.
bool asksForOutputsAlone();

/// A file and its contents.
struct OutputFile {
  std::string path;
  std::string bytes;
};
/// What writeOutputs() writes: files in -output-dir/SUBFOLDER.
llvm::Expected<std::vector<OutputFile>>
encodeOutputs(const Session &session, llvm::ArrayRef<SequenceOutput> sequences,
              const std::string &subfolder);
/// Writes \p files, with the folders that they are in.
llvm::Error writeOutputFiles(llvm::ArrayRef<OutputFile> files);

/// Writes the outputs to -output-dir, if it is given. \p subfolder: where
/// several variants run, the variant's.
/// \p sequences: the outputs of the model that are sequences.
llvm::Error writeOutputs(const Session &session,
                         llvm::ArrayRef<SequenceOutput> sequences = {},
                         const std::string &subfolder = "");
/// Compares with what -expect and -test-data give; returns the exit code.
llvm::Expected<int> checkOutputs(const Session &session,
                                 llvm::ArrayRef<SequenceOutput> sequences = {});

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_RUNRESULTS_H
