//===- Einsum.cpp - Einstein summation ------------------------------------===//

#include "Common/Einsum.h"
#include "Common/Positions.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

namespace {

/// Labels of dimensions: a letter, or 256 + i for dimension i, counted from the
/// end, of `...`.
using Labels = llvm::SmallVector<int, 8>;

/// A value whose dimensions have distinct labels.
struct Term {
  NodeValue value;
  Labels labels;
};

class EinsumBuilder {
public:
  explicit EinsumBuilder(NodeBuilder &b) : b(b) {}
  llvm::Expected<NodeValue> build(llvm::StringRef equation,
                                  llvm::ArrayRef<NodeValue> inputs);

private:
  llvm::Expected<Labels> parseTerm(llvm::StringRef text, int ellipsis) const;
  llvm::Error readTerm(llvm::StringRef text, unsigned index, NodeValue value);
  llvm::Error readOutput(llvm::StringRef text);
  void implyOutput();
  Term takeDiagonals(Term term);
  Term sumOver(Term term, const Labels &kept);
  Term dropBroadcast(Term term, const Term &other, const Labels &kept);
  Term contract(Term x, Term y, const Labels &kept);
  NodeValue arrange(const Term &term, const Labels &order);

  NodeBuilder &b;
  std::vector<Term> terms;
  /// The labels of all terms as they are written, before diagonals are taken.
  Labels written;
  Labels output;
  int maxEllipsis = 0;
};

} // namespace

static bool contains(const Labels &labels, int label) {
  return llvm::is_contained(labels, label);
}

/// Returns the extent of \p term along \p label; 1 if it has no such dimension.
static int64_t getExtent(const Term &term, int label) {
  auto found = llvm::find(term.labels, label);
  return found == term.labels.end()
             ? 1
             : term.value.getShape()[found - term.labels.begin()];
}

/// Whether a run decides the extent of \p term along \p label, which it has.
static bool isOpen(const Term &term, int label) {
  auto found = llvm::find(term.labels, label);
  return term.value.getType().getExtent(found - term.labels.begin());
}

/// \p ellipsis is the number of dimensions of `...`.
llvm::Expected<Labels> EinsumBuilder::parseTerm(llvm::StringRef text,
                                                int ellipsis) const {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...")) {
      for (int k = ellipsis; k-- > 0;)
        labels.push_back(256 + k);
      i += 2;
    } else if (llvm::isAlpha(text[i])) {
      labels.push_back(text[i]);
    } else if (text[i] != ' ') {
      return makeError("the equation has '{0}' in '{1}'; accepted: "
                       "letters and '...'",
                       text[i], text);
    }
  }
  return labels;
}

llvm::Error EinsumBuilder::readTerm(llvm::StringRef text, unsigned index,
                                    NodeValue value) {
  GLOWISH_ASSIGN_OR_RETURN(Labels named, parseTerm(text, 0));
  int ellipsis = int(value.getShape().size()) - int(named.size());
  if (ellipsis < 0 || (ellipsis > 0 && !text.contains("...")))
    return makeError("the equation has {0} labels for input {1}, {2}",
                     named.size(), index, value.getType().str());
  if (text.contains("..."))
    maxEllipsis = std::max(maxEllipsis, ellipsis);
  GLOWISH_ASSIGN_OR_RETURN(Labels labels, parseTerm(text, ellipsis));
  DimsRef shape = value.getShape();
  bool fits = labels.size() == shape.size(); // at most one `...`
  for (unsigned d = 0; fits && d < shape.size(); ++d)
    fits = shape[d] == shape[llvm::find(labels, labels[d]) - labels.begin()];
  if (!fits)
    return makeError("the equation: '{0}' does not fit input {1}, {2}", text,
                     index, value.getType().str());
  written.append(labels);
  terms.push_back(takeDiagonals({value, labels}));
  return llvm::Error::success();
}

/// The implicit output: the dimensions of `...`, then the labels that occur
/// once, in alphabetical order. One that is twice in the same term is summed
/// over.
void EinsumBuilder::implyOutput() {
  for (int k = maxEllipsis; k-- > 0;)
    output.push_back(256 + k);
  for (int label = 0; label < 256; ++label)
    if (llvm::count(written, label) == 1)
      output.push_back(label);
}

llvm::Error EinsumBuilder::readOutput(llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(output, parseTerm(text, maxEllipsis));
  for (int label : output) {
    bool isKnown = llvm::any_of(
        terms, [&](const Term &term) { return contains(term.labels, label); });
    if (!isKnown || llvm::count(output, label) != 1)
      return makeError("the equation: the output '{0}' has a label "
                       "twice, or one that no input has",
                       text);
  }
  return llvm::Error::success();
}

/// Takes the diagonal of dimensions with the same label.
Term EinsumBuilder::takeDiagonals(Term term) {
  Labels distinct;
  Dims shape;
  ExtentList lengths;
  DimsRef own = term.value.getShape();
  for (auto [d, label] : llvm::enumerate(term.labels)) {
    if (contains(distinct, label))
      continue;
    distinct.push_back(label);
    shape.push_back(own[d]);
    lengths.push_back(term.value.getType().getLength(d));
  }
  if (distinct.size() == term.labels.size())
    return term;
  Dims strides = getDenseStrides(own);
  NodeValue positions = b.table(ElemKind::Int64, shape, [&](DimsRef index) {
    int64_t position = 0;
    for (unsigned d = 0; d < own.size(); ++d)
      position +=
          strides[d] *
          index[llvm::find(distinct, term.labels[d]) - distinct.begin()];
    return double(position);
  });
  NodeValue diagonals = gatherPositions(b, term.value, positions);
  if (diagonals)
    diagonals =
        b.declareExtents(diagonals, diagonals.getType().withExtents(lengths));
  return {diagonals, distinct};
}

