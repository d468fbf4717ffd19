//===- Answer.cpp - Predicted classes of a sample -------------------------===//

#include "image-classifier/Answer.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

using namespace glowish;

static void applySoftmax(std::vector<double> &scores) {
  double largest = *llvm::max_element(scores), sum = 0;
  for (double &score : scores)
    sum += score = std::exp(score - largest);
  for (double &score : scores)
    score /= sum;
}

static bool areProbabilities(llvm::ArrayRef<double> scores) {
  double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  // Rows of quantized or half precision networks add up roughly.
  return std::fabs(sum - 1) < 0.02 &&
         llvm::all_of(scores, [](double score) { return score >= 0; });
}

Answer glowish::makeAnswer(const Tensor &output, int64_t first, int64_t count,
                           const AnswerOptions &options) {
  std::vector<double> scores;
  for (int64_t i = 0; i < count; ++i)
    scores.push_back(output.getAsDouble(first + i));
  if (options.softmax)
    applySoftmax(scores);
  std::vector<Answer::Class> classes;
  for (auto [i, score] : llvm::enumerate(scores))
    classes.push_back({int64_t(i), score});
  auto isBetter = [](const Answer::Class &a, const Answer::Class &b) {
    if (std::isnan(a.score) != std::isnan(b.score))
      return std::isnan(b.score);
    return a.score > b.score || (!(a.score < b.score) && a.index < b.index);
  };
  llvm::sort(classes, isBetter);
  classes.resize(std::min(classes.size(), options.topK));
  return {std::move(classes), areProbabilities(scores)};
}

bool glowish::hasLabel(const Answer &answer, int64_t label,
                       const AnswerOptions &options) {
  return llvm::any_of(answer.best, [&](const Answer::Class &entry) {
    return entry.index - options.labelOffset == label;
  });
}

void glowish::printAnswer(llvm::raw_ostream &os, llvm::StringRef path,
                          const Answer &answer, const AnswerOptions &options) {
  os << " File: " << path;
  for (auto [rank, entry] : llvm::enumerate(answer.best)) {
    int64_t label = entry.index - options.labelOffset;
    os << "\tLabel-K" << rank + 1 << ": " << label;
    if (label >= 0 && label < int64_t(options.labels.size()))
      os << " " << options.labels[size_t(label)];
    os << (answer.areProbabilities ? " (probability: " : " (score: ")
       << llvm::format("%.4f", entry.score) << ")";
  }
}

//===- Bytes --------------------------------------------------------------===//

std::string glowish::writeAnswer(const Answer &answer) {
  std::string bytes(1, char(answer.areProbabilities));
  for (const Answer::Class &each : answer.best) {
    char numbers[2 * sizeof(uint64_t)];
    llvm::support::endian::write64le(numbers, uint64_t(each.index));
    llvm::support::endian::write64le(numbers + sizeof(uint64_t),
                                     llvm::bit_cast<uint64_t>(each.score));
    bytes.append(numbers, sizeof(numbers));
  }
  return bytes;
}

Answer glowish::readAnswer(llvm::StringRef bytes) {
  Answer answer;
  answer.areProbabilities = bytes.front();
  for (bytes = bytes.drop_front(); !bytes.empty();
       bytes = bytes.drop_front(2 * sizeof(uint64_t))) {
    uint64_t index = llvm::support::endian::read64le(bytes.data());
    uint64_t score =
        llvm::support::endian::read64le(bytes.data() + sizeof(uint64_t));
    answer.best.push_back({int64_t(index), llvm::bit_cast<double>(score)});
  }
  return answer;
}
