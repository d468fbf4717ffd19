//===- TrainingStepTest.cpp - Effects of a training step ------------------===//
//
// Losses, solvers, batch statistics and dropout against formulas computed here
// in double.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/Trainer.h"
#include <cmath>

using namespace glowish;

namespace {

using Values = std::vector<double>;

class TrainingSteps : public TestFolder {
protected:
  /// Trains \p model on both back ends and has \p check look at each.
  void forEachBackend(const TextModel &model, const TrainingConfig &config,
                      llvm::function_ref<void(Trainer &)> check) {
    put("m.onnxtxt", model.str());
    std::unique_ptr<Backend> backends[] = {
        createInterpreter(), llvm::cantFail(CPUBackend::create({}))};
    for (auto &backend : backends) {
      SCOPED_TRACE(backend->getName().str());
      auto trainer = Trainer::create(*backend, in("m.onnxtxt"), {}, config, {});
      ASSERT_EQ(trainer ? "" : getMessage(trainer.takeError()), "");
      check(**trainer);
    }
  }

  std::string getError(const TextModel &model, const TrainingConfig &config) {
    put("m.onnxtxt", model.str());
    auto backend = createInterpreter();
    return getMessage(
        Trainer::create(*backend, in("m.onnxtxt"), {}, config, {}));
  }
};

Values get(Trainer &trainer, llvm::StringRef name) {
  Session &session = trainer.getSession();
  auto buffer = session.findPlaceholder(name);
  if (!buffer) {
    ADD_FAILURE() << getMessage(buffer.takeError());
    return {};
  }
  Tensor tensor = session.getTensor(*buffer);
  Values values(tensor.getNumElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = tensor.getAsDouble(int64_t(i));
  return values;
}

void set(Trainer &trainer, llvm::StringRef name, const Values &values) {
  Session &session = trainer.getSession();
  Tensor tensor =
      session.getTensor(llvm::cantFail(session.findPlaceholder(name)));
  ASSERT_EQ(size_t(tensor.getNumElements()), values.size()) << name.str();
  for (size_t i = 0; i < values.size(); ++i)
    tensor.setFromDouble(int64_t(i), values[i]);
}

void expectNear(const Values &found, const Values &expected, double bound) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], bound) << "element " << i;
}

/// y = x + w, all of one shape, so that the loss's gradient is w's.
TextModel makeSum(std::vector<int64_t> shape, std::vector<float> w) {
  TextModel model = oneNode("Add", {"x", "w"}, "", 13, {{"x", shape}});
  model.body += floats("w", shape, w);
  return model;
}

/// Of a function of many numbers.
Values differentiate(llvm::function_ref<double(const Values &)> fn, Values at) {
  constexpr double distance = 1e-6;
  Values gradient;
  for (double &x : at) {
    double middle = x;
    x = middle + distance;
    double above = fn(at);
    x = middle - distance;
    double below = fn(at);
    x = middle;
    gradient.push_back((above - below) / (2 * distance));
  }
  return gradient;
}

/// A vector of three as a solver changes it, by the formulas of SolverKind.
struct Solved {
  SolverConfig config;
  Values x, velocity = Values(3), squares = Values(3);
  int count = 0;

