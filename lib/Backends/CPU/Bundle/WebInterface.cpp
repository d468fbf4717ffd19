//===- WebInterface.cpp - A bundle's JavaScript interface -----------------===//

#include "WebInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace glowish;
using llvm::formatv;
namespace json = llvm::json;

static constexpr llvm::StringLiteral networkSource =
#include "glowish/glowish_network.mjs.inc"
    ;
static constexpr llvm::StringLiteral networkTypes =
#include "glowish/glowish_network.d.ts.inc"
    ;
static constexpr llvm::StringLiteral oneThreadSource =
#include "glowish/glowish_one_thread.mjs.inc"
    ;
static constexpr llvm::StringLiteral tasksSource =
#include "glowish/glowish_tasks.mjs.inc"
    ;
static constexpr llvm::StringLiteral poolSource =
#include "glowish/glowish_pool.mjs.inc"
    ;
static constexpr llvm::StringLiteral workerSource =
#include "glowish/glowish_worker.mjs.inc"
    ;

/// \p text as a string of JSON, JavaScript and TypeScript. Names of models may
/// have any bytes.
static std::string stringLiteral(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << json::Value(json::fixUTF8(text));
  return result;
}

/// The typed array for elements of \p kind: those of half precisions are bits,
/// and those under 8 bits have a byte each.
static llvm::StringRef getArrayType(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float:
    return "Float32Array";
  case ElemKind::Double:
    return "Float64Array";
  case ElemKind::Int8:
  case ElemKind::Int8Q:
  case ElemKind::Int4:
  case ElemKind::Int2:
    return "Int8Array";
  case ElemKind::Int16:
  case ElemKind::Int16Q:
    return "Int16Array";
  case ElemKind::UInt16:
  case ElemKind::Float16:
  case ElemKind::BFloat16:
    return "Uint16Array";
  case ElemKind::Int32:
  case ElemKind::Int32Q:
    return "Int32Array";
  case ElemKind::UInt32:
    return "Uint32Array";
  case ElemKind::Int64:
    return "BigInt64Array";
  case ElemKind::UInt64:
    return "BigUint64Array";
  default:
    return "Uint8Array";
  }
}

//===- The description ----------------------------------------------------===//

template <typename Range>
static void printList(json::OStream &os, llvm::StringRef name,
                      const Range &values) {
  os.attributeArray(name, [&] {
    for (const auto &value : values)
      os.value(value);
  });
}

static void printStrings(json::OStream &os, llvm::StringRef name,
                         llvm::ArrayRef<std::string> strings) {
  printList(os, name, llvm::map_range(strings, [](llvm::StringRef each) {
              return json::fixUTF8(each);
            }));
}

static void printQuantization(json::OStream &os, const QuantParams &quant) {
  if (quant.axis >= 0)
    os.attribute("axis", quant.axis);
  printList(os, "scales", quant.scales);
  printList(os, "zeroPoints", quant.offsets);
}

static void printSymbol(json::OStream &os, const BundleSymbol &symbol,
                        const BundleProgram &program) {
  os.attribute("name", json::fixUTF8(symbol.modelName));
  os.attribute("direction", getDirectionName(symbol));
  os.attribute("type", getElemKindName(symbol.type.getKind()));
  os.attribute("array", getArrayType(symbol.type.getKind()));
  printList(os, "shape", symbol.type.getShape());
  os.attribute("region", symbol.isInArena ? "activations" : "placeholders");
  os.attribute("offset", int64_t(symbol.offset));
  if (symbol.extents)
    os.attribute("extents",
                 json::fixUTF8(program.symbols[*symbol.extents].modelName));
  if (!symbol.inputExtents.dims.empty())
    printStrings(
        os, "dims",
        llvm::to_vector(llvm::map_range(
            symbol.inputExtents.dims, [](const std::optional<Extent> &extent) {
              return extent ? extent->describe() : std::string();
            })));
  if (const auto &range = symbol.inputExtents.range)
    os.attributeObject("range", [&] {
      os.attribute("name", json::fixUTF8(range->symbol));
      os.attribute("least", range->bounds.low);
      os.attribute("most", range->bounds.high);
    });
  if (symbol.type.isQuantized())
    printQuantization(os, symbol.type.getQuantParams());
}

