//===- glowish-prove.cpp - Proves what rewrites and passes keep -----------===//

#include "PlantedPasses.h"
#include "PlantedRewrites.h"
#include "ProofReport.h"
#include "RuleProver.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include <climits>
#include <malloc.h>

using namespace glowish;
using namespace glowish::proofs;
namespace cl = llvm::cl;

static cl::opt<std::string> rulesFolder("rules",
                                        cl::desc("The folder of the cases"),
                                        cl::value_desc("folder"),
                                        cl::init(PROOF_RULES));
static cl::opt<std::string>
    programsFolder("programs", cl::desc("The folder of tests of IR passes"),
                   cl::value_desc("folder"), cl::init(PROOF_PROGRAMS));
static cl::opt<std::string> onlyPass("pass", cl::desc("Of this pass alone"),
                                     cl::value_desc("name"));
static cl::opt<std::string> docPath("doc", cl::desc("Write docs/proofs.md"),
                                    cl::value_desc("file"));
static cl::opt<std::string>
    checkedDoc("check-doc", cl::desc("Fail where this is not what -doc writes"),
               cl::value_desc("file"));
static cl::opt<bool>
    onlyPlanted("planted",
                cl::desc("Instead, find the rewrites that are wrong on "
                         "purpose"));
static cl::opt<bool> verbose("verbose",
                             cl::desc("Print what is undecided, too"));

static llvm::Expected<RuleCases> readCases(llvm::StringRef pass,
                                           std::string &path) {
  path = (rulesFolder + "/" + pass + ".cases").str();
  if (!llvm::sys::fs::exists(path))
    return RuleCases();
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
  return readRuleCases(file->getBuffer(), path);
}

/// Whether one of \p cases refutes \p planted.
static llvm::Expected<bool> isFound(const PlantedRewrite &planted,
                                    llvm::ArrayRef<RuleCase> cases,
                                    llvm::StringRef path) {
  GraphPass pass = {planted.pass, Exactness::Rounding, "", planted.run};
  for (const RuleCase &each : cases) {
    if (each.rule != planted.rewrite)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(PassProof proof, provePass(pass, each, path));
    for (const auto &[name, evidence] : proof.evidence)
      if (!evidence.refutation.empty())
        return true;
  }
  return false;
}

/// Random programs are small: a pass changes hundreds of these.
static constexpr unsigned numRandomPrograms = 1000;

static llvm::Error findPlantedPasses() {
  for (const IRPass &planted : getPlantedPasses()) {
    ProgramEvidences evidences;
    GLOWISH_RETURN_IF_ERROR(proveWritten(planted, programsFolder, evidences));
    GLOWISH_RETURN_IF_ERROR(proveRandom(planted, numRandomPrograms, evidences));
    if (evidences[planted.name.str()].refutation.empty())
      return makeError("{0}: {1}: not found", planted.name, planted.doc);
    llvm::outs() << "found: " << planted.name << ": " << planted.doc << "\n";
  }
  return llvm::Error::success();
}

/// Each must be refuted by one of the cases of the rewrite that it is in place
/// of.
static llvm::Error findPlanted() {
  for (const PlantedRewrite &planted : getPlantedRewrites()) {
    std::string path;
    GLOWISH_ASSIGN_OR_RETURN(RuleCases cases, readCases(planted.pass, path));
    GLOWISH_ASSIGN_OR_RETURN(bool found, isFound(planted, cases.cases, path));
    if (!found)
      return makeError("{0}, {1}: {2}: not found", planted.pass,
                       planted.rewrite, planted.fault);
    llvm::outs() << "found: " << planted.pass << ", " << planted.rewrite << ": "
                 << planted.fault << "\n";
  }
  return findPlantedPasses();
}