  void step(const Values &gradient, double rate) {
    ++count;
    for (size_t i = 0; i < 3; ++i)
      x[i] = move(i, gradient[i], rate);
  }
  double move(size_t i, double g, double rate) {
    double old = x[i], &v = velocity[i], &s = squares[i], mu = config.momentum;
    bool isAdamW = config.kind == SolverKind::AdamW;
    g += config.l1 * (old > 0 ? 1 : -1) + (isAdamW ? 0 : config.l2 * old);
    switch (config.kind) {
    case SolverKind::SGD:
      v = mu * v + g;
      return old - rate * (config.nesterov ? g + mu * v : v);
    case SolverKind::Adam:
    case SolverKind::AdamW: {
      v = config.beta1 * v + (1 - config.beta1) * g;
      s = config.beta2 * s + (1 - config.beta2) * g * g;
      double mean = v / (1 - std::pow(config.beta1, count));
      double root = std::sqrt(s / (1 - std::pow(config.beta2, count)));
      return (isAdamW ? old - rate * config.l2 * old : old) -
             rate * mean / (root + config.epsilon.value_or(1e-8));
    }
    case SolverKind::RMSProp:
      s = config.decayRate * s + (1 - config.decayRate) * g * g;
      v = mu * v + g / (std::sqrt(s) + config.epsilon.value_or(1e-8));
      return old - rate * v;
    case SolverKind::Adagrad:
      s += g * g;
      return old - rate * g / (std::sqrt(s) + config.epsilon.value_or(1e-10));
    }
    llvm_unreachable("not a solver");
  }
};

} // namespace

TEST_F(TrainingSteps, SolversMoveAsTheirFormulasSay) {
  using enum SolverKind;
  const SolverConfig solvers[] = {
      {.kind = SGD},
      {.kind = SGD, .l1 = 0.05, .l2 = 0.25},
      {.kind = SGD, .momentum = 0.5},
      {.kind = SGD, .momentum = 0.75, .nesterov = true, .l2 = 0.125},
      {.kind = Adam},
      {.kind = Adam, .l2 = 0.25, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 0.5},
      {.kind = AdamW, .l2 = 0.25},
      {.kind = RMSProp},
      {.kind = RMSProp, .momentum = 0.5, .decayRate = 0.75, .epsilon = 0.25},
      {.kind = Adagrad},
      {.kind = Adagrad, .l1 = 0.125, .epsilon = 0.5},
  };
  const Values start = {1.5, -0.75, 0.25}, label = {-1, 2, 0.5};
  for (const SolverConfig &solver : solvers) {
    SCOPED_TRACE("solver " + std::to_string(&solver - solvers));
    TrainingConfig config;
    config.loss = LossKind::MeanSquaredError;
    config.solver = solver;
    forEachBackend(
        makeSum({3}, {1.5f, -0.75f, 0.25f}), config, [&](Trainer &trainer) {
          set(trainer, "x", {0, 0, 0});
          set(trainer, "label", label);
          Solved solved = {.config = solver, .x = start};
          for (double rate : {0.5, 0.25, 0.25, 0.125, 0.5}) {
            Values gradient;
            double loss = 0;
            for (size_t i = 0; i < 3; ++i) {
              gradient.push_back(2 * (solved.x[i] - label[i]) / 3);
              loss += (solved.x[i] - label[i]) * (solved.x[i] - label[i]) / 3;
            }
            EXPECT_NEAR(llvm::cantFail(trainer.run(rate)), loss, 1e-4);
            solved.step(gradient, rate);
            expectNear(get(trainer, "w"), solved.x, 1e-5);
          }
          EXPECT_EQ(get(trainer, "training.steps"), Values{5});
        });
  }
}

