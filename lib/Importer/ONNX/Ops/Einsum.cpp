//===- Einsum.cpp - Einstein summation ------------------------------------===//

#include "ONNX/Ops/Indexing.h"
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

class EinsumImporter {
public:
  explicit EinsumImporter(OpContext &op) : op(op), c(op) {}
  llvm::Error import();

private:
  llvm::Expected<Labels> parseTerm(llvm::StringRef text, int ellipsis) const;
  llvm::Error readTerm(llvm::StringRef text, unsigned index);
  llvm::Error readOutput(llvm::StringRef text);
  void implyOutput();
  Term takeDiagonals(Term term);
  Term sumOver(Term term, const Labels &kept);
  Term contract(Term a, Term b, const Labels &kept);
  NodeValue arrange(const Term &term, const Labels &order);

  OpContext &op;
  Composer c;
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

/// \p ellipsis is the number of dimensions of `...`.
llvm::Expected<Labels> EinsumImporter::parseTerm(llvm::StringRef text,
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
      return makeError("attribute 'equation' has '{0}' in '{1}'; accepted: "
                       "letters and '...'",
                       text[i], text);
    }
  }
  return labels;
}

llvm::Error EinsumImporter::readTerm(llvm::StringRef text, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  GLOWISH_ASSIGN_OR_RETURN(Labels named, parseTerm(text, 0));
  int ellipsis = int(value.getShape().size()) - int(named.size());
  if (ellipsis < 0 || (ellipsis > 0 && !text.contains("...")))
    return makeError("attribute 'equation' has {0} labels for input {1}, {2}",
                     named.size(), index, value.getType().str());
  if (text.contains("..."))
    maxEllipsis = std::max(maxEllipsis, ellipsis);
  GLOWISH_ASSIGN_OR_RETURN(Labels labels, parseTerm(text, ellipsis));
  DimsRef shape = value.getShape();
  bool fits = labels.size() == shape.size(); // at most one `...`
  for (unsigned d = 0; fits && d < shape.size(); ++d)
    fits = shape[d] == shape[llvm::find(labels, labels[d]) - labels.begin()];
  if (!fits)
    return makeError("attribute 'equation': '{0}' does not fit input {1}, {2}",
                     text, index, value.getType().str());
  written.append(labels);
  terms.push_back(takeDiagonals({value, labels}));
  return llvm::Error::success();
}

/// The implicit output: the dimensions of `...`, then the labels that occur
/// once, in alphabetical order. One that is twice in the same term is summed
/// over.
void EinsumImporter::implyOutput() {
  for (int k = maxEllipsis; k-- > 0;)
    output.push_back(256 + k);
  for (int label = 0; label < 256; ++label)
    if (llvm::count(written, label) == 1)
      output.push_back(label);
}

llvm::Error EinsumImporter::readOutput(llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(output, parseTerm(text, maxEllipsis));
  for (int label : output) {
    bool isKnown = llvm::any_of(
        terms, [&](const Term &term) { return contains(term.labels, label); });
    if (!isKnown || llvm::count(output, label) != 1)
      return makeError("attribute 'equation': the output '{0}' has a label "
                       "twice, or one that no input has",
                       text);
  }
  return llvm::Error::success();
}

/// Takes the diagonal of dimensions with the same label.
Term EinsumImporter::takeDiagonals(Term term) {
  Labels distinct;
  Dims shape;
  DimsRef own = term.value.getShape();
  for (auto [label, extent] : llvm::zip_equal(term.labels, own)) {
    if (contains(distinct, label))
      continue;
    distinct.push_back(label);
    shape.push_back(extent);
  }
  if (distinct.size() == term.labels.size())
    return term;
  Dims strides = getDenseStrides(own);
  NodeValue positions = c.table(ElemKind::Int64, shape, [&](DimsRef index) {
    int64_t position = 0;
    for (unsigned d = 0; d < own.size(); ++d)
      position +=
          strides[d] *
          index[llvm::find(distinct, term.labels[d]) - distinct.begin()];
    return double(position);
  });
  return {gatherPositions(c, term.value, positions), distinct};
}

