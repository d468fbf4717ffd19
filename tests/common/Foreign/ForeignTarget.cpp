//===- ForeignTarget.cpp - Programs on emulated machines ------------------===//
//
// Objects for boards and for QEMU's user mode are linked without a C library to
// run_program.c, which has its files by semihosting; a WebAssembly module is
// linked as that of a bundle is, and run by run_module.mjs. Regions and results
// are files of a folder of each program's own.
//
//===----------------------------------------------------------------------===//

#include "common/Foreign/ForeignTarget.h"
#include "common/Foreign/RunProgram.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"
#include <set>

using namespace glowish;

#define SEMIHOSTING                                                            \
  "qemu-system-arm -nographic -monitor none -serial none -semihosting-config " \
  "enable=on,target=native -machine "

static const Machine machines[] = {
    {.name = "aarch64",
     .triple = "aarch64-linux-gnu",
     .compiler = "aarch64-linux-gnu-gcc",
     .emulator = "qemu-aarch64"},
    {.name = "riscv64",
     .triple = "riscv64-linux-gnu",
     .compiler = "riscv64-linux-gnu-gcc",
     .emulator = "qemu-riscv64"},
    {.name = "cortex-m3",
     .triple = "thumbv7m-none-eabi",
     .cpu = "cortex-m3",
     .compiler = "arm-none-eabi-gcc",
     .options = "-mcpu=cortex-m3 -mthumb",
     .memory = "0x21000000",
     .emulator = SEMIHOSTING "mps2-an385 -kernel"},
    {.name = "cortex-m4",
     .triple = "thumbv7em-none-eabihf",
     .cpu = "cortex-m4",
     .compiler = "arm-none-eabi-gcc",
     .options = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
     .memory = "0x21000000",
     .emulator = SEMIHOSTING "mps2-an386 -kernel"},
    {.name = "cortex-m55",
     .triple = "thumbv8.1m.main-none-eabihf",
     .cpu = "cortex-m55",
     .compiler = "arm-none-eabi-gcc",
     .options = "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard",
     .memory = "0x60000000",
     .emulator = SEMIHOSTING "mps3-an547 -kernel"},
    {.name = "i686",
     .triple = "i686-linux-gnu",
     .compiler = "clang-19",
     .options = "--target=i686-linux-gnu --rtlib=compiler-rt",
     .emulator = "qemu-i386"},
    {.name = "ppc64le",
     .triple = "powerpc64le-linux-gnu",
     .emulator = "qemu-ppc64le"},
    {.name = "mips64el",
     .triple = "mips64el-linux-gnuabi64",
     .options = "-mxgot",
     .emulator = "qemu-mips64el"},
    {.name = "loongarch64",
     .triple = "loongarch64-linux-gnu",
     .options = "-mno-lsx",
     .emulator = "qemu-loongarch64"},
    {.name = "s390x", .triple = "s390x-linux-gnu", .emulator = "qemu-s390x"},
    {.name = "sparc64",
     .triple = "sparc64-linux-gnu",
     .emulator = "qemu-sparc64"},
    {.name = "wasm", .triple = "wasm32-unknown-unknown", .emulator = "node"},
    {.name = "wasm-simd",
     .triple = "wasm32-unknown-unknown",
     .attributes = "+simd128",
     .emulator = "node"},
};

//===- Programs -----------------------------------------------------------===//

static std::vector<std::string> splitWords(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  return {words.begin(), words.end()};
}

/// The first program that is not installed and that \p machine needs.
static std::optional<std::string> findMissing(const Machine &machine) {
  std::vector<std::string> names = {splitWords(machine.emulator).front()};
  if (!machine.isForNode())
    names.insert(names.end(), {"clang-19", "ld.lld-19"});
  if (!machine.compiler.empty())
    names.push_back(machine.compiler.str());
  for (const std::string &name : names)
    if (!llvm::sys::findProgramByName(name))
      return name;
  return std::nullopt;
}