Term EinsumBuilder::sumOver(Term term, const Labels &kept) {
  std::vector<int64_t> axes;
  Labels rest;
  for (auto [d, label] : llvm::enumerate(term.labels)) {
    if (contains(kept, label))
      rest.push_back(label);
    else
      axes.push_back(int64_t(d));
  }
  return {b.reduce(term.value, "sum", axes, /*keepDims=*/false), rest};
}

/// Transposes \p term to the label order \p order, which contains all its
/// labels.
NodeValue EinsumBuilder::arrange(const Term &term, const Labels &order) {
  std::vector<int64_t> permutation;
  for (int label : order)
    permutation.push_back(llvm::find(term.labels, label) - term.labels.begin());
  return order == term.labels ? term.value
                              : b.transpose(term.value, permutation);
}

/// Returns \p term without dimensions of one index that \p other has more
/// indices along, unless they are in \p kept: its elements are factors of
/// whole sums.
Term EinsumBuilder::dropBroadcast(Term term, const Term &other,
                                  const Labels &kept) {
  Labels rest;
  Dims shape;
  DimsRef own = term.value.getShape();
  for (auto [label, extent] : llvm::zip_equal(term.labels, own)) {
    if (extent == 1 && !contains(kept, label) && getExtent(other, label) != 1)
      continue;
    rest.push_back(label);
    shape.push_back(extent);
  }
  return {b.reshape(term.value, shape), rest};
}

/// Contracts two terms by a matmul: common labels in \p kept are batch
/// dimensions, other common labels are summed over.
Term EinsumBuilder::contract(Term x, Term y, const Labels &kept) {
  auto join = [](Labels first, const Labels &second) {
    first.append(second);
    return first;
  };
  if (b.hasFailed())
    return {};
  Term whole = x;
  x = dropBroadcast(x, y, kept);
  y = dropBroadcast(y, whole, kept);
  x = sumOver(x, join(kept, y.labels));
  y = sumOver(y, join(kept, x.labels));
  if (b.hasFailed())
    return {};
  Labels batch, summed, ofA, ofB;
  for (int label : x.labels)
    (!contains(y.labels, label) ? ofA
     : contains(kept, label)    ? batch
                                : summed)
        .push_back(label);
  for (int label : y.labels)
    if (!contains(x.labels, label))
      ofB.push_back(label);
  Dims shape;
  auto multiply = [&](const Term &term, const Labels &labels) {
    int64_t count = 1;
    for (int label : labels)
      count *= getExtent(term, label);
    return count;
  };
  Dims shapeA, shapeB;
  for (int label : batch) {
    shapeA.push_back(getExtent(x, label));
    shapeB.push_back(getExtent(y, label));
    shape.push_back(shapeA.back() == 1 ? shapeB.back() : shapeA.back());
  }
  // Rows are not numbered by several dimensions of which a run decides an inner
  // one: then the outer ones broadcast.
  Labels rows = ofA;
  if (llvm::any_of(llvm::drop_begin(ofA, ofA.empty() ? 0 : 1),
                   [&](int label) { return isOpen(x, label); })) {
    for (int label : llvm::drop_end(ofA)) {
      shapeA.push_back(getExtent(x, label));
      shapeB.push_back(1);
    }
    rows = {ofA.back()};
  }
  shapeA.append({multiply(x, rows), multiply(x, summed)});
  shapeB.append({multiply(y, summed), multiply(y, ofB)});
  for (int label : ofA)
    shape.push_back(getExtent(x, label));
  for (int label : ofB)
    shape.push_back(getExtent(y, label));
  NodeValue lhs = b.reshape(arrange(x, join(join(batch, ofA), summed)), shapeA);
  NodeValue rhs = b.reshape(arrange(y, join(join(batch, summed), ofB)), shapeB);
  return {b.reshape(b.matMul(lhs, rhs), shape), join(join(batch, ofA), ofB)};
}

llvm::Expected<NodeValue>
EinsumBuilder::build(llvm::StringRef equation,
                     llvm::ArrayRef<NodeValue> inputs) {
  auto [operands, result] = equation.split("->");
  llvm::SmallVector<llvm::StringRef> texts;
  operands.split(texts, ',');
  if (texts.size() != inputs.size())
    return makeError("the equation is '{0}'; there are {1} inputs", equation,
                     inputs.size());
  for (auto [i, text] : llvm::enumerate(texts))
    GLOWISH_RETURN_IF_ERROR(readTerm(text, unsigned(i), inputs[i]));
  if (operands.size() == equation.size())
    implyOutput();
  else
    GLOWISH_RETURN_IF_ERROR(readOutput(result));
  Term term = terms[0];
  for (unsigned i = 1; i < terms.size(); ++i) {
    Labels kept = output;
    for (unsigned k = i + 1; k < terms.size(); ++k)
      kept.append(terms[k].labels);
    term = contract(term, terms[i], kept);
  }
  if (!b.hasFailed())
    term = sumOver(term, output);
  return b.finish(b.hasFailed() ? NodeValue() : arrange(term, output));
}

llvm::Expected<NodeValue>
glowish::makeEinsum(NodeBuilder &b, llvm::StringRef equation,
                    llvm::ArrayRef<NodeValue> inputs) {
  return EinsumBuilder(b).build(equation, inputs);
}
