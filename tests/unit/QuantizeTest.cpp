//===- QuantizeTest.cpp - From float graphs to quantized ones -------------===//

#include "Differential.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/RangeProfiler.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/Verifier.h"

using namespace glowish;
using Schema = QuantizationSchema;

namespace {

/// A graph of nodes, and what becomes of it.
class Net {
public:
  Net() : b(*module->createFunction("main"), "value") {}

  NodeValue input(DimsRef shape) {
    return NodeValue(module->createPlaceholder(
        "x" + std::to_string(numInputs++), Type(ElemKind::Float, shape),
        /*isInput=*/true, /*isOutput=*/false));
  }
  NodeValue weights(DimsRef shape, double scale = 1) {
    Tensor tensor = makeRandom(Type(ElemKind::Float, shape), seed++);
    for (float &value : tensor.data<float>())
      value = float(value * scale);
    return b.createConstant(std::move(tensor));
  }
  NodeValue convolution(NodeValue x, int64_t channels, NodeValue bias = {}) {
    int64_t from = x.getShape()[3];
    return b.make<ConvolutionNode>(
        x, weights({channels, 3, 3, from}), bias, llvm::ArrayRef<int64_t>{1, 1},
        llvm::ArrayRef<int64_t>{1, 1, 1, 1}, llvm::ArrayRef<int64_t>{1, 1},
        /*group=*/1);
  }
  void output(NodeValue value) {
    Placeholder *placeholder = module->createPlaceholder(
        "y" + std::to_string(numOutputs++), value.getType(),
        /*isInput=*/false, /*isOutput=*/true);
    b.getFunction().create<SaveNode>("save", value, NodeValue(placeholder));
  }

  std::unique_ptr<Module> module = std::make_unique<Module>("net");
  NodeBuilder b;

private:
  unsigned numInputs = 0, numOutputs = 0;
  uint64_t seed = 1;
};

/// What running a graph gave, and the kinds of its nodes when it was optimized,
/// "Add"; those of int32 also as "int32 Add".
struct Outcome {
  std::vector<Tensor> outputs;
  std::map<std::string, unsigned> kinds;
  RangeProfile profile;
};

} // namespace

static llvm::Error fill(Session &session) {
  uint64_t seed = 77;
  for (const Buffer *buffer : session.getPlaceholders())
    if (buffer->isInput())
      GLOWISH_RETURN_IF_ERROR(
          session.setInput(buffer, makeRandom(buffer->getType(), seed++)));
  return llvm::Error::success();
}

/// Runs what \p make makes; quantized with \p options, unless they are null.
static llvm::Expected<Outcome>
run(llvm::function_ref<std::unique_ptr<Module>()> make,
    const QuantizationOptions *options, std::unique_ptr<Backend> backend) {
  Compilation compilation(*backend, CompilationOptions());
  ModelGraph graph(make());
  if (options) {
    GLOWISH_RETURN_IF_ERROR(compilation.prepareQuantization(graph));
    GLOWISH_RETURN_IF_ERROR(
        quantize(graph.getFunction(), *options->profile, options->config));
    GLOWISH_RETURN_IF_ERROR(verify(graph.getModule()));
  }
  GLOWISH_ASSIGN_OR_RETURN(graph, compilation.optimize(std::move(graph)));
  Outcome outcome;
  for (const Node &node : graph.getFunction().getNodes())
    ++outcome.kinds[node.getKindName().str()];
  for (const Node &node : graph.getFunction().getNodes())
    if (node.getNumResults() == 1 &&
        node.getType().getKind() == ElemKind::Int32)
      ++outcome.kinds["int32 " + node.getKindName().str()];
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(std::move(graph)));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(program));
  GLOWISH_RETURN_IF_ERROR(fill(*session));
  GLOWISH_RETURN_IF_ERROR(session->run());
  for (const Buffer *buffer : session->getOutputs())
    outcome.outputs.push_back(session->getTensor(buffer).clone());
  GLOWISH_ASSIGN_OR_RETURN(auto profiler,
                           RangeProfiler::create(*backend, CompilationOptions(),
                                                 ModelGraph(make()), 2048));
  GLOWISH_RETURN_IF_ERROR(profiler->run(*session));
  outcome.profile = profiler->getProfile();
  return outcome;
}

