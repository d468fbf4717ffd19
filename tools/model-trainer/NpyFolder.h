//===- NpyFolder.h - Samples in arrays --------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_NPYFOLDER_H
#define GLOWISH_TOOLS_MODEL_TRAINER_NPYFOLDER_H

#include "model-trainer/DataSet.h"

namespace glowish {

/// Reads \p folder with arrays: NAME.npy for each input (or x.npy for the only
/// one) and one for the label.
llvm::Expected<DataSet> readNpyFolder(llvm::StringRef folder,
                                      const DataRequest &request);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_NPYFOLDER_H
