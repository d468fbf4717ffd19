//===- PlanCertificate.cpp - The proof of memory plans as a file ----------===//

#include "PlanCertificate.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace glowish;
namespace json = llvm::json;

llvm::Expected<PlanCertificate>
PlanCertificate::prove(std::vector<Program> programs) {
  PlanCertificate certificate;
  certificate.programs = std::move(programs);
  std::vector<ProvedProgram> proved;
  for (Program &program : certificate.programs) {
    llvm::Expected<PlanProof> proof =
        provePlan(*program.function, *program.plan, program.options);
    if (!proof)
      return program.title.empty() ? proof.takeError()
                                   : addContext(proof.takeError(),
                                                "with " + program.title + ": ");
    program.proof = std::move(*proof);
    proved.push_back({program.title, &program.proof, program.plan,
                      program.placeholders, program.states});
  }
  GLOWISH_RETURN_IF_ERROR(proveAgreement(proved));
  return certificate;
}

llvm::Expected<PlanCertificate>
PlanCertificate::prove(const Variants &variants,
                       llvm::ArrayRef<std::string> titles) {
  std::vector<Program> programs;
  // Those with the same values share their placeholders.
  std::map<std::vector<int64_t>, unsigned> numbers;
  for (auto [title, variant] : llvm::zip_equal(titles, variants.programs)) {
    unsigned number =
        numbers.try_emplace(variant.values, numbers.size()).first->second;
    PlaceholderSharing sharing = variants.hasEntries()
                                     ? variant.sharing
                                     : PlaceholderSharing{number, number};
    programs.push_back({title, variant.function, variant.plan,
                        sharing.placeholders, sharing.states});
  }
  return prove(std::move(programs));
}

llvm::Expected<PlanCertificate>
PlanCertificate::prove(const TrainingPrograms &programs) {
  std::vector<Program> all;
  // The parts of a step share more than the variables with each other.
  auto add = [&](llvm::StringRef title, const Variant &variant,
                 unsigned placeholders, bool keepsOutputs = false) {
    all.push_back({title.str(), variant.function, variant.plan, placeholders,
                   /*states=*/0, ProofOptions{keepsOutputs}});
  };
  add("inference", programs.inference, /*placeholders=*/0);
  bool isWhole = programs.steps.size() == 1;
  add(isWhole ? "training step" : "gradients", programs.steps.front(),
      /*placeholders=*/1);
  if (!isWhole)
    add("update", programs.steps.back(), /*placeholders=*/1,
        /*keepsOutputs=*/true);
  return prove(std::move(all));
}

//===- The file -----------------------------------------------------------===//

/// "0w 2r 5-9rw": positions, and what is done there.
static std::string print(llvm::ArrayRef<ProvedAccess> accesses) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const ProvedAccess &access : accesses) {
    os << (text.empty() ? "" : " ") << access.range.first;
    if (access.range.last != access.range.first)
      os << '-' << access.range.last;
    os << (access.reads ? "r" : "") << (access.writes ? "w" : "");
  }
  return text;
}

namespace {

/// Writes each buffer on a line of its own.
class CertificatePrinter {
public:
  explicit CertificatePrinter(llvm::raw_ostream &os) : out(os, /*Indent=*/1) {}

  json::OStream out;
  /// Equal numbers for constants that are one.
  llvm::DenseMap<const Tensor *, size_t> payloads;

  void printBuffers(const PlanProof &proof, llvm::StringRef name,
                    MemoryKind memory) {
    out.attributeArray(name, [&] {
      for (const ProvedBuffer &buffer : proof.buffers)
        if (buffer.memory == memory)
          printLine(describe(buffer));
    });
  }
  void printLine(json::Object object) {
    out.rawValue(
        [&](llvm::raw_ostream &os) { os << json::Value(std::move(object)); });
  }

private:
  json::Object describe(const ProvedBuffer &buffer) {
    json::Object object{{"name", buffer.name},
                        {"offset", buffer.offset},
                        {"bytes", buffer.bytes}};
    if (buffer.memory == MemoryKind::Constants) {
      object["payload"] =
          payloads.try_emplace(&buffer.buffer->getTensor(), payloads.size())
              .first->second;
      return object;
    }
    object["accesses"] = print(buffer.accesses);
    if (buffer.memory == MemoryKind::Arena)
      object["live"] = json::Array{buffer.live.first, buffer.live.last};
    if (buffer.memory == MemoryKind::Mutables) {
      object["placeholder"] = buffer.buffer->getModelName();
      object["input"] = buffer.buffer->isInput();
      object["output"] = buffer.buffer->isOutput();
    }
    return object;
  }
};

} // namespace

static void printPlan(CertificatePrinter &printer, const MemoryPlan &plan,
                      const PlanProof &proof) {
  json::OStream &out = printer.out;
  out.attribute("alignment", plan.alignment);
  out.attribute("constantBytes", plan.constantSize);
  out.attribute("mutableBytes", plan.mutableSize);
  out.attribute("arenaBytes", plan.activationSize);
  out.attributeArray("arenaRegions", [&] {
    for (const ArenaRegion &region : plan.arenaRegions)
      printer.printLine(json::Object{{"name", region.name},
                                     {"start", region.start},
                                     {"bytes", region.size}});
  });
  out.attribute("instructions", proof.numInstrs);
  out.attribute("accesses", proof.numAccesses);
  out.attribute("buffers", proof.buffers.size());
  out.attribute("end", proof.end);
  printer.printBuffers(proof, "constants", MemoryKind::Constants);
  printer.printBuffers(proof, "mutables", MemoryKind::Mutables);
  printer.printBuffers(proof, "arena", MemoryKind::Arena);
}

void PlanCertificate::print(
    llvm::raw_ostream &os, uint64_t modelHash,
    llvm::ArrayRef<std::pair<std::string, std::string>> target) const {
  CertificatePrinter printer(os);
  json::OStream &out = printer.out;
  out.object([&] {
    out.attribute("certificate", "glowish memory plan");
    out.attribute("version", 1);
    out.attribute("compiler", "glowish " GLOWISH_VERSION);
    out.attribute("modelHash", llvm::formatv("{0:x-16}", modelHash).str());
    out.attributeObject("target", [&] {
      for (const auto &[name, value] : target)
        out.attribute(name, value);
    });
    out.attributeArray("programs", [&] {
      for (const Program &program : programs)
        out.object([&] {
          out.attribute("title", program.title);
          out.attribute("placeholders", program.placeholders);
          out.attribute("states", program.states);
          out.attribute("keepsOutputs", program.options.keepsOutputs);
          printPlan(printer, *program.plan, program.proof);
        });
    });
  });
  os << '\n';
}
