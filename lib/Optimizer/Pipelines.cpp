//===- Pipelines.cpp - The graph passes and their order -------------------===//

#include "glowish/Optimizer/Passes.h"
#include "glowish/Support/PassRegistry.h"

using namespace glowish;

using GraphPassRegistry = PassRegistry<Function, GraphPassContext>;

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static GraphPassRegistry &getRegistry() {
  static GraphPassRegistry registry({
#define GRAPH_PASS(FUNCTION, NAME, EXACTNESS, DOC)                             \
  {NAME, Exactness::EXACTNESS, DOC, FUNCTION},
#define GRAPH_PASS_WITH_ARGUMENT(FUNCTION, NAME, FORM, EXACTNESS, DOC)         \
  {NAME, Exactness::EXACTNESS, DOC, nullptr, FORM, FUNCTION},
#include "glowish/Optimizer/Passes.def"
  });
  return registry;
}

llvm::ArrayRef<GraphPass> glowish::getGraphPasses() {
  return getRegistry().getPasses();
}

GraphPassRegistration::GraphPassRegistration(const GraphPass &pass) {
  getRegistry().add(pass);
}

const Pipeline &glowish::getOptimizePipeline() {
  static const Pipeline pipeline = {
      {{"dce", "arrange-rows", "recognize-integer-arithmetic",
        "recognize-quantized-weights", "constant-fold", "simplify-control",
        "cse"},
       /*toFixedPoint=*/false},
      {{"canonicalize", "hoist-over-slices", "simplify-elementwise",
        "recognize-activation", "recognize-softmax",
        "recognize-group-normalization", "sink-transposes", "sink-reshapes",
        "sink-shuffles", "simplify-quantization", "constant-fold",
        "simplify-control", "fold-pad", "fold-arithmetic", "cse"},
       /*toFixedPoint=*/true},
      // On images, after transposes have been sunk.
      {{"recognize-normalization", "recognize-attention", "constant-fold"},
       /*toFixedPoint=*/true},
      // After attentions have taken the factors of queries and keys.
      {{"simplify-matmuls", "constant-fold"}, /*toFixedPoint=*/true},
      // Before matmuls of which all rows are needed take in others.
      {{"bubble-up-slices", "canonicalize", "constant-fold", "cse"},
       /*toFixedPoint=*/true},
      // After all patterns that a concatenation may be a part of.
      {{"sink-concats", "sink-transposes", "canonicalize", "constant-fold"},
       /*toFixedPoint=*/true},
      {{"merge-matmuls", "constant-fold", "dce"}, /*toFixedPoint=*/false},
  };
  return pipeline;
}

const Pipeline &glowish::getTrainingPipeline() {
  static const Pipeline pipeline = {
      {{"canonicalize", "sink-transposes", "constant-fold", "cse"},
       /*toFixedPoint=*/true},
      // Gradients are of what is computed for the bounds.
      {{"lower-extents", "close-extents"},
       /*toFixedPoint=*/false,
       /*required=*/{"lower-extents", "close-extents"}},
      {{"dce"}, /*toFixedPoint=*/false},
  };
  return pipeline;
}

const Pipeline &glowish::getQuantizationPipeline() {
  static const Pipeline pipeline = {
      // What is quantized already stays so.
      {{"dce", "arrange-rows", "recognize-integer-arithmetic",
        "recognize-quantized-weights", "constant-fold", "simplify-control",
        "cse"},
       /*toFixedPoint=*/false},
      // An activation is one node, whose steps are not quantized.
      {{"canonicalize", "simplify-elementwise", "recognize-activation",
        "recognize-softmax", "recognize-group-normalization", "sink-transposes",
        "sink-reshapes", "constant-fold", "fold-pad", "fold-arithmetic", "cse"},
       /*toFixedPoint=*/true},
      {{"recognize-normalization", "constant-fold"}, /*toFixedPoint=*/true},
      // Its operands and its weights are quantized.
      {{"expand-attention", "dce"}, /*toFixedPoint=*/false},
  };
  return pipeline;
}

const Pipeline &glowish::getActivationPipeline() {
  static const Pipeline pipeline = {
      {{"quantize-activations"},
       /*toFixedPoint=*/false,
       /*required=*/{"quantize-activations"}},
  };
  return pipeline;
}

const Pipeline &glowish::getLowerPipeline() {
  static const Pipeline pipeline = {
      {{"lower-extents"},
       /*toFixedPoint=*/false,
       /*required=*/{"lower-extents"}},
      {{"lower", "canonicalize", "sink-transposes", "transpose-to-reshape",
        "sink-reshapes", "constant-fold", "simplify-control", "fold-arithmetic",
        "cse"},
       /*toFixedPoint=*/true,
       /*required=*/{"lower"}},
      // Once fully connected layers are MatMul, and functions of bytes as
      // simple as they get.
      {{"batch-sequence-matmuls", "canonicalize", "tabulate-byte-functions",
        "dce"},
       /*toFixedPoint=*/false},
  };
  return pipeline;
}
