//===- ImageFolder.h - Samples in images ------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_IMAGEFOLDER_H
#define GLOWISH_TOOLS_MODEL_TRAINER_IMAGEFOLDER_H

#include "model-trainer/DataSet.h"

namespace glowish {

/// Reads \p folder with a folder of images for each class.
llvm::Expected<DataSet> readImageFolder(llvm::StringRef folder,
                                        const DataRequest &request);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_IMAGEFOLDER_H
