//===- VariantHeader.cpp - The header of several programs -----------------===//

#include "VariantHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::formatv;

std::vector<std::string> glowish::getDimMacros(llvm::StringRef prefix,
                                               llvm::StringRef identifier) {
  std::vector<std::string> macros;
  for (const char *suffix : {"_NAME", "_NUM_VALUES", "_VALUES"})
    macros.push_back((prefix + identifier + suffix).str());
  return macros;
}

/// "N = 8, M = 3", for a comment.
static std::string describe(const BundleFacts &facts,
                            const BundleProgram &program) {
  std::string text;
  for (auto [dim, value] : llvm::zip_equal(facts.dims, program.values))
    text += (text.empty() ? "" : ", ") + escapeComment(dim.modelName) + " = " +
            std::to_string(value);
  return text;
}

void glowish::printVariantBanner(llvm::raw_ostream &os,
                                 const BundleFacts &facts) {
  printRegionSizes(os, facts, " at most", " at most");
  for (const BundleProgram &program : facts.programs) {
    os << formatv(" *\n * With {0}: mutable weights {1}, activations {2} "
                  "bytes, {3:P1} of it the largest live set\n",
                  describe(facts, program), program.plan.mutableSize,
                  program.activationSize, program.plan.getEfficiency());
    printSymbolLines(os, facts, program);
  }
  os << " */\n";
}

static void printDimension(llvm::raw_ostream &os, llvm::StringRef network,
                           const BundleDim &dim) {
  std::string name = (network + "_DIMENSION_" + dim.identifier).str();
  os << formatv("#define {0}_NAME {1}\n", name, quoteString(dim.modelName))
     << formatv("#define {0}_NUM_VALUES {1}\n", name, dim.values.size())
     << formatv("#define {0}_VALUES {{ ", name);
  llvm::interleaveComma(dim.values, os);
  os << " }\n";
}

void glowish::printVariantMacros(llvm::raw_ostream &os,
                                 const BundleFacts &facts) {
  std::string network = llvm::StringRef(facts.options.networkName).upper();
  os << "/* The regions are large enough for all values of the symbolic\n"
     << " * dimensions. These are the first arguments of the entry, and the\n"
     << " * values that it has code for, in all combinations. */\n"
     << formatv("#define {0}_NUM_DIMENSIONS {1}\n", network, facts.dims.size());
  for (const BundleDim &dim : facts.dims)
    printDimension(os, network, dim);
  os << formatv("#define {0}_NUM_VARIANTS {1}\n", network,
                facts.programs.size())
     << formatv("#define {0}_NUM_SYMBOLS {1}\n", network,
                facts.programs.front().symbols.size());
  for (const BundleProgram &program : facts.programs) {
    std::string prefix = getMacroPrefix(facts, program);
    os << formatv("\n/* {0}: bytes of the regions, and the placeholders:\n"
                  " * offsets in their regions, in bytes, and what the "
                  "model says of them. */\n",
                  describe(facts, program))
       << formatv("#define {0}_MUTABLE_MEM_SIZE {1}u\n", prefix,
                  program.plan.mutableSize)
       << formatv("#define {0}_ACTIVATIONS_MEM_SIZE {1}u\n", prefix,
                  program.activationSize);
    for (const BundleSymbol &symbol : program.symbols)
      printSymbolMacros(os, prefix, symbol, program);
  }
}

/// "dim_N, dim_M"
static std::string getDimNames(const BundleFacts &facts) {
  return joinDims(facts, "dim_");
}

