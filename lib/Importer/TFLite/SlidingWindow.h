//===- SlidingWindow.h - Sliding windows over images ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_SLIDINGWINDOW_H
#define GLOWISH_LIB_IMPORTER_TFLITE_SLIDINGWINDOW_H

#include "Common/SlidingWindows.h"
#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// Sets the pads of \p window over \p images [N, H, W, C], or returns an error
/// for numbers that are not positive, and for pads that a run decides.
llvm::Error placeWindow(ImageWindow &window, const Type &images,
                        schema::Padding padding);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_SLIDINGWINDOW_H