static void printDescription(json::OStream &os, const BundleFacts &facts,
                             uint64_t memoryPages) {
  const BundleOptions &options = facts.options;
  os.attribute("name", options.networkName);
  os.attribute("modelHash", llvm::utohexstr(options.modelHash, true, 16));
  os.attribute("weightsChecksum",
               llvm::utohexstr(facts.weightsChecksum, true, 16));
  os.attribute("alignment", int64_t(facts.alignment));
  os.attribute("weightBytes", int64_t(facts.constantSize));
  os.attribute("placeholderBytes", int64_t(facts.mutableSize));
  os.attribute("activationBytes", int64_t(facts.activationSize));
  os.attribute("threads", facts.numThreads);
  if (facts.numThreads > 1) {
    os.attribute("stackBytes", int64_t(webStackBytes));
    os.attribute("memoryPages", int64_t(memoryPages));
  }
  if (options.weights == BundleWeights::Embed)
    os.attribute("embeddedWeights", options.networkName + "_weights");
  os.attributeArray("dimensions", [&] {
    for (const BundleDim &dim : facts.dims)
      os.value(json::fixUTF8(dim.modelName));
  });
  os.attributeArray("programs", [&] {
    for (const BundleProgram &program : facts.programs)
      os.object([&] {
        printList(os, "values", program.values);
        os.attributeArray("symbols", [&] {
          for (const BundleSymbol &symbol : program.symbols)
            os.object([&] { printSymbol(os, symbol, program); });
        });
      });
  });
}

static void printBanner(llvm::raw_ostream &os, const BundleFacts &facts) {
  os << "// Network '" << facts.options.networkName
     << "', generated by glowish " GLOWISH_VERSION ". Do not edit.\n";
}

/// \p text with the network's name for each NETWORK: bundlers find the file of
/// a worker where its name is a literal.
static void printWithName(llvm::raw_ostream &os, llvm::StringRef text,
                          llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, "NETWORK");
  llvm::interleave(parts, os, name);
}

void glowish::printWebModule(llvm::raw_ostream &os, const BundleFacts &facts,
                             uint64_t memoryPages) {
  printBanner(os, facts);
  os << "\n/** What is known of the network: sizes in bytes, and its inputs, "
        "outputs and\n * states. */\nexport const description = ";
  json::OStream description(os, /*IndentSize=*/1);
  description.object(
      [&] { printDescription(description, facts, memoryPages); });
  os << ";\n" << networkSource;
  if (facts.numThreads == 1) {
    os << oneThreadSource;
    return;
  }
  os << tasksSource;
  printWithName(os, poolSource, facts.options.networkName);
}

void glowish::printWebWorker(llvm::raw_ostream &os, const BundleFacts &facts) {
  printBanner(os, facts);
  os << tasksSource << workerSource;
}

//===- Types --------------------------------------------------------------===//

/// `[1, length]` for the doc comment of a symbol.
static std::string describeShape(const BundleSymbol &symbol) {
  std::vector<std::string> extents;
  for (auto [d, extent] : llvm::enumerate(symbol.type.getShape())) {
    const auto &dims = symbol.inputExtents.dims;
    extents.push_back(dims.empty() || !dims[d]
                          ? std::to_string(extent)
                          : escapeComment(dims[d]->describe()) +
                                " <= " + std::to_string(extent));
  }
  return "[" + llvm::join(extents, ", ") + "]";
}