Term EinsumImporter::sumOver(Term term, const Labels &kept) {
  std::vector<int64_t> axes;
  Labels rest;
  for (auto [d, label] : llvm::enumerate(term.labels)) {
    if (contains(kept, label))
      rest.push_back(label);
    else
      axes.push_back(int64_t(d));
  }
  return {c.reduce(term.value, "sum", axes, /*keepDims=*/false), rest};
}

/// Transposes \p term to the label order \p order, which contains all its
/// labels.
NodeValue EinsumImporter::arrange(const Term &term, const Labels &order) {
  std::vector<int64_t> permutation;
  for (int label : order)
    permutation.push_back(llvm::find(term.labels, label) - term.labels.begin());
  return order == term.labels ? term.value
                              : c.transpose(term.value, permutation);
}

/// Contracts two terms by a matmul: common labels in \p kept are batch
/// dimensions, other common labels are summed over.
Term EinsumImporter::contract(Term a, Term b, const Labels &kept) {
  auto join = [](Labels x, const Labels &y) {
    x.append(y);
    return x;
  };
  a = sumOver(a, join(kept, b.labels));
  b = sumOver(b, join(kept, a.labels));
  if (c.hasFailed())
    return {};
  Labels batch, summed, ofA, ofB;
  for (int label : a.labels)
    (!contains(b.labels, label) ? ofA
     : contains(kept, label)    ? batch
                                : summed)
        .push_back(label);
  for (int label : b.labels)
    if (!contains(a.labels, label))
      ofB.push_back(label);
  Dims shape;
  auto getExtent = [](const Term &term, int label) -> int64_t {
    auto found = llvm::find(term.labels, label);
    return found == term.labels.end()
               ? 1
               : term.value.getShape()[found - term.labels.begin()];
  };
  auto multiply = [&](const Term &term, const Labels &labels) {
    int64_t count = 1;
    for (int label : labels)
      count *= getExtent(term, label);
    return count;
  };
  Dims shapeA, shapeB;
  for (int label : batch) {
    shapeA.push_back(getExtent(a, label));
    shapeB.push_back(getExtent(b, label));
    shape.push_back(std::max(shapeA.back(), shapeB.back()));
  }
  shapeA.append({multiply(a, ofA), multiply(a, summed)});
  shapeB.append({multiply(b, summed), multiply(b, ofB)});
  for (int label : ofA)
    shape.push_back(getExtent(a, label));
  for (int label : ofB)
    shape.push_back(getExtent(b, label));
  NodeValue lhs = c.reshape(arrange(a, join(join(batch, ofA), summed)), shapeA);
  NodeValue rhs = c.reshape(arrange(b, join(join(batch, summed), ofB)), shapeB);
  return {c.reshape(c.matMul(lhs, rhs), shape), join(join(batch, ofA), ofB)};
}

llvm::Error EinsumImporter::import() {
  GLOWISH_ASSIGN_OR_RETURN(std::string equation, op.getString("equation", ""));
  auto [inputs, result] = llvm::StringRef(equation).split("->");
  llvm::SmallVector<llvm::StringRef> texts;
  inputs.split(texts, ',');
  if (texts.size() != op.getNumInputs())
    return makeError("attribute 'equation' is '{0}'; there are {1} inputs",
                     equation, op.getNumInputs());
  for (auto [i, text] : llvm::enumerate(texts))
    GLOWISH_RETURN_IF_ERROR(readTerm(text, i));
  if (inputs.size() == equation.size())
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
  if (!c.hasFailed())
    term = sumOver(term, output);
  return c.setOutput(0, c.hasFailed() ? NodeValue() : arrange(term, output));
}

static llvm::Error importEinsum(OpContext &op) {
  return EinsumImporter(op).import();
}

static OnnxOperator einsumOp("Einsum", 12, importEinsum);
