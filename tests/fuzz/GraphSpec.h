//===- GraphSpec.h - Random graphs to shrink --------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_GRAPHSPEC_H
#define GLOWISH_TESTS_FUZZ_GRAPHSPEC_H

#include "TestCase.h"
#include "glowish/Graph/Nodes.h"

namespace glowish::fuzz {

/// A result of an entry of a spec; entry -1 where an optional operand is
/// absent.
struct ValueRef {
  int entry = -1;
  unsigned result = 0;

  explicit operator bool() const { return entry >= 0; }
  bool operator==(const ValueRef &other) const = default;
};

struct GraphSpec;

/// A node, or storage that a value class fills (Values.h).
struct Entry {
  NodeKind kind = NodeKind::Placeholder;
  /// Of the results; storage states its own, a node's are inferred.
  TypeList types;
  /// Of storage: its value class and seed.
  std::string name;
  llvm::SmallVector<ValueRef, 4> operands;
  /// Of a node, which rows of its results are needed (Predicates.h).
  ValueRef predicate = {};
  /// Body attributes are null: they are in bodies.
  std::vector<AttrValue> attrs;
  /// Of control flow, in the order of the attributes.
  std::vector<GraphSpec> bodies;

  bool isStorage() const {
    return kind == NodeKind::Placeholder || kind == NodeKind::Constant;
  }
};

/// What is saved, and where.
struct Output {
  ValueRef value;
  /// The entry of the state that it is saved to, an input of the value's type;
  /// -1 for an output of its own.
  int state = -1;
};

/// A graph as a list of entries, operands first. Shrinking changes entries and
/// infers all types again; what no type rule accepts is thrown away.
struct GraphSpec {
  /// The first ones are the parameters, if it is a body.
  std::vector<Entry> entries;
  unsigned numParameters = 0;
  std::vector<Output> outputs;

  bool isParameter(int entry) const { return entry < int(numParameters); }
  const Type &getType(ValueRef value) const {
    return entries[value.entry].types[value.result];
  }
  /// Makes the types of all nodes, and of the parameters of their bodies, those
  /// that the rules infer; the error is the first refusal.
  llvm::Error inferTypes();
  /// Removes entries that no output needs, here and in bodies.
  void dropUnused();
  /// Whether \p output can be saved to its state, which no output before it
  /// is saved to.
  bool hasState(const Output &output) const;
  /// The text form. Constants too large to be printed in a line become inputs
  /// whose model name starts with "constant "; parseGraph makes constants of
  /// them.
  std::string print() const;
};

/// The longest constant that the text form prints in a line, and that a body
/// may have.
constexpr int64_t mostPrinted = 16;

/// The parameters of \p entry's bodies.
TypeList getParameters(const GraphSpec &spec, const Entry &entry);

/// The types of \p entry's results over \p spec, as its type rule says.
llvm::Expected<TypeList> inferEntry(const GraphSpec &spec, const Entry &entry);

/// Parses what GraphSpec::print printed.
llvm::Expected<std::unique_ptr<Module>> parseGraph(llvm::StringRef text);

/// The text form of a graph, which is compiled as it is.
class GraphCase : public TestCase {
public:
  explicit GraphCase(std::string text) : text(std::move(text)) {}

  std::string print() const override { return text; }
  llvm::Expected<std::unique_ptr<Module>> makeModule() const override {
    return parseGraph(text);
  }

private:
  std::string text;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_GRAPHSPEC_H
