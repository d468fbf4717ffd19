//===- image-classifier.cpp - Classifies images ---------------------------===//

#include "common/CommonOptions.h"
#include "common/Processes.h"
#include "common/ProfileDump.h"
#include "common/QuantizationBudgetFlags.h"
#include "common/QuantizationFlags.h"
#include "common/Records.h"
#include "common/StatedInputs.h"
#include "common/Tool.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/Progress.h"
#include "image-classifier/Options.h"
#include <iostream>

using namespace glowish;

namespace {

/// A compiled model and what its input and output stand for.
struct Classifier {
  /// The model, with all extents of its input.
  PreparedCompilation prepared;
  /// Null where the compilation stops before it.
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
  /// Null without -dump-profile.
  std::unique_ptr<RangeProfiler> profiler;
  const Buffer *input = nullptr, *output = nullptr;
  std::optional<SampleReader> reader;
  AnswerOptions answers;
  int64_t batchSize = 1, numClasses = 0;

  llvm::Expected<std::vector<Answer>>
  classify(llvm::ArrayRef<std::string> paths);
};

} // namespace

/// The only input, with all extents: the first is that of the batch.
static llvm::Expected<ParsedModel::StatedInput>
findInput(const ClassifierOptions &options,
          const ImportOptions &importOptions) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<ParsedModel::StatedInput> inputs,
      readStatedInputs(getModelPath(), importOptions, getFunctionName()));
  GLOWISH_ASSIGN_OR_RETURN(bool mayBeFilled, hasSecondFile(getModelPath()));
  if (inputs.empty() && mayBeFilled)
    return makeError("the model has no input but what init_net fills; state "
                     "one of these with -model-input=NAME,float,[...]");
  if (inputs.size() != 1)
    return makeError("the model has {0} inputs; accepted: one", inputs.size());
  ParsedModel::StatedInput input = std::move(inputs.front());
  if (input.shape.empty())
    return makeError("the input '{0}' is a scalar; accepted: a first dimension "
                     "of samples",
                     input.name);
  if (options.batchSize || !input.shape.front())
    input.shape.front() = options.batchSize.value_or(1);
  for (std::optional<int64_t> extent : input.shape)
    if (!extent || *extent < 1)
      return makeError("the input '{0}' has an open extent, or one of 0; "
                       "-model-input states it",
                       input.name);
  return input;
}

/// How \p input takes images; empty where it takes none.
static llvm::Expected<std::optional<ImageShape>>
findImages(const ParsedModel::StatedInput &input, InputLayout layout) {
  if (layout == InputLayout::NonImage)
    return std::nullopt;
  std::optional<bool> channelsFirst;
  if (layout != InputLayout::Found)
    channelsFirst = layout == InputLayout::NCHW;
  llvm::Expected<ImageShape> shape = findImageShape(input, channelsFirst);
  if (shape)
    return *shape;
  if (layout != InputLayout::Found)
    return shape.takeError();
  llvm::consumeError(shape.takeError());
  return std::nullopt;
}

static llvm::Expected<const Buffer *> findOutput(const Session &session,
                                                 const std::string &name) {
  if (!name.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(name));
    if (!buffer->isOutput())
      return makeError("-output-name={0}: '{0}' is an input of the model",
                       name);
    return buffer;
  }
  std::vector<const Buffer *> outputs = session.getOutputs();
  if (outputs.size() == 1)
    return outputs.front();
  std::string names;
  for (const Buffer *buffer : outputs)
    names += (names.empty() ? "'" : ", '") + buffer->getModelName().str() + "'";
  return makeError("the model has {0} outputs ({1}); state one with "
                   "-output-name",
                   outputs.size(), names);
}

/// What the output has for each sample; checks the options that depend on it.
static llvm::Expected<int64_t> countClasses(const Classifier &classifier) {
  const Type &type = classifier.output->getType();
  int64_t batchSize = classifier.batchSize;
  bool hasBatch = type.getRank() > 0 && type.getDim(0) == batchSize;
  if ((batchSize > 1 && !hasBatch) || !type.getNumElements())
    return makeError("the output '{0}' is {1}; accepted: a first dimension of "
                     "the batch ({2}), and classes",
                     classifier.output->getModelName(), type.str(), batchSize);
  const AnswerOptions &answers = classifier.answers;
  int64_t count = type.getNumElements() / batchSize;
  if (int64_t(answers.topK) > count)
    return makeError("-topk={0}: the output '{1}' has {2} classes",
                     answers.topK, classifier.output->getModelName(), count);
  int64_t numLabels = int64_t(answers.labels.size());
  if (numLabels && numLabels != count - answers.labelOffset)
    return makeError("-label-file has {0} lines, and the output '{1}' {2} "
                     "classes from -label-offset={3} on",
                     numLabels, classifier.output->getModelName(),
                     count - answers.labelOffset, answers.labelOffset);
  return count;
}