TEST_F(TrainingSteps, LossesAndTheirGradients) {
  constexpr int64_t rows = 3, classes = 5;
  const std::vector<float> logits = {1.5f,   -2,    0.25f, 3,     -0.5f,
                                     -4,     0.75f, 2.5f,  -1.5f, 1,
                                     0.125f, 6,     -3,    0.5f,  -0.25f};
  struct Case {
    const char *name;
    TrainingConfig config;
    Values label;
    /// Of all elements of the prediction.
    std::function<double(const Values &)> loss;
  };
  Values indices = {3, 0, 1}, shares, targets;
  for (int i = 0; i < rows * classes; ++i) {
    shares.push_back(((i * 7) % 5) * 0.1); // A row has 0, .1, .2, .3 and .4.
    targets.push_back((i * 5 % 7) * 0.75 - 2);
  }
  auto logSoftmax = [&](const Values &y, int64_t row, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < classes; ++k)
      sum += std::exp(y[row * classes + k]);
    return y[row * classes + c] - std::log(sum);
  };
  auto mean = [](const Values &y, auto each) {
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i)
      sum += each(y[i], i);
    return sum / double(y.size());
  };
  auto config = [](LossKind kind, ElemKind label = ElemKind::Int64) {
    TrainingConfig config;
    config.loss = kind;
    config.labelKind = label;
    config.huberDelta = 0.75;
    config.outputGradients = true;
    return config;
  };
  const Case cases[] = {
      {"indices", config(LossKind::SoftmaxCrossEntropy), indices,
       [&](const Values &y) {
         double sum = 0;
         for (int64_t r = 0; r < rows; ++r)
           sum -= logSoftmax(y, r, int64_t(indices[r])) / rows;
         return sum;
       }},
      {"probabilities", config(LossKind::SoftmaxCrossEntropy, ElemKind::Float),
       shares,
       [&](const Values &y) {
         double sum = 0;
         for (int64_t i = 0; i < rows * classes; ++i)
           sum -= shares[i] * logSoftmax(y, i / classes, i % classes) / rows;
         return sum;
       }},
      {"binary", config(LossKind::BinaryCrossEntropy), shares,
       [&](const Values &y) {
         return mean(y, [&](double x, size_t i) {
           double s = 1 / (1 + std::exp(-x));
           return -shares[i] * std::log(s) - (1 - shares[i]) * std::log(1 - s);
         });
       }},
      {"squares", config(LossKind::MeanSquaredError), targets,
       [&](const Values &y) {
         return mean(y, [&](double x, size_t i) {
           return (x - targets[i]) * (x - targets[i]);
         });
       }},
      {"l1", config(LossKind::L1), targets,
       [&](const Values &y) {
         return mean(
             y, [&](double x, size_t i) { return std::fabs(x - targets[i]); });
       }},
      {"huber", config(LossKind::Huber), targets,
       [&](const Values &y) {
         return mean(y, [&](double x, size_t i) {
           double d = std::fabs(x - targets[i]);
           return d <= 0.75 ? d * d / 2 : 0.75 * (d - 0.375);
         });
       }},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    forEachBackend(
        makeSum({rows, classes}, logits), c.config, [&](Trainer &trainer) {
          set(trainer, "x", Values(rows * classes));
          set(trainer, "label", c.label);
          Values y(logits.begin(), logits.end());
          EXPECT_NEAR(llvm::cantFail(trainer.run(1)), c.loss(y), 1e-5);
          Values gradient = differentiate(c.loss, y);
          expectNear(get(trainer, "w.gradient"), gradient, 1e-6);
          for (size_t i = 0; i < y.size(); ++i)
            y[i] -= gradient[i];
          expectNear(get(trainer, "w"), y, 2e-6);
        });
  }
}

/// An output that is the softmax or sigmoid already is not made that twice.
TEST_F(TrainingSteps, LossesTakeTheLogitsBeforeTheOutput) {
  for (bool isSoftmax : {true, false}) {
    TextModel model;
    model.inputs = {{"x", {1, 2}}};
    model.body = onnxNode("Add", {"x", "w"}, "", "logits") +
                 onnxNode(isSoftmax ? "Softmax" : "Sigmoid", {"logits"}) +
                 floats("w", {1, 2}, {0, 0});
    TrainingConfig config;
    config.loss = isSoftmax ? LossKind::SoftmaxCrossEntropy
                            : LossKind::BinaryCrossEntropy;
    forEachBackend(model, config, [&](Trainer &trainer) {
      // exp(200) is no float.
      set(trainer, "x", {200, -200});
      set(trainer, "label", isSoftmax ? Values{1} : Values{0, 1});
      EXPECT_NEAR(llvm::cantFail(trainer.run(0)), isSoftmax ? 400 : 200, 1e-3);
    });
  }
}

