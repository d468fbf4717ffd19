//===- main.cpp - A network that is built in C++ --------------------------===//
//
//   edges           compiles a network that finds edges, runs it on an image of
//                   a square and prints what it finds
//   edges FOLDER    writes the network as a bundle to FOLDER
//
// The network is built of nodes, without a model file: a convolution with the
// filters of Sobel, and the length of the gradient that they estimate.
//
//===----------------------------------------------------------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Graph/NodeBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

/// Height and width of the image.
static constexpr int64_t size = 16;

/// Returns a module with the input "image" and the output "edges", both NHWC.
static llvm::Expected<std::unique_ptr<Module>> buildNetwork() {
  auto module = std::make_unique<Module>("edges");
  Type imageType(ElemKind::Float, {1, size, size, 1});
  Placeholder *image = module->createPlaceholder(
      "image", imageType, /*isInput=*/true, /*isOutput=*/false);
  Placeholder *edges = module->createPlaceholder(
      "edges", imageType, /*isInput=*/false, /*isOutput=*/true);
  // Two filters of 3 x 3 pixels and one channel.
  Constant *filters = module->createConstant(
      "sobel",
      Tensor::fromValues<float>(Type(ElemKind::Float, {2, 3, 3, 1}),
                                {-1, 0, 1, -2, 0, 2, -1, 0, 1, /*second filter*/
                                 -1, -2, -1, 0, 0, 0, 1, 2, 1}));

  // The type rule of the node returns an error if operands and attributes do
  // not fit together.
  Function *function = module->createFunction("main");
  const int64_t strides[] = {1, 1}, pads[] = {1, 1, 1, 1}, dilations[] = {1, 1};
  GLOWISH_ASSIGN_OR_RETURN(
      ConvolutionNode *gradient,
      function->tryCreate<ConvolutionNode>("gradient", image, filters,
                                           /*bias=*/NodeValue(), strides, pads,
                                           dilations, /*group=*/1));
  // The builder creates nodes by expressions, and keeps the first error.
  NodeBuilder builder(*function, "length");
  NodeValue squares = builder.mul(gradient, gradient);
  NodeValue sum = builder.reduce(squares, "sum", /*axes=*/{3},
                                 /*keepDims=*/true);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue length,
                           builder.finish(builder.unary<SqrtNode>(sum)));
  GLOWISH_RETURN_IF_ERROR(
      function->tryCreate<SaveNode>("save", length, edges).takeError());
  return module;
}

/// Returns the image of a square.
static Tensor drawSquare() {
  Tensor image(Type(ElemKind::Float, {1, size, size, 1}));
  for (int64_t y = size / 4; y < size * 3 / 4; ++y)
    for (int64_t x = size / 4; x < size * 3 / 4; ++x)
      image.data<float>()[y * size + x] = 1;
  return image;
}

/// Runs the compiled network in this process and prints its output.
static llvm::Error runNetwork(const PlannedProgram &program) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(program));
  GLOWISH_ASSIGN_OR_RETURN(const Buffer *image,
                           session->findPlaceholder("image"));
  GLOWISH_ASSIGN_OR_RETURN(const Buffer *edges,
                           session->findPlaceholder("edges"));
  GLOWISH_RETURN_IF_ERROR(session->setInput(image, drawSquare()));
  GLOWISH_RETURN_IF_ERROR(session->run());
  Tensor output = session->getOutput(edges);
  for (int64_t y = 0; y < size; ++y) {
    for (int64_t x = 0; x < size; ++x)
      llvm::outs() << (output.data<float>()[y * size + x] > 1 ? '#' : '.');
    llvm::outs() << '\n';
  }
  return llvm::Error::success();
}

static llvm::Error run(int argc, char **argv) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(TargetOptions()));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> network, buildNetwork());
  Compilation compilation(*backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(std::move(network)));
  if (argc < 2)
    return runNetwork(program);

  BundleOptions bundle;
  bundle.folder = argv[1];
  bundle.networkName = bundle.entryName = "edges";
  return writeBundle(*backend, program.getIR(), program.getPlan(), bundle);
}

int main(int argc, char **argv) {
  if (llvm::Error error = run(argc, argv))
    return reportError(std::move(error));
  return 0;
}