/// Quantizes what \p make makes with \p config. Both back ends agree, and the
/// outputs differ from those of floats by less than \p bound of the largest.
static Outcome check(llvm::function_ref<std::unique_ptr<Module>()> make,
                     QuantizationConfig config = {}, double bound = 0.03) {
  Outcome exact = llvm::cantFail(run(make, nullptr, createInterpreter()));
  QuantizationOptions options = {exact.profile, config};
  Outcome outcome = llvm::cantFail(run(make, &options, createInterpreter()));
  Outcome compiled = llvm::cantFail(
      run(make, &options, llvm::cantFail(CPUBackend::create(TargetOptions()))));
  for (auto [a, b, c] :
       llvm::zip_equal(exact.outputs, outcome.outputs, compiled.outputs)) {
    EXPECT_TRUE(b.isBitwiseEqual(c));
    double largest = 0, error = 0;
    for (int64_t i = 0; i < a.getNumElements(); ++i) {
      largest = std::max(largest, std::abs(a.getAsDouble(i)));
      error = std::max(error, std::abs(a.getAsDouble(i) - b.getAsDouble(i)));
    }
    EXPECT_LT(error, bound * largest);
  }
  return outcome;
}

using NetFn = std::function<void(Net &net)>;

static std::function<std::unique_ptr<Module>()> build(NetFn make) {
  return [make = std::move(make)] {
    Net net;
    make(net);
    return std::move(net.module);
  };
}

TEST(Quantize, ConvolutionsStayInBytes) {
  auto make = build([](Net &net) {
    NodeValue x = net.input({1, 6, 6, 3});
    x = net.b.unary<ReluNode>(net.convolution(x, 8, net.weights({8})));
    x = net.b.make<MaxPoolNode>(
        x, llvm::ArrayRef<int64_t>{2, 2}, llvm::ArrayRef<int64_t>{2, 2},
        llvm::ArrayRef<int64_t>{0, 0, 0, 0}, llvm::ArrayRef<int64_t>{1, 1});
    net.output(net.convolution(x, 4));
  });
  for (Schema schema :
       {Schema::Asymmetric, Schema::Symmetric, Schema::SymmetricWithUInt8,
        Schema::SymmetricWithPower2Scale}) {
    QuantizationConfig config;
    config.schema = schema;
    config.assertsAll = true;
    Outcome outcome = check(make, config);
    EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 2u);
    EXPECT_EQ(outcome.kinds["Convolution"], 0u);
    // The input, and behind the first convolution.
    EXPECT_EQ(outcome.kinds["Round"], 2u);
  }
}

TEST(Quantize, OneScaleForATensor) {
  QuantizationConfig config;
  config.isChannelwise = config.isRowwise = false;
  Outcome outcome = check(build([](Net &net) {
                            NodeValue x = net.input({1, 5, 5, 3});
                            x = net.convolution(x, 8, net.weights({8}));
                            net.output(x);
                          }),
                          config);
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 1u);
}

TEST(Quantize, MatMulsOfAllKinds) {
  Outcome outcome = check(build([](Net &net) {
    NodeBuilder &b = net.b;
    NodeValue x = net.input({4, 16});
    x = b.matMul(x, b.mul(b.transposeLast(net.weights({24, 16})), 0.5));
    x = b.add(x, net.weights({24}));
    x = b.make<FullyConnectedNode>(x, net.weights({24, 12}), net.weights({12}));
    x = b.unary<ReluNode>(x);
    x = b.matMul(b.reshape(x, {2, 2, 12}), net.weights({12, 10}));
    net.output(x);
  }));
  EXPECT_EQ(outcome.kinds["MatMulInteger"], 3u);
  EXPECT_EQ(outcome.kinds["FullyConnected"] + outcome.kinds["MatMul"], 0u);
}