/// The machine's C sources become objects in the folder, once.
llvm::Error ForeignTarget::compileDriver() {
  std::vector<std::string> options = splitWords(machine.options);
  for (llvm::StringRef source : {FOREIGN_SOURCES "/run_program.c",
                                 CROSS_SOURCES "/platform_semihosted.c"}) {
    std::string object =
        folder->getFile("driver" + std::to_string(linked.size()) + ".o");
    std::vector<std::string> command = {"clang-19",
                                        "--target=" + machine.triple.str(),
                                        "-I" CROSS_SOURCES,
                                        "-O2",
                                        "-ffreestanding",
                                        "-fno-builtin",
                                        "-fno-pic",
                                        "-Wno-unused-command-line-argument",
                                        "-c",
                                        source.str(),
                                        "-o",
                                        object};
    llvm::append_range(command, options);
    command.push_back(machine.isBoard() ? "-DBOARD"
                                        : "-DMEMORY_BYTES=(1 << 30)");
    GLOWISH_RETURN_IF_ERROR(
        runProgram(command, folder->getFile("log")).takeError());
    linked.push_back(object);
  }
  if (machine.compiler.empty())
    return llvm::Error::success();
  std::vector<std::string> question = {machine.compiler.str(),
                                       "-print-libgcc-file-name"};
  llvm::append_range(question, options);
  GLOWISH_ASSIGN_OR_RETURN(std::string library,
                           runProgram(question, folder->getFile("log")));
  linked.push_back(llvm::StringRef(library).trim().str());
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<ForeignTarget>>
ForeignTarget::create(llvm::StringRef name, unsigned secondsOfRun) {
  auto found = llvm::find_if(
      machines, [&](const Machine &machine) { return machine.name == name; });
  if (found == std::end(machines)) {
    std::vector<std::string> names;
    for (const Machine &machine : machines)
      names.push_back(machine.name.str());
    return makeError("there is no machine '{0}'; accepted: {1}", name,
                     llvm::join(names, ", "));
  }
  if (std::optional<std::string> missing = findMissing(*found)) {
    llvm::outs() << "skipped: there is no " << *missing
                 << " (scripts/install-deps.sh --cross, --bench)\n";
    return nullptr;
  }
  std::unique_ptr<ForeignTarget> target(
      new ForeignTarget(*found, secondsOfRun));
  GLOWISH_ASSIGN_OR_RETURN(target->folder, TemporaryFolder::create());
  if (!found->isForNode())
    GLOWISH_RETURN_IF_ERROR(target->compileDriver());
  return target;
}

TargetOptions ForeignTarget::getOptions() const {
  TargetOptions options;
  options.triple = machine.triple.str();
  options.cpu = machine.cpu.str();
  if (!machine.attributes.empty())
    options.attributes = {machine.attributes.str()};
  return options;
}

//===- Executables --------------------------------------------------------===//

namespace {

/// The elements of a buffer, in the region of its kind or in that of
/// activations.
struct Elements {
  bool isConstant, isInput, isOutput, isInArena;
  uint64_t offset, bytes;
  unsigned size;
};

/// A program of a folder of its own.
class ForeignProgram final : public Executable {
public:
  ForeignProgram(std::unique_ptr<TemporaryFolder> folder,
                 std::vector<std::string> command, const MemoryPlan &plan,
                 unsigned seconds, std::vector<Elements> reversed)
      : folder(std::move(folder)), command(std::move(command)),
        seconds(seconds), constantSize(plan.constantSize),
        mutableSize(plan.mutableSize), activationSize(plan.activationSize),
        alignment(plan.alignment), reversed(std::move(reversed)) {}

  llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                  uint8_t *activations, uint8_t *const *bound) const override;

private:
  /// Reverses the bytes of the elements of \p region that \p isIn says are in
  /// it.
  void reverse(llvm::MutableArrayRef<char> region,
               llvm::function_ref<bool(const Elements &)> isIn) const;

  std::unique_ptr<TemporaryFolder> folder;
  std::vector<std::string> command;
  unsigned seconds;
  uint64_t constantSize, mutableSize, activationSize, alignment;
  /// Those of a machine that has the bytes of a number in the other order.
  std::vector<Elements> reversed;
};

} // namespace

/// Placeholders of \p function, and constants, also of its bodies.
static std::vector<Elements> listElements(const IRFunction &function,
                                          const MemoryPlan &plan) {
  std::vector<Elements> all;
  std::set<uint64_t> constants;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const auto &buffer : each.getBuffers()) {
      bool isConstant = buffer->getKind() == Buffer::Kind::Constant;
      uint64_t offset = plan.getOffset(buffer.get());
      if (buffer->getType().getSizeInBytes() == 0)
        continue;
      // Bodies may share constants, and what they have of the other kind are
      // parameters and results.
      bool isNew = isConstant ? constants.insert(offset).second
                              : buffer->getKind() == Buffer::Kind::Mutable &&
                                    &each == &function;
      if (isNew)
        all.push_back({isConstant, buffer->isInput(), buffer->isOutput(),
                       plan.arenaPlaceholders.contains(buffer.get()), offset,
                       uint64_t(buffer->getType().getSizeInBytes()),
                       unsigned(getElemSize(buffer->getType().getKind()))});
    }
  });
  return all;
}

void ForeignProgram::reverse(
    llvm::MutableArrayRef<char> region,
    llvm::function_ref<bool(const Elements &)> isIn) const {
  for (const Elements &each : llvm::make_filter_range(reversed, isIn))
    for (uint64_t i = 0; i < each.bytes; i += each.size) {
      auto element = region.slice(each.offset + i, each.size);
      std::reverse(element.begin(), element.end());
    }
}