/// Sets the input of \p session to the samples of \p paths.
static llvm::Error setSamples(Session &session, const Buffer *input,
                              const SampleReader &reader,
                              llvm::ArrayRef<std::string> paths) {
  Tensor batch(input->getType());
  for (auto [i, path] : llvm::enumerate(paths))
    GLOWISH_RETURN_IF_ERROR(reader.read(path, batch, int64_t(i)));
  return session.setInput(input, batch);
}

/// How many answers in the output are among \p labels, one each; 0 if the
/// outputs can't be read, which is an error later.
static size_t countRight(const Session &session,
                         const ClassifierOptions &options, int64_t batchSize,
                         llvm::ArrayRef<int64_t> labels) {
  llvm::Expected<const Buffer *> output = findOutput(session, options.output);
  if (!output) {
    llvm::consumeError(output.takeError());
    return 0;
  }
  Tensor scores = session.getTensor(*output);
  int64_t numClasses = scores.getNumElements() / batchSize;
  size_t numRight = 0;
  for (auto [i, label] : llvm::enumerate(labels))
    numRight += hasLabel(makeAnswer(scores, int64_t(i) * numClasses, numClasses,
                                    options.answers),
                         label, options.answers);
  return numRight;
}

/// Obeys -max-drop and -max-error, with all files. \p classifier has the model
/// and what reads its input, \p input.
static llvm::Error limitQuantization(Classifier &classifier,
                                     const ClassifierOptions &options,
                                     llvm::StringRef input) {
  PreparedCompilation &prepared = classifier.prepared;
  GLOWISH_ASSIGN_OR_RETURN(std::optional<QuantizationLimit> limit,
                           getQuantizationLimit(prepared.options));
  if (!limit)
    return llvm::Error::success();
  if (options.isStream)
    return makeError("-max-drop and -max-error: names of files come from "
                     "stdin (-); accepted: images or arrays, which are read "
                     "several times");
  if (limit->isOfAnswers && options.expected.empty())
    return makeError("-max-drop has no effect without labels; accepted: with "
                     "-expected-labels=LABEL,...");
  size_t batchSize = size_t(classifier.batchSize);
  auto getPart = [batchSize](auto list, size_t sample) {
    return list.slice(sample * batchSize).take_front(batchSize);
  };
  BudgetModel model;
  model.backend = prepared.backend.get();
  model.path = prepared.path;
  model.importOptions = prepared.importOptions;
  model.function = prepared.options.function;
  model.numSamples = llvm::divideCeil(options.files.size(), batchSize);
  model.fillInputs = [&, getPart](Session &session,
                                  size_t sample) -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(input));
    return setSamples(session, buffer, *classifier.reader,
                      getPart(llvm::ArrayRef(options.files), sample));
  };
  if (limit->isOfAnswers) {
    model.numAnswers = options.files.size();
    model.countRight = [&, getPart](const Session &session, size_t sample) {
      return countRight(session, options, classifier.batchSize,
                        getPart(llvm::ArrayRef(options.expected), sample));
    };
  }
  return applyQuantizationLimit(*limit, std::move(model), prepared.options);
}

/// Makes the program of \p classifier, and what profiles it.
static llvm::Error compileProgram(Classifier &classifier) {
  const auto &[backend, tuner, path, importOptions, symbols, options] =
      classifier.prepared;
  Progress progress;
  progress.show("compiling");
  GLOWISH_ASSIGN_OR_RETURN(
      classifier.profiler,
      createRangeProfiler(*backend, options, path, importOptions));
  Compilation compilation(*backend, options);
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(path, importOptions));
  GLOWISH_ASSIGN_OR_RETURN(classifier.program,
                           compilation.run(std::move(graph)));
  return llvm::Error::success();
}

