//===- TermFrequency.cpp - Import of TfIdfVectorizer ----------------------===//

#include "Common/Positions.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The validated attributes of TfIdfVectorizer.
struct Vocabulary {
  int64_t minLength, maxLength, maxSkip;
  std::string mode;
  /// Items of all n-grams; those of n items begin at starts[n - 1].
  std::vector<int64_t> pool, starts;
  /// The output position of each n-gram.
  std::vector<int64_t> outputPositions;
  std::vector<double> weights;

  int64_t getNumGrams(int64_t length) const {
    int64_t end =
        length < int64_t(starts.size()) ? starts[length] : int64_t(pool.size());
    return (end - starts[length - 1]) / length;
  }
  int64_t getSize() const {
    return outputPositions.empty() ? 0
                                   : *llvm::max_element(outputPositions) + 1;
  }
};

} // namespace

static llvm::Error checkPool(const Vocabulary &v) {
  int64_t numGrams = 0;
  for (size_t n = 1; n <= v.starts.size(); ++n) {
    int64_t start = v.starts[n - 1];
    int64_t end = n < v.starts.size() ? v.starts[n] : int64_t(v.pool.size());
    if (start < 0 || end < start || end > int64_t(v.pool.size()) ||
        (end - start) % int64_t(n) != 0)
      return makeError("'ngram_counts' gives {0}-grams the elements {1} to {2} "
                       "of a pool of {3}; accepted: a multiple of {0} of them",
                       n, start, end, v.pool.size());
    numGrams += (end - start) / int64_t(n);
  }
  if (numGrams != int64_t(v.outputPositions.size()))
    return makeError("'ngram_indexes' has {0} elements; accepted: {1}, one for "
                     "each n-gram of the pool",
                     v.outputPositions.size(), numGrams);
  std::vector<int64_t> sorted = v.outputPositions;
  llvm::sort(sorted);
  if (!sorted.empty() &&
      (sorted[0] < 0 || sorted.back() > INT32_MAX ||
       std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()))
    return makeError("'ngram_indexes' has an element twice, or one that is "
                     "negative or above {0}",
                     INT32_MAX);
  return llvm::Error::success();
}

static llvm::Expected<Vocabulary> readVocabulary(OpContext &op) {
  Vocabulary v;
  v.minLength = op.getInt("min_gram_length", 0);
  v.maxLength = op.getInt("max_gram_length", 0);
  v.maxSkip = op.getInt("max_skip_count", -1);
  v.mode = op.getString("mode", "");
  v.starts = op.getInts("ngram_counts", {});
  v.outputPositions = op.getInts("ngram_indexes", {});
  if (op.hasAttr("pool_strings"))
    return makeError("'pool_strings' is given; accepted: 'pool_int64s'");
  v.pool = op.getInts("pool_int64s", {});
  v.weights = op.getFloats("weights");
  if (v.maxSkip > 1024)
    return makeError("'max_skip_count' is {0}; accepted: up to 1024",
                     v.maxSkip);
  if (v.minLength < 1 || v.maxLength < v.minLength || v.maxSkip < 0 ||
      v.maxLength > int64_t(v.starts.size()))
    return makeError("n-grams of {0} to {1} items with up to {2} skipped, and "
                     "{3} lengths in 'ngram_counts'; accepted: at least 1 item "
                     "and as many lengths, at least 0 skipped",
                     v.minLength, v.maxLength, v.maxSkip, v.starts.size());
  if (v.mode != "TF" && v.mode != "IDF" && v.mode != "TFIDF")
    return makeError("attribute 'mode' is '{0}'; accepted: TF, IDF, TFIDF",
                     v.mode);
  GLOWISH_RETURN_IF_ERROR(checkPool(v));
  if (v.weights.empty())
    v.weights.assign(v.outputPositions.size(), 1);
  if (v.weights.size() != v.outputPositions.size())
    return makeError("'weights' has {0} elements; accepted: {1}",
                     v.weights.size(), v.outputPositions.size());
  return v;
}

namespace {
/// The rows of a text, [rows, columns], and the number of columns that are
/// there, an int64 scalar; null for all.
struct Text {
  NodeValue rows, numColumns;
};
} // namespace