/// Self-attention of 12 tokens, and a matmul behind it.
static NodeValue makeAttention(Net &net, bool causal) {
  NodeBuilder &b = net.b;
  NodeValue x = net.input({12, 16});
  NodeValue query = b.matMul(x, net.weights({16, 8}));
  NodeValue key = b.matMul(x, net.weights({16, 8}));
  NodeValue value = b.matMul(x, net.weights({16, 8}));
  x = b.make<AttentionNode>(query, key, value, NodeValue(), /*scale=*/0.2,
                            causal);
  return b.matMul(x, net.weights({8, 5}));
}

/// Both matmuls of an attention are quantized, and its softmax, or none is.
TEST(Quantize, Attention) {
  for (bool causal : {false, true})
    for (auto schema : {Schema::Asymmetric, Schema::Symmetric}) {
      auto make =
          build([&](Net &net) { net.output(makeAttention(net, causal)); });
      QuantizationConfig config;
      config.schema = schema;
      Outcome outcome = check(make, config);
      EXPECT_EQ(outcome.kinds["AttentionInteger"], 1u);
      EXPECT_EQ(outcome.kinds["MatMul"] + outcome.kinds["Softmax"], 0u);
      // A clipped softmax would have lost its largest weights.
      config.calibration = QuantizationCalibration::KL;
      EXPECT_EQ(check(make, config, 0.2).kinds["AttentionInteger"], 1u);
    }
  auto make = build([](Net &net) { net.output(makeAttention(net, false)); });
  Outcome exact = llvm::cantFail(run(make, nullptr, createInterpreter()));
  QuantizationOptions options = {exact.profile, {}};
  ModelGraph graph(make());
  std::unique_ptr<Backend> backend = createInterpreter();
  llvm::cantFail(
      Compilation(*backend, CompilationOptions()).prepareQuantization(graph));
  std::vector<QuantizedNode> nodes =
      listQuantizedNodes(graph.getFunction(), *options.profile, options.config);
  // Those with weights, and both of the attention as one.
  ASSERT_EQ(nodes.size(), 5u);
  EXPECT_EQ(nodes[3].numMultiplications, 2u * 12 * 12 * 8);
  options.profile->floatNodes = {nodes[3].name};
  Outcome outcome = llvm::cantFail(run(make, &options, createInterpreter()));
  EXPECT_EQ(outcome.kinds["AttentionInteger"], 0u);
  EXPECT_EQ(outcome.kinds["Attention"], 1u);
}

/// Of two operands that a sum alone reads one is quantized; the other is added
/// where it is computed.
TEST(Quantize, SumsOfTwoConvolutions) {
  Outcome outcome = check(build([](Net &net) {
    NodeBuilder &b = net.b;
    NodeValue input = net.input({1, 5, 5, 3});
    NodeValue x = net.convolution(input, 8, net.weights({8}));
    NodeValue y = b.unary<ReluNode>(net.convolution(input, 8));
    net.output(net.convolution(b.add(y, x), 4));
  }));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 3u);
  // The input, one operand, and the sum.
  EXPECT_EQ(outcome.kinds["Round"], 3u);
}

/// A maximum of two is no result of one of them: it can't be added where that
/// is computed, and the other operand of the sum stays float.
TEST(Quantize, SumsWithAMaximum) {
  Outcome outcome = check(build([](Net &net) {
    NodeBuilder &b = net.b;
    NodeValue input = net.input({1, 5, 5, 3});
    NodeValue x =
        b.make<MaxNode>(net.convolution(input, 8), net.convolution(input, 8));
    net.output(net.convolution(b.add(net.convolution(input, 8), x), 4));
  }));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 4u);
  // The input, and the sum.
  EXPECT_EQ(outcome.kinds["Round"], 2u);
}

