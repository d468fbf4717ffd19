//===- ModuleFunctionsTest.cpp - Functions of WebAssembly modules ---------===//
//
// What modules for JavaScript have in place of a C library runs here.
//
//===----------------------------------------------------------------------===//

#include "Bundle/ChecksumFunction.h"
#include "Bundle/MemoryFunctions.h"
#include "JIT.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Support/Checksum.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"
#include <cstring>
#include <numeric>

using namespace glowish;

namespace {

/// A module with an entry, whose body \p emit adds.
class Program {
public:
  using EmitFn = llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Function &,
                                         const TargetDescription &)>;
  explicit Program(EmitFn emit) {
    auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
    llvm::LLVMContext context;
    llvm::Module module("functions", context);
    llvm::TargetMachine &machine = backend->getTargetMachine();
    module.setTargetTriple(machine.getTargetTriple().str());
    module.setDataLayout(machine.createDataLayout());
    llvm::Type *pointer = llvm::PointerType::getUnqual(context);
    auto *entry = llvm::Function::Create(
        llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                {pointer, pointer, pointer}, false),
        llvm::GlobalValue::ExternalLinkage, jitEntryName, module);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", entry));
    emit(b, *entry, backend->getTarget());
    b.CreateRet(b.getInt32(0));
    object = llvm::cantFail(backend->emitObject(module));
    program = llvm::cantFail(loadObject(object));
  }
  void run(const void *constants, void *bytes, void *result) {
    llvm::cantFail(program->run(static_cast<const uint8_t *>(constants),
                                static_cast<uint8_t *>(bytes),
                                static_cast<uint8_t *>(result)));
  }

private:
  llvm::SmallVector<char, 0> object;
  std::unique_ptr<Executable> program;
};

/// Arguments of a call, as the program reads them.
struct Arguments {
  int64_t to, second, size;
};

/// Calls \p name with addresses, or an address and a byte.
void emitCall(llvm::IRBuilder<> &b, llvm::Function &entry,
              const TargetDescription &target, llvm::StringRef name) {
  llvm::Module &module = *entry.getParent();
  defineMemoryFunctions(module, target);
  // Under another name it is not taken for the library's.
  llvm::Function *function = module.getFunction(name);
  function->setName("tested");
  auto load = [&](unsigned number) {
    return b.CreateLoad(
        b.getInt64Ty(),
        b.CreateConstGEP1_32(b.getInt64Ty(), entry.getArg(0), number));
  };
  auto getAddress = [&](llvm::Value *offset) {
    return b.CreateGEP(b.getInt8Ty(), entry.getArg(1), offset);
  };
  llvm::Value *second = name == "memset"
                            ? b.CreateTrunc(load(1), b.getInt32Ty())
                            : getAddress(load(1));
  b.CreateCall(function, {getAddress(load(0)), second, load(2)});
}

void checkFunction(llvm::StringRef name,
                   llvm::function_ref<void(uint8_t *, const Arguments &)> call,
                   llvm::ArrayRef<Arguments> cases) {
  Program program([&](llvm::IRBuilder<> &b, llvm::Function &entry,
                      const TargetDescription &target) {
    emitCall(b, entry, target, name);
  });
  for (const Arguments &arguments : cases) {
    std::vector<uint8_t> actual(200), expected;
    std::iota(actual.begin(), actual.end(), uint8_t(1));
    expected = actual;
    program.run(&arguments, actual.data(), nullptr);
    call(expected.data(), arguments);
    EXPECT_EQ(actual, expected)
        << arguments.to << ", " << arguments.second << ", " << arguments.size;
  }
}

constexpr int64_t sizes[] = {0, 1, 3, 7, 8, 9, 17, 33, 64};

} // namespace

TEST(MemoryFunctions, copy) {
  std::vector<Arguments> cases;
  for (int64_t size : sizes)
    for (int64_t to : {0, 1, 5})
      cases.push_back({to, 100, size});
  checkFunction(
      "memcpy",
      [](uint8_t *bytes, const Arguments &a) {
        std::memcpy(bytes + a.to, bytes + a.second, size_t(a.size));
      },
      cases);
}

TEST(MemoryFunctions, move) {
  std::vector<Arguments> cases;
  for (int64_t size : sizes)
    for (int64_t to = 40; to <= 60; ++to)
      cases.push_back({to, 50, size});
  checkFunction(
      "memmove",
      [](uint8_t *bytes, const Arguments &a) {
        std::memmove(bytes + a.to, bytes + a.second, size_t(a.size));
      },
      cases);
}

TEST(MemoryFunctions, set) {
  std::vector<Arguments> cases;
  for (int64_t size : sizes)
    for (int64_t byte : {0, 7, 255, 0x1234})
      cases.push_back({3, byte, size});
  checkFunction(
      "memset",
      [](uint8_t *bytes, const Arguments &a) {
        std::memset(bytes + a.to, int(a.second), size_t(a.size));
      },
      cases);
}

TEST(ChecksumFunction, sizes) {
  std::vector<uint8_t> bytes(100);
  std::iota(bytes.begin(), bytes.end(), uint8_t(17));
  for (size_t size : {0, 1, 3, 4, 7, 8, 17, 31, 32, 33, 64, 100}) {
    Program program([&](llvm::IRBuilder<> &b, llvm::Function &entry,
                        const TargetDescription &target) {
      llvm::Function *checksum =
          defineChecksum(*entry.getParent(), target, size);
      b.CreateAlignedStore(b.CreateCall(checksum, {entry.getArg(1)}),
                           entry.getArg(2), llvm::Align(8));
    });
    uint64_t actual = 0;
    program.run(nullptr, bytes.data(), &actual);
    EXPECT_EQ(actual, checksum64(llvm::ArrayRef(bytes).take_front(size)))
        << size;
  }
}
