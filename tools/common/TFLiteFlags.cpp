//===- TFLiteFlags.cpp - Flags of TensorFlow Lite models ------------------===//

#include "common/TFLiteFlags.h"
#include "common/ImportFlags.h"
#include "common/ValueOption.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Support/Error.h"

using namespace glowish;
namespace cl = llvm::cl;

static ValueOption<bool>
    floatInputs("tflite-float-inputs",
                cl::desc("Quantized inputs of a TensorFlow Lite model become "
                         "floats"),
                cl::cat(modelCategory));
static ValueOption<bool>
    floatOutputs("tflite-float-outputs",
                 cl::desc("Quantized outputs of a TensorFlow Lite model become "
                          "floats"),
                 cl::cat(modelCategory));
static ValueOption<bool>
    uint8ToInt8("tflite-uint8-to-int8",
                cl::desc("Inputs and outputs of uint8 of a TensorFlow Lite "
                         "model become int8: the numbers less 128"),
                cl::cat(modelCategory));
static ValueOption<bool>
    renameTensors("tflite-rename-tensors",
                  cl::desc("Name the tensors of a TensorFlow Lite model "
                           "tensorN, by their numbers in the file"),
                  cl::cat(modelCategory));
static ValueOption<bool>
    floatSoftmax("tflite-float-softmax",
                 cl::desc("Compute a softmax of bytes of a TensorFlow Lite "
                          "model in float"),
                 cl::cat(modelCategory));
static ValueOption<double> biasTolerance(
    "tflite-bias-scale-check-max-error",
    cl::desc("The relative error that the scale of a bias of a TensorFlow Lite "
             "model may have: it should be that of the input times that of the "
             "weights"),
    cl::value_desc("number"), cl::init(1e-6), cl::cat(modelCategory));
static ValueOption<bool> biasErrors(
    "tflite-bias-scale-check-throw-error",
    cl::desc("A larger error of the scale of a bias ends the compilation; "
             "otherwise it is a warning (default: true)"),
    cl::init(true), cl::cat(modelCategory));

llvm::Expected<TFLiteOptions> glowish::readTFLiteFlags(llvm::StringRef path) {
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &floatInputs, &floatOutputs, &uint8ToInt8, &renameTensors,
           &floatSoftmax, &biasTolerance, &biasErrors})
    if (option->getNumOccurrences() && !isTFLitePath(path))
      return makeError("-{0}: '{1}' is no TensorFlow Lite model, which ends in "
                       ".tflite",
                       option->ArgStr, path);
  return TFLiteOptions{.hasFloatInputs = floatInputs,
                       .hasFloatOutputs = floatOutputs,
                       .turnsUInt8ToInt8 = uint8ToInt8,
                       .renamesTensors = renameTensors,
                       .hasFloatSoftmax = floatSoftmax,
                       .biasScaleTolerance = biasTolerance,
                       .refusesBiasScales = biasErrors};
}