/// A value that several nodes read is quantized once. What a sum alone reads
/// stays float.
TEST(Quantize, ResidualSums) {
  Outcome outcome = check(build([](Net &net) {
    NodeBuilder &b = net.b;
    NodeValue x =
        b.unary<ReluNode>(net.convolution(net.input({1, 5, 5, 3}), 8));
    NodeValue y = net.convolution(x, 8, net.weights({8}));
    NodeValue sum = b.unary<ReluNode>(b.add(x, y));
    net.output(net.convolution(sum, 4));
  }));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 3u);
  // The input, its convolution, and the sum.
  EXPECT_EQ(outcome.kinds["Round"], 3u);
}

TEST(Quantize, ConcatenationsOfBytes) {
  Outcome outcome = check(build([](Net &net) {
    NodeBuilder &b = net.b;
    NodeValue x = net.input({1, 5, 5, 3});
    NodeValue joined = b.concat(
        {b.unary<ReluNode>(net.convolution(x, 8)), net.convolution(x, 4)}, 3);
    net.output(net.convolution(joined, 4));
  }));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 3u);
  EXPECT_EQ(outcome.kinds["Round"], 3u);
}

TEST(Quantize, MeansAndFactors) {
  Outcome outcome =
      check(build([](Net &net) {
              NodeBuilder &b = net.b;
              NodeValue x = net.convolution(net.input({1, 6, 6, 3}), 8);
              NodeValue mean = b.make<GlobalAvgPoolNode>(x);
              NodeValue gate = b.unary<SigmoidNode>(net.convolution(mean, 8));
              NodeValue y = net.convolution(b.mul(x, gate), 4);
              net.output(y);
            }),
            {}, 0.05);
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 3u);
  EXPECT_EQ(outcome.kinds["Convolution"], 0u);
}

/// A bias that is large beside the weights does not overflow.
TEST(Quantize, LargeBias) {
  Outcome outcome = check(build([](Net &net) {
    NodeValue x = net.input({2, 8});
    net.output(net.b.make<FullyConnectedNode>(x, net.weights({8, 4}, 1e-10),
                                              net.weights({4}, 100)));
  }));
  EXPECT_EQ(outcome.kinds["MatMulInteger"], 1u);
  // It is added to the integers.
  EXPECT_EQ(outcome.kinds["int32 Add"], 1u);
}

/// A bias of a run is added as it is.
TEST(Quantize, BiasOfARun) {
  Outcome outcome = check(build([](Net &net) {
    NodeValue x = net.input({2, 8});
    net.output(
        net.b.make<FullyConnectedNode>(x, net.weights({8, 4}), net.input({4})));
  }));
  EXPECT_EQ(outcome.kinds["MatMulInteger"], 1u);
}

/// A bias without dimensions, of a single column.
TEST(Quantize, ScalarBias) {
  for (bool corrects : {false, true}) {
    QuantizationConfig config;
    config.correctsBiases = corrects;
    Outcome outcome =
        check(build([](Net &net) {
                NodeValue x = net.input({2, 8});
                net.output(net.b.add(net.b.matMul(x, net.weights({8, 1})),
                                     net.weights({})));
              }),
              config);
    EXPECT_EQ(outcome.kinds["MatMulInteger"], 1u);
  }
}

/// Where the weights are zeros, the bias is the result.
TEST(Quantize, WeightsOfZeros) {
  Outcome outcome = check(build([](Net &net) {
                            NodeValue x = net.input({2, 8});
                            net.output(net.b.make<FullyConnectedNode>(
                                x, net.weights({8, 4}, 0), net.weights({4})));
                          }),
                          {}, 1e-6);
  EXPECT_EQ(outcome.kinds["FullyConnected"] + outcome.kinds["MatMul"], 0u);
}

