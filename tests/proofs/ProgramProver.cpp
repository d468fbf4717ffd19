//===- ProgramProver.cpp - Proves what passes over the IR do --------------===//

#include "ProgramProver.h"
#include "ProgramTerms.h"
#include "common/RandomProgram.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
using namespace glowish::proofs;

using MakeProgram =
    llvm::function_ref<llvm::Expected<std::unique_ptr<IRFunction>>()>;

static std::string print(const IRFunction &function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIR(os, function, /*sideFile=*/nullptr);
  return text;
}

/// Leaves to \p pass only what no other pass has done: no buffer without users
/// but its own kind of work. Lifetimes are as long as they can be.
static llvm::Error prepare(const IRPass &pass, IRFunction &program) {
  if (pass.run == insertLifetimes) {
    std::vector<Instruction *> marks;
    for (Instruction &instr : program.getInstrs())
      if (instr.isLifetimeMarker())
        marks.push_back(&instr);
    for (Instruction *mark : marks)
      program.moveBefore(mark, llvm::isa<AllocInstr>(mark)
                                   ? &program.getInstrs().front()
                                   : nullptr);
  } else if (pass.run != mergeViews) {
    return mergeViews(program, IRPassContext()).takeError();
  }
  return llvm::Error::success();
}

/// Runs \p pass on a program, and returns whether it changed it.
/// \p overwritesInputs: whether it may take over the memory of inputs, which
/// then need not be left as they were.
static llvm::Expected<bool> prove(const IRPass &pass, MakeProgram make,
                                  bool overwritesInputs,
                                  std::string &refutation) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> program, make());
  GLOWISH_RETURN_IF_ERROR(prepare(pass, *program));
  TermTable terms;
  ProgramState before = evaluate(terms, *program, !overwritesInputs);
  std::string text = print(*program);
  IRPassContext context;
  if (overwritesInputs)
    context.overwritesInputs = program.get();
  GLOWISH_ASSIGN_OR_RETURN(bool changed, pass.run(*program, context));
  if (!changed)
    return false;
  std::string difference = llvm::toString(verify(*program));
  if (difference.empty())
    difference =
        compare(terms, before, evaluate(terms, *program, !overwritesInputs));
  if (!difference.empty() && refutation.empty())
    refutation =
        difference + "\nbefore:\n" + text + "after:\n" + print(*program);
  return true;
}

static llvm::Error proveAll(llvm::ArrayRef<IRPass> passes, MakeProgram make,
                            unsigned ProgramEvidence::*count,
                            ProgramEvidences &evidences) {
  for (const IRPass &pass : passes) {
    ProgramEvidence &evidence = evidences[pass.name.str()];
    bool isChanged = false;
    for (bool overwritesInputs : {false, true}) {
      GLOWISH_ASSIGN_OR_RETURN(bool changed, prove(pass, make, overwritesInputs,
                                                   evidence.refutation));
      isChanged |= changed;
    }
    evidence.*count += isChanged;
  }
  return llvm::Error::success();
}

/// The programs in a file of lit tests.
static std::vector<std::string> findPrograms(llvm::StringRef text) {
  std::vector<std::string> programs;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  text.split(lines, '\n');
  bool isInside = false;
  for (llvm::StringRef line : lines) {
    bool isBegin = line.starts_with("ir \"");
    isInside = isBegin || (isInside && !line.starts_with("//---"));
    if (isBegin)
      programs.emplace_back();
    if (isInside)
      programs.back() += line.str() + "\n";
  }
  return programs;
}

llvm::Error proofs::proveWritten(llvm::ArrayRef<IRPass> passes,
                                 llvm::StringRef folder,
                                 ProgramEvidences &evidences) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".test"))
      paths.push_back(it->path());
  if (error)
    return makeError("{0}: {1}", folder, error.message());
  llvm::sort(paths);
  for (const std::string &path : paths) {
    GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
    for (const std::string &text : findPrograms(file->getBuffer())) {
      auto make = [&] { return parseIR(text, path, nullptr); };
      if (auto program = make(); !program) {
        llvm::consumeError(program.takeError());
        continue;
      }
      GLOWISH_RETURN_IF_ERROR(
          proveAll(passes, make, &ProgramEvidence::written, evidences));
    }
  }
  return llvm::Error::success();
}

llvm::Error proofs::proveRandom(llvm::ArrayRef<IRPass> passes, unsigned count,
                                ProgramEvidences &evidences) {
  for (unsigned seed = 0; seed < count; ++seed)
    GLOWISH_RETURN_IF_ERROR(proveAll(
        passes, [&] { return test::makeRandomProgram(seed); },
        &ProgramEvidence::random, evidences));
  return llvm::Error::success();
}

/// Runs the pipeline of the IR on \p program.
static llvm::Error provePipeline(IRFunction &program,
                                 ProgramEvidences &evidences) {
  TermTable terms;
  ProgramState before;
  std::string text;
  IRPassHooks hooks;
  hooks.before = [&](llvm::StringRef, IRFunction &function, bool) {
    before = evaluate(terms, function);
    text = print(function);
    return true;
  };
  hooks.after = [&](llvm::StringRef pass, IRFunction &function, bool changed) {
    ProgramEvidence &evidence = evidences[pass.str()];
    evidence.generated += changed;
    std::string difference = compare(terms, before, evaluate(terms, function));
    if (!difference.empty() && evidence.refutation.empty())
      evidence.refutation =
          difference + "\nbefore:\n" + text + "after:\n" + print(function);
    return verify(function);
  };
  return runPipeline(getIRPipeline(), getIRPasses(), program, IRPassContext(),
                     hooks)
      .takeError();
}

llvm::Error proofs::proveGenerated(llvm::ArrayRef<RuleCase> cases,
                                   ProgramEvidences &evidences) {
  // Combinations of one pattern differ in what the IR does not see.
  constexpr unsigned maxCombinations = 4;
  std::map<unsigned, unsigned> numCombinations;
  for (const RuleCase &each : cases) {
    auto module = parseModule(each.text, "case", nullptr);
    if (!module) {
      llvm::consumeError(module.takeError());
      continue;
    }
    if (++numCombinations[each.line] > maxCombinations)
      continue;
    Function &function = *(*module)->getFunctions().front();
    GLOWISH_RETURN_IF_ERROR(lowerForInterpreter(function));
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> program,
                             generateIR(function, scheduleNodes(function)));
    GLOWISH_RETURN_IF_ERROR(provePipeline(*program, evidences));
  }
  return llvm::Error::success();
}