/// Counts the n-grams of \p length items at distance \p distance in each row of
/// \p text: [rows, grams]. Null if the rows are too short.
static NodeValue countGrams(OpContext &op, const Text &all, const Vocabulary &v,
                            int64_t length, int64_t distance) {
  NodeValue text = all.rows;
  if (!text)
    return {};
  int64_t rows = text.getShape()[0], columns = text.getShape()[1];
  if ((length - 1) > (columns - 1) / distance)
    return {};
  int64_t numStarts = columns - (length - 1) * distance;
  int64_t numGrams = v.getNumGrams(length);
  NodeValue matches;
  for (int64_t k = 0; k < length; ++k) {
    std::vector<int64_t> items;
    for (int64_t gram = 0; gram < numGrams; ++gram)
      items.push_back(v.pool[v.starts[length - 1] + gram * length + k]);
    NodeValue item = op.reshape(op.slice(text, 1, k * distance, numStarts),
                                {rows, numStarts, 1});
    NodeValue match = op.equal(item, op.int64s(items));
    matches = matches ? op.logicalAnd(matches, match) : match;
  }
  if (all.numColumns)
    matches = op.logicalAnd(
        matches,
        op.less(op.iota(ElemKind::Int64, 3, 1, numStarts),
                op.sub(all.numColumns, double((length - 1) * distance))));
  return op.reduce(op.cast(matches, ElemKind::Float), "sum", {1}, false);
}

/// Counts all n-grams of the pool: [rows, grams].
static NodeValue countAll(OpContext &op, const Text &text,
                          const Vocabulary &v) {
  int64_t rows = text.rows.getShape()[0], columns = text.rows.getShape()[1];
  std::vector<NodeValue> parts;
  for (int64_t length = 1; length <= int64_t(v.starts.size()); ++length) {
    NodeValue sum;
    bool isCounted = length >= v.minLength && length <= v.maxLength;
    // Single items have no gaps, and gaps are limited by the length of a row.
    int64_t skips = length == 1 ? 0 : std::min(v.maxSkip, columns);
    for (int64_t skip = 0; isCounted && columns > 0 && skip <= skips; ++skip)
      if (NodeValue part = countGrams(op, text, v, length, skip + 1))
        sum = sum ? op.add(sum, part) : part;
    if (!sum)
      sum = op.splat(ElemKind::Float, {rows, v.getNumGrams(length)}, 0);
    parts.push_back(sum);
  }
  return op.concat(parts, 1);
}

/// Counts the n-grams of each row of integers (or of a single row), at the
/// output positions 'ngram_indexes'. With mode IDF the output is the weights of
/// n-grams that occur, with TFIDF counts times weights.
static llvm::Error importTfIdfVectorizer(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(Vocabulary v, readVocabulary(op));
  unsigned rank = input.getShape().size();
  if (rank < 1 || rank > 2 || !isIntegerKind(input.getElemKind()))
    return op.refuseInput(0, "integers of rank 1 or 2");
  int64_t rows = rank == 1 ? 1 : input.getShape()[0], size = v.getSize();
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Double, {rows, size}));
  GLOWISH_RETURN_IF_ERROR(op.checkBudget(size * 12));
  std::optional<Extent> numRows =
      rank == 1 ? std::nullopt : findExtent(input, 0);
  Text text;
  if (input.getType().getExtent(rank - 1))
    text.numColumns = op.getLength(input, rank - 1);
  text.rows = op.cast(op.dropExtents(input), ElemKind::Int64);
  text.rows = op.reshape(text.rows, {rows, input.getShape().back()});
  if (op.hasFailed())
    return op.setOutput(0, {});
  NodeValue counts = countAll(op, text, v);
  // Output positions without an n-gram refer to the column of zeros at the end.
  int64_t numGrams = v.outputPositions.size();
  std::vector<int64_t> source(size, numGrams);
  std::vector<double> weights(size, 0);
  for (int64_t gram = 0; gram < numGrams; ++gram) {
    source[v.outputPositions[gram]] = gram;
    weights[v.outputPositions[gram]] = v.weights[gram];
  }
  NodeValue all =
      op.concat({counts, op.splat(ElemKind::Float, {rows, 1}, 0)}, 1);
  NodeValue result = op.gather(all, op.int64s(source), 1);
  if (v.mode != "TF") {
    NodeValue factors = op.table(ElemKind::Float, {size}, [&](DimsRef index) {
      return weights[index[0]];
    });
    NodeValue present = op.cast(op.greater(result, 0), ElemKind::Float);
    result = op.mul(v.mode == "IDF" ? present : result, factors);
  }
  return op.setOutput(0, rank == 1 ? op.reshape(result, {size})
                                   : restateExtents(op, result, {numRows, {}}));
}

static OnnxOperator tfIdfVectorizerOp("TfIdfVectorizer", 9,
                                      withExtents<importTfIdfVectorizer>);