static std::string getMessage(llvm::Expected<Outcome> outcome) {
  return outcome ? "" : llvm::toString(outcome.takeError());
}

TEST(Quantize, Errors) {
  auto make = build([](Net &net) {
    NodeValue x = net.input({2, 8}), y = net.input({8, 3});
    net.output(net.b.matMul(net.b.matMul(x, y), net.input({3, 4})));
  });
  Outcome exact = llvm::cantFail(run(make, nullptr, createInterpreter()));
  QuantizationOptions options = {exact.profile, {}};
  options.config.assertsAll = true;
  EXPECT_EQ(getMessage(run(make, &options, createInterpreter())),
            "«assert-all-nodes-quantized»: not quantized: MatMul 'value' (its "
            "weights are not constant), MatMul 'value_1' (its weights are not "
            "constant); accepted: without this flag, or with "
            "«keep-original-precision-for-nodes=MatMul»");
  // What is transposed is quantized in front of that.
  auto makeTurned = build([](Net &net) {
    NodeValue x = net.b.transposeLast(net.input({8, 2}));
    x = net.b.matMul(x, net.weights({8, 4}));
    net.output(
        net.b.matMul(net.b.reshape(x, {2, 2, 2}), net.weights({2, 2, 3})));
  });
  QuantizationOptions turned = {
      llvm::cantFail(run(makeTurned, nullptr, createInterpreter())).profile,
      options.config};
  EXPECT_EQ(getMessage(run(makeTurned, &turned, createInterpreter())),
            "«assert-all-nodes-quantized»: not quantized: MatMul 'value_5' "
            "(its weights have more than two dimensions); accepted: without "
            "this flag, or with «keep-original-precision-for-nodes=MatMul»");
  options.config.keptKinds.insert(NodeKind::MatMul);
  EXPECT_EQ(getMessage(run(make, &options, createInterpreter())), "");
  ++options.profile->checksum;
  options.profile->model = "other";
  EXPECT_EQ(getMessage(run(make, &options, createInterpreter())),
            "the profile is of another model, 'other'; accepted: one that "
            "`model-runner -dump-profile=FILE` has written for this model");
}

/// Each group of channels has its own inputs, and its own scales.
TEST(Quantize, Groups) {
  Outcome outcome = check(build([](Net &net) {
    NodeValue x = net.convolution(net.input({1, 6, 6, 3}), 8);
    for (int64_t group : {2, 8})
      x = net.b.make<ConvolutionNode>(
          x, net.weights({8, 3, 3, 8 / group}), net.weights({8}),
          llvm::ArrayRef<int64_t>{1, 1}, llvm::ArrayRef<int64_t>{1, 1, 1, 1},
          llvm::ArrayRef<int64_t>{1, 1}, group);
    net.output(x);
  }));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 3u);
}

/// Channels of very different ranges in front of depthwise convolutions, of
/// which one makes two outputs of each, and one has small numbers alone.
TEST(Quantize, ChannelsOfDifferentRanges) {
  for (auto [multiplier, factor] :
       {std::pair<int64_t, float>(1, 1.0f), {2, 1.0f}, {1, 1e-5f}}) {
    auto make = build([multiplier = multiplier, factor = factor](Net &net) {
      NodeBuilder &b = net.b;
      NodeValue scales = b.createConstant(Tensor::fromValues<float>(
          Type(ElemKind::Float, {4}), {1000, 10, 0.1f, 0}));
      NodeValue x = b.unary<SigmoidNode>(net.input({1, 6, 6, 4}));
      x = b.unary<TanhNode>(b.mul(x, scales));
      x = b.mul(b.unary<SigmoidNode>(x), scales);
      x = b.mul(x, b.createConstant(Tensor::fromValues<float>(
                       Type(ElemKind::Float, {1}), {factor})));
      x = b.make<ConvolutionNode>(x, net.weights({4 * multiplier, 3, 3, 1}),
                                  NodeValue(), llvm::ArrayRef<int64_t>{1, 1},
                                  llvm::ArrayRef<int64_t>{1, 1, 1, 1},
                                  llvm::ArrayRef<int64_t>{1, 1}, /*group=*/4);
      // The third channel's.
      net.output(b.slice(x, 3, 2 * multiplier, multiplier));
    });
    QuantizationConfig config;
    config.equalizesChannels = true;
    Outcome outcome = check(make, config, 0.02);
    EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 1u);
    EXPECT_EQ(outcome.profile.channels.size(), 1u);
    // Without that, it is lost.
    QuantizationOptions options = {outcome.profile, {}};
    Outcome lost = llvm::cantFail(run(make, &options, createInterpreter()));
    for (int64_t i = 0; i < lost.outputs[0].getNumElements(); ++i)
      EXPECT_EQ(lost.outputs[0].getAsDouble(i), 0);
  }
}

