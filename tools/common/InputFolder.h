//===- InputFolder.h - Inputs of several runs -------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_INPUTFOLDER_H
#define GLOWISH_TOOLS_COMMON_INPUTFOLDER_H

#include "common/GivenInputs.h"

namespace glowish {

/// The files of -input-dir for one run: the first inputs in order, and others
/// by name.
struct InputSet {
  /// Of the file or the folder, without a file's ending.
  std::string name;
  std::vector<std::string> inOrder;
  std::vector<NamedFile> byName;
};

/// The sets of -input-dir, in the order of their names: each .npy or .pb file
/// is the first input, and each folder with such files has input_K or NAME
/// for the K-th input or that of the name; output_K is left out. Empty without
/// the flag. An error if the folder has none.
llvm::Expected<std::vector<InputSet>> listInputSets();

/// Adds the tensors of \p set to \p given; an error if it has one by that name.
llvm::Error readInputSet(const InputSet &set, GivenTensors &given);

/// An error if a file of \p set is not read: for an input that \p session does
/// not have, or that \p given has by name.
llvm::Error checkInputSet(const InputSet &set, const GivenTensors &given,
                          const Session &session);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_INPUTFOLDER_H