static void printVariantNumber(llvm::raw_ostream &os,
                               const BundleFacts &facts) {
  os << formatv(R"(
/* The number of the program for these values of the symbolic dimensions,
 * 0 ... NUM_VARIANTS - 1; -1 where there is none. */
static inline int {0}_variant({1}) {{
)",
                facts.options.networkName, getDimArguments(facts));
  for (auto [number, program] : llvm::enumerate(facts.programs)) {
    os << "  if (";
    for (auto [i, dim] : llvm::enumerate(facts.dims))
      os << (i ? " && " : "") << "dim_" << dim.identifier << " == INT64_C("
         << program.values[i] << ")";
    os << ")\n    return " << number << ";\n";
  }
  os << "  return -1;\n}\n";
}

/// Prints a function from values of the dimensions to \p get of their program.
static void
printLookup(llvm::raw_ostream &os, const BundleFacts &facts,
            const llvm::Twine &name,
            llvm::function_ref<uint64_t(const BundleProgram &)> get) {
  os << formatv("static inline int64_t {0}_{1}({2}) {{\n",
                facts.options.networkName, name.str(), getDimArguments(facts))
     << "  static const int64_t numbers[] = { ";
  llvm::interleaveComma(facts.programs, os, [&](const BundleProgram &program) {
    os << "INT64_C(" << get(program) << ")";
  });
  os << formatv(" };\n  int variant = {0}_variant({1});\n"
                "  return variant < 0 ? -1 : numbers[variant];\n}\n",
                facts.options.networkName, getDimNames(facts));
}

/// A function from values to the extents of placeholder \p index.
static void printDimsLookup(llvm::raw_ostream &os, const BundleFacts &facts,
                            size_t index) {
  size_t rank = 1;
  for (const BundleProgram &program : facts.programs)
    rank = std::max<size_t>(rank, program.symbols[index].type.getRank());
  llvm::StringRef network = facts.options.networkName;
  os << formatv("static inline const int64_t *{0}_dims_of_{1}({2}) {{\n"
                "  static const int64_t dims[][{3}] = {{\n",
                network, facts.programs.front().symbols[index].identifier,
                getDimArguments(facts), rank);
  for (const BundleProgram &program : facts.programs) {
    Dims shape(program.symbols[index].type.getShape().begin(),
               program.symbols[index].type.getShape().end());
    shape.resize(rank, 0);
    os << "    { ";
    llvm::interleaveComma(shape, os);
    os << " },\n";
  }
  os << formatv("  };\n  int variant = {0}_variant({1});\n"
                "  return variant < 0 ? 0 : dims[variant];\n}\n",
                network, getDimNames(facts));
}

void glowish::printVariantFunctions(llvm::raw_ostream &os,
                                    const BundleFacts &facts) {
  printVariantNumber(os, facts);
  os << "\n/* Bytes of the regions that the program for these values needs; -1 "
        "where there\n * is none. */\n";
  printLookup(os, facts, "mutable_mem_size", [](const BundleProgram &program) {
    return program.plan.mutableSize;
  });
  printLookup(
      os, facts, "activations_mem_size",
      [](const BundleProgram &program) { return program.activationSize; });
  for (size_t i = 0; i < facts.programs.front().symbols.size(); ++i) {
    const BundleSymbol &symbol = facts.programs.front().symbols[i];
    os << formatv(
        "\n/* '{0}' with these values: offset in its region and size, "
        "in bytes,\n * number of elements, and extents, "
        "outermost first; -1 or 0 where there is no\n * such "
        "program. */\n",
        escapeComment(symbol.modelName));
    printLookup(os, facts, "offset_of_" + symbol.identifier,
                [&](const BundleProgram &program) {
                  return program.symbols[i].offset;
                });
    printLookup(os, facts, "bytes_of_" + symbol.identifier,
                [&](const BundleProgram &program) {
                  return program.symbols[i].type.getSizeInBytes();
                });
    printLookup(os, facts, "size_of_" + symbol.identifier,
                [&](const BundleProgram &program) {
                  return program.symbols[i].type.getNumElements();
                });
    printDimsLookup(os, facts, i);
  }
}

void glowish::printVariantTypes(llvm::raw_ostream &os) {
  os << R"(
#ifndef GLOWISH_BUNDLE_VARIANTS_DEFS
#define GLOWISH_BUNDLE_VARIANTS_DEFS

typedef struct BundleVariant {
  const int64_t *values; /* one a symbolic dimension */
  BundleConfig config;   /* sizes and symbols with these values */
} BundleVariant;

typedef struct BundleVariants {
  uint64_t numDimensions;
  const char *const *dimensions; /* names, in the order of the arguments */
  uint64_t constantWeightVarsMemSize; /* bytes that are enough for all values */
  uint64_t mutableWeightVarsMemSize;
  uint64_t activationsMemSize;
  uint64_t alignment;
  uint64_t numVariants;
  const BundleVariant *variants;
} BundleVariants;

#endif /* GLOWISH_BUNDLE_VARIANTS_DEFS */
)";
}