/// With bias correction, the mean errors of the channels of what \p net
/// computes are less than \p share of what they are without it.
static void checkCorrection(NetFn net, double share) {
  auto make = build(std::move(net));
  Outcome exact = llvm::cantFail(run(make, nullptr, createInterpreter()));
  auto getBias = [&](bool corrects) {
    QuantizationConfig config;
    config.correctsBiases = corrects;
    Outcome outcome = check(make, config, 0.1);
    size_t numChannels = size_t(outcome.outputs[0].getType().getShape().back());
    std::vector<double> errors(numChannels, 0.0);
    for (int64_t i = 0; i < outcome.outputs[0].getNumElements(); ++i)
      errors[size_t(i) % numChannels] +=
          outcome.outputs[0].getAsDouble(i) - exact.outputs[0].getAsDouble(i);
    double sum = 0;
    for (double error : errors)
      sum += error * error;
    return std::sqrt(sum);
  };
  EXPECT_LT(getBias(true), share * getBias(false));
}

/// Behind a sigmoid all numbers are positive, so that the errors of weights add
/// up. Convolutions and matmuls without a bias get one.
TEST(Quantize, BiasesTakeErrorsOfWeightsBack) {
  for (bool hasBias : {true, false})
    for (int64_t group : {1, 4})
      checkCorrection(
          [=](Net &net) {
            NodeValue x = net.b.unary<SigmoidNode>(net.input({1, 24, 24, 16}));
            net.output(net.b.make<ConvolutionNode>(
                x, net.weights({8, 3, 3, 16 / group}),
                hasBias ? net.weights({8}) : NodeValue(),
                llvm::ArrayRef<int64_t>{1, 1},
                llvm::ArrayRef<int64_t>{1, 1, 1, 1},
                llvm::ArrayRef<int64_t>{1, 1}, group));
          },
          0.4);
  for (bool isTransposed : {true, false})
    checkCorrection(
        [=](Net &net) {
          NodeValue x = net.b.unary<SigmoidNode>(net.input({64, 48}));
          net.output(net.b.matMul(
              x, isTransposed ? net.b.transposeLast(net.weights({12, 48}))
                              : net.weights({48, 12})));
        },
        0.4);
}

/// Weights that several nodes read are quantized for each of them.
TEST(Quantize, SharedWeights) {
  Outcome outcome = check(build([](Net &net) {
    NodeBuilder &b = net.b;
    NodeValue weights = net.weights({8, 8}), bias = net.weights({8});
    NodeValue x = net.input({3, 8});
    for (int i = 0; i < 3; ++i)
      x = b.unary<ReluNode>(
          NodeValue(b.make<FullyConnectedNode>(x, weights, bias)));
    net.output(x);
  }));
  EXPECT_EQ(outcome.kinds["MatMulInteger"], 3u);
  EXPECT_EQ(outcome.kinds["FullyConnected"], 0u);
}