/// Fills \p classifier, which has the model, unless the compilation stops
/// early.
static llvm::Error compile(Classifier &classifier,
                           const ClassifierOptions &options,
                           PhaseTimer &timer) {
  ImportOptions &importOptions = classifier.prepared.importOptions;
  GLOWISH_ASSIGN_OR_RETURN(ParsedModel::StatedInput input,
                           findInput(options, importOptions));
  classifier.batchSize = *input.shape.front();
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ImageShape> images,
                           findImages(input, options.layout));
  GLOWISH_ASSIGN_OR_RETURN(
      classifier.reader, SampleReader::create(input, images, options.samples));
  Dims shape;
  for (std::optional<int64_t> extent : input.shape)
    shape.push_back(*extent);
  GLOWISH_RETURN_IF_ERROR(checkShape(input.kind, shape));
  importOptions.inputTypes[input.name] = Type(input.kind, shape);
  GLOWISH_RETURN_IF_ERROR(limitQuantization(classifier, options, input.name));
  GLOWISH_RETURN_IF_ERROR(compileProgram(classifier));
  if (!classifier.program || classifier.prepared.options.stopAfter)
    return llvm::Error::success();
  timer.begin("codegen");
  GLOWISH_ASSIGN_OR_RETURN(classifier.session,
                           Session::create(*classifier.program));
  timer.end();
  GLOWISH_ASSIGN_OR_RETURN(classifier.input,
                           classifier.session->findPlaceholder(input.name));
  GLOWISH_ASSIGN_OR_RETURN(classifier.output,
                           findOutput(*classifier.session, options.output));
  classifier.answers = options.answers;
  GLOWISH_ASSIGN_OR_RETURN(classifier.numClasses, countClasses(classifier));
  return llvm::Error::success();
}

/// The answers for \p paths, at most a batch of them.
llvm::Expected<std::vector<Answer>>
Classifier::classify(llvm::ArrayRef<std::string> paths) {
  GLOWISH_RETURN_IF_ERROR(setSamples(*session, input, *reader, paths));
  GLOWISH_RETURN_IF_ERROR(session->run());
  if (profiler)
    GLOWISH_RETURN_IF_ERROR(profiler->run(*session));
  Tensor scores = session->getTensor(output);
  std::vector<Answer> result;
  for (size_t i = 0; i < paths.size(); ++i)
    result.push_back(
        makeAnswer(scores, int64_t(i) * numClasses, numClasses, answers));
  return result;
}

namespace {
/// Prints answers and compares them with the expected labels.
class ResultReport {
public:
  explicit ResultReport(const ClassifierOptions &options) : options(options) {}

  void add(llvm::StringRef path, const Answer &answer) {
    printAnswer(llvm::outs(), path, answer, options.answers);
    if (number < options.expected.size()) {
      int64_t label = options.expected[number];
      bool isRight = hasLabel(answer, label, options.answers);
      numWrong += !isRight;
      llvm::outs() << (isRight ? "\tPASS" : "\tFAIL") << ": expected " << label;
    }
    llvm::outs() << "\n";
    ++number;
  }
  /// A file that can't be read has no answer, but a label.
  void skip() {
    numWrong += number < options.expected.size();
    ++number;
  }

  /// Prints how many answers were as expected; returns the exit code.
  llvm::Expected<int> finish() const {
    if (options.expected.empty())
      return ExitCode::success;
    if (number != options.expected.size())
      return makeError("-expected-labels has {0} labels for {1} files",
                       options.expected.size(), number);
    llvm::outs() << number - numWrong << " of " << number
                 << " labels as expected\n";
    return numWrong ? ExitCode::mismatch : ExitCode::success;
  }

private:
  const ClassifierOptions &options;
  size_t number = 0, numWrong = 0;
};
} // namespace

/// Classifies the files that stdin names, each as soon as its line is there. A
/// bad file is reported, and the next is waited for; the exit code is that of
/// an error then, whatever the labels are.
static llvm::Expected<int> classifyStream(Classifier &classifier,
                                          const ClassifierOptions &options) {
  ResultReport report(options);
  int code = ExitCode::success;
  std::string path;
  while (std::getline(std::cin, path)) {
    if (llvm::StringRef(path).trim().empty())
      continue;
    llvm::Expected<std::vector<Answer>> answers = classifier.classify(path);
    if (answers) {
      report.add(path, answers->front());
    } else {
      code = reportToolError(answers.takeError());
      report.skip();
    }
    llvm::outs().flush();
  }
  GLOWISH_ASSIGN_OR_RETURN(int own, report.finish());
  return code != ExitCode::success ? code : own;
}

