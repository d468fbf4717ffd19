//===- Generator.h - Tokens of a language model -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_RUNNER_GENERATOR_H
#define GLOWISH_TOOLS_MODEL_RUNNER_GENERATOR_H

#include "common/GivenInputs.h"
#include "glowish/Driver/ModelVariants.h"

namespace glowish {

/// Appends tokens to the states of a language model, which may have several
/// programs for different numbers of tokens.
class Generator {
public:
  /// What the calls of append() took.
  struct Calls {
    size_t number = 0;
    double seconds = 0;
  };

  /// \p compiled and \p given outlive this. \p constants: the region that
  /// several programs share; null where there is one. It is an error, which
  /// begins with \p option, if the model has no states, no tokens as an input
  /// or no logits, or inputs that neither follow from these nor are given.
  static llvm::Expected<Generator>
  create(llvm::StringLiteral option, const CompiledVariants &compiled,
         const GivenTensors &given, std::shared_ptr<const Tensor> constants);

  /// How many words the model knows.
  int64_t getVocabulary() const;
  /// How many tokens the states may hold before a call; none for states that do
  /// not grow.
  std::optional<int64_t> getMostPast() const;
  /// The input with the tokens.
  llvm::StringRef getTokensName() const;
  /// The program whose calls take as few tokens as possible.
  const PlannedProgram &getSmallestProgram() const;
  /// Whether a call leaves logits for each of its tokens, and not for the last
  /// alone.
  bool hasAllLogits() const;
  /// An error if one of \p ids is no word; \p what has them.
  llvm::Error checkIds(llvm::StringRef what, llvm::ArrayRef<int64_t> ids) const;

  /// Appends \p tokens, in as few calls as the programs allow.
  llvm::Expected<Calls> append(llvm::ArrayRef<int64_t> tokens);
  /// Appends as many of \p tokens as one call takes, and adds it to \p calls;
  /// how many these are.
  llvm::Expected<size_t> appendSome(llvm::ArrayRef<int64_t> tokens,
                                    Calls &calls);
  /// Begins anew: states that grow have no tokens.
  void clear() { length = 0; }
  /// The logits behind a token of the last call, the first of which is 0;
  /// behind its last token where there are no others.
  std::vector<double> getLogits(size_t token) const;
  /// The likeliest token to follow.
  int64_t pickNext() const;

private:
  /// What an input is set to; Symbol: the number of tokens in the states.
  enum class Role {
    Tokens,
    Positions,
    Mask,
    LastPosition,
    Total,
    Symbol,
    Other
  };
  struct Program {
    const PlannedProgram *planned;
    std::unique_ptr<Session> session;
    std::vector<std::pair<const Buffer *, Role>> inputs;
    const Buffer *tokens = nullptr, *logits = nullptr;
    /// How many tokens a call takes; empty, with low above high, where the
    /// mask's extent fits none.
    IntRange count;
    std::optional<IntRange> past;
  };

  explicit Generator(llvm::StringLiteral option) : option(option) {}
  static llvm::Error findPlaceholders(Program &program,
                                      const GivenTensors &given);
  static llvm::Error findInputs(Program &program, const GivenTensors &given);
  static void findCount(Program &program);
  static llvm::Error findLogits(Program &program);
  static llvm::Error setInputs(Program &program, llvm::ArrayRef<int64_t> tokens,
                               int64_t length);
  Program *choose(int64_t left);

  /// What messages begin with.
  llvm::StringLiteral option;
  std::vector<Program> programs;
  /// The program of the last call, which has the states.
  Program *last = nullptr;
  /// How many tokens that call took, and how many the states have.
  int64_t lastCount = 0, length = 0;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_RUNNER_GENERATOR_H