/// Nodes that the profile names stay float, and what is behind them alone.
TEST(Quantize, FloatNodes) {
  auto make = build([](Net &net) {
    NodeValue x = net.convolution(net.input({1, 5, 5, 3}), 8);
    NodeValue y = net.b.mul(x, net.convolution(x, 8));
    net.output(net.convolution(y, 4));
  });
  Outcome exact = llvm::cantFail(run(make, nullptr, createInterpreter()));
  QuantizationOptions options = {exact.profile, {}};
  auto list = [&] {
    ModelGraph graph(make());
    std::unique_ptr<Backend> backend = createInterpreter();
    llvm::cantFail(
        Compilation(*backend, CompilationOptions()).prepareQuantization(graph));
    std::vector<std::string> names;
    for (const QuantizedNode &node : listQuantizedNodes(
             graph.getFunction(), *options.profile, options.config))
      names.push_back(
          llvm::formatv("{0} {1}", node.name, node.numMultiplications));
    return llvm::join(names, ", ");
  };
  EXPECT_EQ(list(), "value_1 5400, value_3 14400, value_4 0, value_6 7200");
  options.profile->floatNodes = {"value_1", "value_3"};
  EXPECT_EQ(list(), "value_6 7200");
  options.config.needsQuantizedOperand = false;
  EXPECT_EQ(list(), "value_4 0, value_6 7200");
  options.config.needsQuantizedOperand = true;
  Outcome outcome = llvm::cantFail(run(make, &options, createInterpreter()));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 1u);
  EXPECT_EQ(outcome.kinds["Convolution"], 2u);
  EXPECT_EQ(outcome.kinds["Round"], 1u);
  options.profile->floatNodes = {"other"};
  EXPECT_EQ(getMessage(run(make, &options, createInterpreter())),
            "the profile names 'other' as a float node; accepted: names of the "
            "model's nodes");
}

/// Readers of another result of the same node keep that.
TEST(Quantize, OneOfTwoResults) {
  auto make = [] {
    return llvm::cantFail(parseModule(R"(module "m"
placeholder %flag : bool<> input "flag"
placeholder %x : float<2x2> input "x"
placeholder %y : float<2x2> output "y"
placeholder %z : float<2x2> output "z"
constant %w : float<2x2> = [1.0, 2.0, 3.0, 4.0]
constant %more : float<2x2> = [10.0, 20.0, 30.0, 40.0]
function "main" {
  %if:2 = If(%flag, %x) {thenBody = body "then" (%tx : float<2x2>) -> (%ta : float<2x2>, %tb : float<2x2>) {
    %t = Add(%tx, %more)
    Save(%tx, %ta)
    Save(%t, %tb)
  }, elseBody = body "else" (%ex : float<2x2>) -> (%ea : float<2x2>, %eb : float<2x2>) {
    %e = Sub(%ex, %more)
    Save(%ex, %ea)
    Save(%e, %eb)
  }}
  %m = MatMul(%if:0, %w)
  Save(%m, %y)
  %n = Neg(%if:1)
  Save(%n, %z)
}
)",
                                      "test", nullptr));
  };
  EXPECT_EQ(check(make).kinds["MatMulInteger"], 1u);
}

/// Values that the profile lacks stay float.
TEST(Quantize, IncompleteProfile) {
  auto make = build([](Net &net) {
    NodeValue x = net.convolution(net.input({1, 5, 5, 3}), 8);
    net.output(net.convolution(x, 4));
  });
  Outcome exact = llvm::cantFail(run(make, nullptr, createInterpreter()));
  QuantizationOptions options = {exact.profile, {}};
  ASSERT_EQ(options.profile->values.erase("x0"), 1u);
  Outcome outcome = llvm::cantFail(run(make, &options, createInterpreter()));
  EXPECT_EQ(outcome.kinds["ConvolutionInteger"], 1u);
  EXPECT_EQ(outcome.kinds["Convolution"], 1u);
}