llvm::Error ForeignProgram::run(const uint8_t *constants, uint8_t *mutables,
                                uint8_t *activations,
                                uint8_t *const *bound) const {
  assert(!bound && "another process has no access to this one's memory");
  std::string bytes;
  for (uint64_t number : {constantSize, mutableSize, activationSize, alignment})
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(char(number >> shift));
  auto append = [&](const uint8_t *region, uint64_t size,
                    llvm::function_ref<bool(const Elements &)> isIn) {
    bytes.append(reinterpret_cast<const char *>(region), size);
    reverse(llvm::MutableArrayRef(bytes.data() + bytes.size() - size, size),
            isIn);
  };
  auto isMutable = [](const Elements &each) {
    return !each.isConstant && !each.isInArena;
  };
  append(constants, constantSize,
         [](const Elements &each) { return each.isConstant; });
  append(mutables, mutableSize, isMutable);
  append(activations, activationSize,
         [](const Elements &each) { return each.isInArena && each.isInput; });
  GLOWISH_RETURN_IF_ERROR(writeFile(folder->getFile("regions"), bytes));
  // Programs have their files in the current folder.
  llvm::SmallString<128> before;
  llvm::sys::fs::current_path(before);
  llvm::sys::fs::set_current_path(folder->getPath());
  llvm::Error error = runProgram(command, "log", seconds).takeError();
  llvm::sys::fs::set_current_path(before);
  GLOWISH_RETURN_IF_ERROR(std::move(error));
  GLOWISH_ASSIGN_OR_RETURN(auto results, readFile(folder->getFile("results")));
  llvm::StringRef left = results->getBuffer();
  int32_t status = 0;
  if (left.size() != sizeof status + mutableSize + activationSize)
    return makeError("{0} left {1} bytes of results", command.front(),
                     left.size());
  std::memcpy(&status, left.data(), sizeof status);
  // 0 in either order of bytes.
  if (status != 0)
    return makeError("the compiled program returned status {0}", status);
  left = left.drop_front(sizeof status);
  std::memcpy(mutables, left.data(), mutableSize);
  std::memcpy(activations, left.drop_front(mutableSize).data(), activationSize);
  reverse({reinterpret_cast<char *>(mutables), mutableSize}, isMutable);
  reverse({reinterpret_cast<char *>(activations), activationSize},
          [](const Elements &each) { return each.isInArena && each.isOutput; });
  return llvm::Error::success();
}

/// Links \p object to FOLDER/program.
llvm::Error ForeignTarget::link(llvm::ArrayRef<char> object,
                                llvm::StringRef programFolder) const {
  std::string path = (programFolder + "/network.o").str();
  GLOWISH_RETURN_IF_ERROR(
      writeFile(path, llvm::StringRef(object.data(), object.size())));
  std::vector<std::string> command = {"ld.lld-19", "-static", "-o",
                                      (programFolder + "/program").str()};
  if (machine.isBoard()) {
    command.push_back("--defsym=BIG_RAM=" + machine.memory.str());
    command.push_back("--script=" CROSS_SOURCES "/mps.ld");
  }
  command.push_back(path);
  llvm::append_range(command, linked);
  return runProgram(command, (programFolder + "/log").str()).takeError();
}

llvm::Expected<std::unique_ptr<Executable>>
ForeignTarget::compile(Backend &anyBackend, const IRFunction &function,
                       const MemoryPlan &plan) const {
  auto &backend = static_cast<CPUBackend &>(anyBackend);
  GLOWISH_ASSIGN_OR_RETURN(auto own, TemporaryFolder::create());
  std::vector<std::string> command = splitWords(machine.emulator);
  if (machine.isForNode()) {
    BundleOptions options;
    options.folder = own->getPath().str();
    options.networkName = options.entryName = "network";
    GLOWISH_RETURN_IF_ERROR(writeBundle(backend, function, plan, options));
    command.push_back(FOREIGN_SOURCES "/run_module.mjs");
  } else {
    llvm::LLVMContext context;
    GLOWISH_ASSIGN_OR_RETURN(
        std::unique_ptr<llvm::Module> module,
        backend.emitModule(context, function, plan, "network"));
    GLOWISH_ASSIGN_OR_RETURN(auto object, backend.emitObject(*module));
    GLOWISH_RETURN_IF_ERROR(link(object, own->getPath()));
    command.push_back("program");
  }
  bool isReversed = backend.getTargetMachine().createDataLayout().isBigEndian();
  return std::make_unique<ForeignProgram>(
      std::move(own), std::move(command), plan, secondsOfRun,
      isReversed ? listElements(function, plan) : std::vector<Elements>());
}