TEST_F(TrainingSteps, ClippingScalesAllGradientsAlike) {
  TextModel model;
  model.inputs = {{"x", {2}}};
  model.body = onnxNode("Mul", {"x", "scale"}, "", "scaled") +
               onnxNode("Add", {"scaled", "bias"}) +
               floats("scale", {2}, {1, 1}) + floats("bias", {2}, {0, 0});
  TrainingConfig config;
  config.loss = LossKind::MeanSquaredError;
  config.outputGradients = true;
  // The differences are 3 and -1: gradients 3 * 2, -1 * 4 of the scales, and 3,
  // -1 of the biases.
  const double norm = std::sqrt(36 + 16 + 9 + 1);
  for (double limit : {0.5, 100.0}) {
    config.clipNorm = limit;
    double factor = std::min(1.0, limit / norm);
    forEachBackend(model, config, [&](Trainer &trainer) {
      set(trainer, "x", {2, 4});
      set(trainer, "label", {-1, 5});
      EXPECT_NEAR(llvm::cantFail(trainer.run(0.5)), 5, 1e-5);
      expectNear(get(trainer, "scale.gradient"), {6 * factor, -4 * factor},
                 1e-5);
      expectNear(get(trainer, "bias.gradient"), {3 * factor, -1 * factor},
                 1e-5);
      expectNear(get(trainer, "scale"), {1 - 3 * factor, 1 + 2 * factor}, 1e-5);
      expectNear(get(trainer, "bias"), {-1.5 * factor, 0.5 * factor}, 1e-5);
    });
  }
}

TEST_F(TrainingSteps, TrainsWhatItIsToldTo) {
  TextModel model;
  model.inputs = {{"x", {2}}};
  model.body = onnxNode("Mul", {"x", "scale"}, "", "scaled") +
               onnxNode("Add", {"scaled", "bias"}) +
               floats("scale", {2}, {1, 1}) + floats("bias", {2}, {0, 0});
  TrainingConfig config;
  config.loss = LossKind::MeanSquaredError;
  config.isTrained = [](llvm::StringRef name) { return name == "bias"; };
  forEachBackend(model, config, [&](Trainer &trainer) {
    EXPECT_EQ(trainer.getStep().trained, std::vector<std::string>{"bias"});
    set(trainer, "x", {2, 4});
    set(trainer, "label", {-1, 5});
    llvm::cantFail(trainer.run(0.5));
    EXPECT_EQ(get(trainer, "scale"), (Values{1, 1}));
    expectNear(get(trainer, "bias"), {-1.5, 0.5}, 1e-6);
  });
}

TEST_F(TrainingSteps, BatchNormalizationKeepsRunningStatistics) {
  constexpr int64_t batch = 3, channels = 2, pixels = 5;
  TextModel model;
  model.inputs = {{"x", {batch, channels, pixels}}};
  model.body =
      onnxNode("BatchNormalization", {"x", "scale", "bias", "mean", "var"},
               floatAttr("epsilon", 0.125)) +
      floats("scale", {2}, {2, 0.5f}) + floats("bias", {2}, {1, -1}) +
      floats("mean", {2}, {0.5f, -0.25f}) + floats("var", {2}, {4, 0.25f});
  TrainingConfig config;
  config.loss = LossKind::MeanSquaredError;
  config.statisticsMomentum = 0.75;
  Values x, y;
  for (int i = 0; i < batch * channels * pixels; ++i)
    x.push_back((i * 11 % 17) * 0.25 - 1);
  Values mean = {0.5, -0.25}, variance = {4, 0.25}, batchMean(2),
         batchVariance(2);
  auto channelOf = [&](size_t i) { return i / pixels % channels; };
  const double count = batch * pixels;
  for (size_t i = 0; i < x.size(); ++i)
    batchMean[channelOf(i)] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i)
    batchVariance[channelOf(i)] +=
        std::pow(x[i] - batchMean[channelOf(i)], 2) / count;
  for (size_t i = 0; i < x.size(); ++i) {
    size_t c = channelOf(i);
    y.push_back((x[i] - batchMean[c]) / std::sqrt(batchVariance[c] + 0.125) *
                    (c ? 0.5 : 2) +
                (c ? -1 : 1));
  }
  forEachBackend(model, config, [&](Trainer &trainer) {
    EXPECT_EQ(trainer.getStep().trained,
              (std::vector<std::string>{"scale", "bias"}));
    set(trainer, "x", x);
    set(trainer, "label", Values(x.size()));
    Values runningMean = mean, runningVariance = variance;
    for (int step = 0; step < 2; ++step) {
      llvm::cantFail(trainer.run(0));
      expectNear(get(trainer, "y"), y, 1e-5);
      for (int c = 0; c < 2; ++c) {
        runningMean[c] = 0.75 * runningMean[c] + 0.25 * batchMean[c];
        runningVariance[c] = 0.75 * runningVariance[c] +
                             0.25 * batchVariance[c] * count / (count - 1);
      }
      expectNear(get(trainer, "mean"), runningMean, 1e-6);
      expectNear(get(trainer, "var"), runningVariance, 1e-6);
    }
  });
}

