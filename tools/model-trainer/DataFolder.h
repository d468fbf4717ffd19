//===- DataFolder.h - Samples on disk ---------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_DATAFOLDER_H
#define GLOWISH_TOOLS_MODEL_TRAINER_DATAFOLDER_H

#include "model-trainer/DataSet.h"

namespace glowish {

/// Reads \p folder: either arrays (NpyFolder.h), or a folder of images for each
/// class (ImageFolder.h). An error names the file that is missing or does not
/// fit.
llvm::Expected<DataSet> readDataSet(llvm::StringRef folder,
                                    const DataRequest &request);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_DATAFOLDER_H
