//===- GraphTarget.h - Graphs that others run -------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_GRAPHTARGET_H
#define GLOWISH_TESTS_FUZZ_GRAPHTARGET_H

#include "RunValues.h"
#include "glowish/Graph/Node.h"
#include <set>

namespace glowish::fuzz {

/// A graph that the target has no form of.
class Inexpressible : public llvm::ErrorInfo<Inexpressible> {
public:
  static char ID;

  explicit Inexpressible(std::string text) : text(std::move(text)) {}

  /// "Scatter: tosa has no form of it", one for each kind of nodes and reason.
  std::set<std::string> getReasons() const;

  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  /// "node 'a' (Scatter): tosa has no form of it; ..." or "Cast 'a': ...", as
  /// exporters say it.
  std::string text;
};

/// Another compiler or runtime: graphs are written in a form that it reads
/// after the graph passes, and it runs them.
class GraphTarget {
public:
  virtual ~GraphTarget() = default;

  /// As -on names it.
  virtual llvm::StringRef getName() const = 0;
  /// Whether \p node has a form as it is; else it is lowered.
  virtual bool hasForm(const Node &node) const = 0;
  /// The outputs of \p module in a run that states \p values. May rewrite the
  /// module, so that it computes the same. The error is Inexpressible where the
  /// target has no form of the graph.
  virtual llvm::Expected<Outputs> run(Module &module,
                                      const RunExtents &values) const = 0;
};

/// The bytes of \p tensor to \p path.
llvm::Error writeElements(const std::string &path, const Tensor &tensor);
/// The bytes of \p path as the elements of \p type.
llvm::Expected<Tensor> readElements(const std::string &path, const Type &type);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_GRAPHTARGET_H