TEST_F(TrainingSteps, DropoutDropsAShareInBothDirections) {
  constexpr int64_t size = 10000;
  TextModel model;
  model.inputs = {{"x", {size}}};
  model.body = onnxNode("Add", {"x", "w"}, "", "sum") +
               onnxNode("Dropout", {"sum", "ratio"}) +
               floats("w", {size}, std::vector<float>(size)) +
               floats("ratio", {}, {0.25f});
  TrainingConfig config;
  config.loss = LossKind::MeanSquaredError;
  config.outputGradients = true;
  std::vector<Values> masks;
  auto look = [&](Trainer &trainer) {
    set(trainer, "x", Values(size, 3));
    set(trainer, "label", Values(size));
    for (int step = 0; step < 2; ++step) {
      llvm::cantFail(trainer.run(0));
      Values y = get(trainer, "y"), gradient = get(trainer, "w.gradient");
      int64_t dropped = 0;
      for (size_t i = 0; i < size; ++i) {
        dropped += y[i] == 0;
        ASSERT_TRUE(y[i] == 0 || y[i] == 4) << y[i];
        ASSERT_NEAR(gradient[i], 2 * y[i] / 0.75 / size, 1e-8);
      }
      // Four standard deviations.
      EXPECT_NEAR(double(dropped) / size, 0.25, 0.018);
      masks.push_back(y);
    }
  };
  forEachBackend(model, config, look);
  config.seed = 1;
  forEachBackend(model, config, look);
  ASSERT_EQ(masks.size(), 8u);
  // Steps and seeds draw anew; back ends draw alike.
  EXPECT_NE(masks[0], masks[1]);
  EXPECT_EQ(masks[0], masks[2]);
  EXPECT_EQ(masks[1], masks[3]);
  EXPECT_NE(masks[0], masks[4]);
  EXPECT_EQ(masks[4], masks[6]);
}

TEST_F(TrainingSteps, SaysWhatCannotBeTrained) {
  TextModel model = makeSum({2}, {0, 0});
  TrainingConfig config;
  config.loss = LossKind::MeanSquaredError;
  config.output = "z";
  EXPECT_EQ(getError(model, config), "the model computes no output 'z'");
  config.output = "";
  config.label = "x";
  EXPECT_EQ(
      getError(model, config),
      "the model has an input, output or weight 'x' already; «label=NAME» "
      "states another name for the label");
  config.label = "label";
  config.labelShape = Dims{3};
  EXPECT_EQ(getError(model, config),
            "the output 'y': it is float<2>, and the labels have the shape 3; "
            "accepted: equal shapes");
  config.labelShape.reset();
  config.isTrained = [](llvm::StringRef) { return false; };
  EXPECT_EQ(getError(model, config),
            "nothing can be trained: the loss depends on no trainable "
            "initializer of a float kind");
}