/// Runs the cases of \p pass, if there is a file of them.
static llvm::Expected<ProvedPass> prove(const GraphPass &pass) {
  ProvedPass result = {&pass, {}};
  for (const std::string &rewrite : listRewrites(pass))
    result.evidence[rewrite];
  std::string path;
  GLOWISH_ASSIGN_OR_RETURN(RuleCases cases, readCases(pass.name, path));
  GLOWISH_ASSIGN_OR_RETURN(PassProof proof, provePass(pass, cases.cases, path));
  if (!proof.idleCase.empty())
    return makeError("{0}", proof.idleCase);
  for (auto &[rule, own] : proof.evidence)
    result.evidence[rule] = own;
  for (const auto &[rule, reason] : cases.reasons)
    result.evidence[rule].reason = reason;
  return result;
}

/// Prints what is refuted, and what is undecided where that is asked for.
/// Returns whether something is refuted.
static bool printRefutations(const Proofs &proofs) {
  bool isRefuted = false;
  for (const ProvedPass &pass : proofs.graph)
    for (const auto &[rule, evidence] : pass.evidence) {
      if (!evidence.refutation.empty())
        llvm::errs() << pass.pass->name << ": " << rule
                     << ": REFUTED: " << evidence.refutation << "\n";
      else if (verbose && !evidence.doubt.empty())
        llvm::errs() << pass.pass->name << ": " << rule
                     << ": undecided: " << evidence.doubt << "\n";
      isRefuted |= !evidence.refutation.empty();
    }
  for (const auto &[name, evidence] : proofs.programs) {
    if (!evidence.refutation.empty())
      llvm::errs() << name << ": REFUTED: " << evidence.refutation << "\n";
    isRefuted |= !evidence.refutation.empty();
  }
  return isRefuted;
}

/// Proves the passes over the IR that \p isWanted accepts.
static llvm::Expected<ProgramEvidences>
proveProgramPasses(llvm::function_ref<bool(llvm::StringRef)> isWanted) {
  std::vector<IRPass> passes;
  ProgramEvidences evidences;
  llvm::copy_if(getIRPasses(), std::back_inserter(passes),
                [&](const IRPass &pass) {
                  return isCommonPass(pass) && isWanted(pass.name);
                });
  GLOWISH_RETURN_IF_ERROR(proveWritten(passes, programsFolder, evidences));
  GLOWISH_RETURN_IF_ERROR(proveRandom(passes, numRandomPrograms, evidences));
  for (const GraphPass &pass : getGraphPasses()) {
    std::string path;
    GLOWISH_ASSIGN_OR_RETURN(RuleCases cases, readCases(pass.name, path));
    GLOWISH_RETURN_IF_ERROR(proveGenerated(cases.cases, evidences));
  }
  std::erase_if(evidences,
                [&](const auto &entry) { return !isWanted(entry.first); });
  return evidences;
}

static llvm::Error run() {
  Proofs proofs;
  auto isWanted = [](llvm::StringRef pass) {
    return onlyPass.empty() || pass == onlyPass;
  };
  for (const GraphPass &pass : getGraphPasses()) {
    if (!isWanted(pass.name))
      continue;
    GLOWISH_ASSIGN_OR_RETURN(ProvedPass proved, prove(pass));
    proofs.graph.push_back(std::move(proved));
  }
  GLOWISH_ASSIGN_OR_RETURN(proofs.programs, proveProgramPasses(isWanted));
  bool isRefuted = printRefutations(proofs);
  std::string report;
  llvm::raw_string_ostream os(report);
  printReport(os, proofs);
  if (!docPath.empty())
    GLOWISH_RETURN_IF_ERROR(writeFile(docPath, report));
  if (!checkedDoc.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(checkedDoc));
    if (file->getBuffer() != report)
      return makeError("'{0}' is out of date: glowish-prove -doc={0} writes it",
                       checkedDoc.getValue());
  }
  printSummary(llvm::outs(), proofs);
  return isRefuted ? makeError("a rewrite or pass is refuted")
                   : llvm::Error::success();
}

int main(int argc, char **argv) {
  // Z3 allocates and frees tables of 8 MB for each simplification. malloc is to
  // keep their memory, of which each page would be a page fault again.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Proves that rewrites and passes keep what a graph or a "
      "program computes.\n");
  if (llvm::Error error = onlyPlanted ? findPlanted() : run()) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