/// The interface \p name of the arrays of those symbols that \p isOne takes.
static void printArrays(llvm::raw_ostream &os, const BundleProgram &program,
                        llvm::StringRef name,
                        llvm::function_ref<bool(const BundleSymbol &)> isOne) {
  os << "\nexport interface " << name << " {\n";
  for (const BundleSymbol &symbol : program.symbols) {
    if (symbol.inputExtents.range || !isOne(symbol))
      continue;
    os << formatv("  /** {0} {1}. */\n  readonly {2}: {3};\n",
                  getElemKindName(symbol.type.getKind()), describeShape(symbol),
                  stringLiteral(symbol.modelName),
                  getArrayType(symbol.type.getKind()));
  }
  os << "}\n";
}

static void printExtents(llvm::raw_ostream &os, const BundleProgram &program) {
  os << "\n/** Extents that a run states. */\nexport interface Extents {\n";
  for (const BundleSymbol &symbol : program.symbols)
    if (const auto &range = symbol.inputExtents.range)
      os << formatv("  /** From {0} to {1}. */\n  {2}?: number;\n",
                    range->bounds.low, range->bounds.high,
                    stringLiteral(range->symbol));
  os << "}\n";
}

static void printDimensions(llvm::raw_ostream &os, const BundleFacts &facts) {
  os << "\n/** Values of the model's dimensions that there is code for. */\n"
        "export interface Dimensions {\n";
  for (const BundleDim &dim : facts.dims) {
    os << "  " << stringLiteral(dim.modelName) << ": ";
    llvm::interleave(dim.values, os, " | ");
    os << ";\n";
  }
  os << "}\n";
}

void glowish::printWebTypes(llvm::raw_ostream &os, const BundleFacts &facts) {
  printBanner(os, facts);
  const BundleProgram &program = facts.programs.front();
  if (!facts.dims.empty())
    os << "// Shapes are those of the first values of the dimensions.\n";
  printArrays(os, program, "Inputs",
              [](const BundleSymbol &symbol) { return symbol.direction & 1; });
  printArrays(os, program, "Outputs",
              [](const BundleSymbol &symbol) { return symbol.direction & 2; });
  printArrays(os, program, "States",
              [](const BundleSymbol &symbol) { return symbol.direction == 0; });
  printExtents(os, program);
  printDimensions(os, facts);
  os << "\nexport type Name = ";
  llvm::interleave(
      program.symbols, os,
      [&](const BundleSymbol &symbol) {
        os << stringLiteral(symbol.modelName);
      },
      " | ");
  os << ";\n" << networkTypes;
}

//===- The package --------------------------------------------------------===//

static constexpr llvm::StringLiteral packageMark = "glowishVersion";

void glowish::printWebPackage(llvm::raw_ostream &os, const BundleFacts &facts) {
  const std::string &name = facts.options.networkName;
  std::vector<std::string> files = {name + ".mjs", name + ".d.ts",
                                    name + ".wasm"};
  if (facts.options.weights != BundleWeights::Embed)
    files.push_back(name + ".weights.bin");
  if (facts.numThreads > 1)
    files.push_back(name + ".worker.mjs");
  // npm's names have small letters and begin with one or with a digit.
  std::string package = llvm::StringRef(name).ltrim('_').lower();
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("name", package.empty() ? "network" : package);
    json.attribute("version", "1.0.0");
    json.attribute("description", "The network " + name +
                                      ", compiled to WebAssembly by glowish");
    json.attribute(packageMark, GLOWISH_VERSION);
    json.attribute("type", "module");
    json.attributeObject("exports", [&] {
      json.attributeObject(".", [&] {
        json.attribute("types", "./" + name + ".d.ts");
        json.attribute("default", "./" + name + ".mjs");
      });
      for (const std::string &file : llvm::ArrayRef(files).drop_front(2))
        json.attribute("./" + file, "./" + file);
    });
    json.attribute("types", "./" + name + ".d.ts");
    printList(json, "files", files);
    // A worker is there for nothing else.
    if (facts.numThreads > 1)
      json.attribute("sideEffects", json::Array({"./" + name + ".worker.mjs"}));
    else
      json.attribute("sideEffects", false);
  });
  os << "\n";
}

bool glowish::isWebPackage(llvm::StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const json::Object *object = value->getAsObject();
  return object && object->get(packageMark);
}