/// Classifies the batches of this process; one answer a file.
static llvm::Expected<std::vector<Answer>>
classifyShare(Classifier &classifier, const ClassifierOptions &options,
              const ProcessGroup *group) {
  size_t batchSize = size_t(classifier.batchSize);
  IndexRange batches =
      getShare(group, llvm::divideCeil(options.files.size(), batchSize));
  llvm::ArrayRef<std::string> rest =
      llvm::ArrayRef(options.files)
          .drop_front(std::min(batches.first * batchSize, options.files.size()))
          .take_front(batches.count * batchSize);
  std::vector<Answer> answers;
  while (!rest.empty()) {
    size_t count = std::min(rest.size(), batchSize);
    GLOWISH_ASSIGN_OR_RETURN(std::vector<Answer> batch,
                             classifier.classify(rest.take_front(count)));
    llvm::append_range(answers, batch);
    rest = rest.drop_front(count);
  }
  return answers;
}

/// Prints the answers as soon as they are there.
static llvm::Expected<int> classifyFiles(Classifier &classifier,
                                         const ClassifierOptions &options) {
  ResultReport report(options);
  llvm::ArrayRef<std::string> rest(options.files);
  while (!rest.empty()) {
    size_t count = std::min(rest.size(), size_t(classifier.batchSize));
    GLOWISH_ASSIGN_OR_RETURN(std::vector<Answer> answers,
                             classifier.classify(rest.take_front(count)));
    for (auto [path, answer] : llvm::zip_equal(rest.take_front(count), answers))
      report.add(path, answer);
    rest = rest.drop_front(count);
  }
  return report.finish();
}

/// Prints the answers of all processes, in the first one.
static llvm::Expected<int> reportTogether(llvm::ArrayRef<Answer> answers,
                                          const ClassifierOptions &options,
                                          ProcessGroup &group) {
  std::vector<std::string> records;
  for (const Answer &answer : answers)
    records.push_back(writeAnswer(answer));
  std::vector<std::string> all = gatherRecords(group, records);
  // Without a program there are no answers.
  if (!group.isFirst() || all.empty())
    return ExitCode::success;
  ResultReport report(options);
  for (auto [path, record] : llvm::zip_equal(options.files, all))
    report.add(path, readAnswer(record));
  return report.finish();
}

/// What processes can't do together.
static llvm::Error checkTogether(const ClassifierOptions &options) {
  if (options.isStream)
    return makeError("names of files come from stdin (-), which several "
                     "processes cannot divide; accepted: files or folders");
  if (dumpsProfile())
    return makeError("-dump-profile: several processes would each have a part "
                     "of it; accepted: one process");
  return llvm::Error::success();
}

/// Compiles, and with \p group classifies the files of this process.
static llvm::Expected<int> runAlone(ProcessGroup *group,
                                    ClassifierOptions &options,
                                    std::vector<Answer> &answers) {
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  PhaseTimer timer;
  GLOWISH_ASSIGN_OR_RETURN(options, getClassifierOptions());
  if (group)
    GLOWISH_RETURN_IF_ERROR(checkTogether(options));
  GLOWISH_ASSIGN_OR_RETURN(ModelCompiler compiler, createModelCompiler(timer));
  Classifier classifier;
  GLOWISH_ASSIGN_OR_RETURN(classifier.prepared,
                           compiler.prepareProgram(SymbolForm::Value));
  if (!isFirst(group))
    classifier.prepared.importOptions.isRepeated = true;
  GLOWISH_RETURN_IF_ERROR(compile(classifier, options, timer));
  int code = ExitCode::success;
  if (classifier.session) {
    timer.begin("run");
    if (group) {
      GLOWISH_ASSIGN_OR_RETURN(answers,
                               classifyShare(classifier, options, group));
    } else {
      GLOWISH_ASSIGN_OR_RETURN(code, options.isStream
                                         ? classifyStream(classifier, options)
                                         : classifyFiles(classifier, options));
    }
    GLOWISH_RETURN_IF_ERROR(writeProfile(classifier.profiler.get()));
    timer.end();
  }
  if (isFirst(group))
    reportTime(timer);
  return code;
}

static llvm::Expected<int> runClassifier(ProcessGroup *group) {
  ClassifierOptions options;
  std::vector<Answer> answers;
  GLOWISH_ASSIGN_OR_RETURN(int code,
                           agree(group, runAlone(group, options, answers)));
  return group ? reportTogether(answers, options, *group) : code;
}

int main(int argc, char **argv) {
  return runGroupTool(
      argc, argv,
      "Classifies images: prints the most likely classes of each "
      "file.\n",
      {&modelCategory, &quantizationCategory, &imageCategory, &answerCategory,
       &targetCategory, &debugCategory},
      runClassifier);
}
