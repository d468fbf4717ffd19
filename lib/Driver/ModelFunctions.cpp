//===- ModelFunctions.cpp - Functions of a module or a bundle -------------===//

#include "glowish/Driver/ModelFunctions.h"
#include "SharedPrograms.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/Contract.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/Log.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

//===- Modules with several functions -------------------------------------===//

llvm::Error glowish::selectFunction(Module &module, llvm::StringRef name) {
  auto &functions = module.getFunctions();
  if (functions.empty())
    return makeError("the module has no function");
  Function *selected =
      name.empty() ? functions.front().get() : module.findFunction(name);
  std::vector<std::string> names;
  for (const auto &function : functions)
    names.push_back(("'" + function->getName() + "'").str());
  if (!selected)
    return makeError("«function={0}»: there is no such function; accepted: {1}",
                     name, llvm::join(names, ", "));
  if (functions.size() == 1)
    return llvm::Error::success();
  if (name.empty())
    return makeError("the module has the functions {0}; state one with "
                     "«function=NAME»",
                     llvm::join(names, ", "));
  std::vector<Placeholder *> unused;
  for (const auto &placeholder : module.getPlaceholders()) {
    bool isUsed = llvm::any_of(placeholder->uses(), [&](const Use &use) {
      return use.getUser()->getParent() == selected;
    });
    if (!isUsed && !placeholder->uses().empty())
      unused.push_back(placeholder.get());
  }
  std::vector<Function *> others;
  for (const auto &function : functions)
    if (function.get() != selected)
      others.push_back(function.get());
  for (Function *other : others)
    module.eraseFunction(other);
  for (Placeholder *placeholder : unused)
    module.erasePlaceholder(placeholder);
  return llvm::Error::success();
}

//===- Bundles with several functions -------------------------------------===//

std::string glowish::joinNames(llvm::ArrayRef<FunctionSource> functions) {
  return llvm::join(llvm::map_range(functions,
                                    [](const FunctionSource &function) {
                                      return "'" + function.name + "'";
                                    }),
                    ", ");
}

/// The formats of models; null for a text form.
using Formats = std::vector<const ModelFormat *>;

static llvm::Expected<Formats>
findFormats(llvm::ArrayRef<FunctionSource> sources) {
  Formats formats;
  for (const FunctionSource &source : sources) {
    GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format,
                             findModelFormat(source.path));
    formats.push_back(format);
  }
  return formats;
}

/// Returns the placeholders that function \p index has in common with others.
/// Numbers are those of the first function that shares them.
static PlaceholderSharing getSharing(llvm::ArrayRef<FunctionSource> sources,
                                     const Formats &formats, size_t index) {
  const ModelFormat *own = formats[index];
  auto ofPath =
      unsigned(llvm::find_if(sources,
                             [&](const FunctionSource &other) {
                               return other.path == sources[index].path;
                             }) -
               sources.begin());
  if (!own)
    return {.placeholders = ofPath, .states = ofPath};
  auto ofFormat = unsigned(llvm::find(formats, own) - formats.begin());
  return {.placeholders = unsigned(index),
          .states = own->sharesStates ? ofFormat : ofPath};
}

/// Refuses a text form of which a function would read what none keeps for it.
static llvm::Error checkTextForm(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, readModule(path));
  return addContext(verifyContract(*module), "'" + path + "': ");
}

/// Imports those functions of \p sources that keep their states together, each
/// as a module; null for the others.
static llvm::Expected<std::vector<std::unique_ptr<Module>>>
importTogether(llvm::ArrayRef<FunctionSource> sources, const Formats &formats,
               llvm::ArrayRef<PlaceholderSharing> sharing) {
  std::vector<std::unique_ptr<Module>> modules(sources.size());
  for (size_t first = 0; first < sources.size(); ++first) {
    if (sharing[first].states != first || !formats[first] ||
        !formats[first]->importTogether)
      continue;
    std::vector<size_t> indices;
    std::vector<ModelFormat::Function> functions;
    for (size_t i = first; i < sources.size(); ++i)
      if (sharing[i].states == first) {
        indices.push_back(i);
        functions.push_back({sources[i].path, sources[i].importOptions});
      }
    GLOWISH_ASSIGN_OR_RETURN(auto imported,
                             formats[first]->importTogether(functions));
    for (auto [i, module] : llvm::zip_equal(indices, imported))
      modules[i] = std::move(module);
  }
  return modules;
}

/// \p module: of an import with others; may be null.
static llvm::Expected<StartedProgram>
startFunction(Backend &backend, CompilationOptions options,
              const FunctionSource &source, std::unique_ptr<Module> module) {
  GLOWISH_VLOG(1, "program for the function '{0}'", source.name);
  options.function = source.function;
  auto compilation = std::make_unique<Compilation>(backend, std::move(options));
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph,
      module ? compilation->import(std::move(module), "'" + source.path + "': ")
             : compilation->import(source.path, source.importOptions));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> program,
                           compilation->runToIR(std::move(graph)));
  return StartedProgram{"the function '" + source.name + "'",
                        std::move(compilation), std::move(program)};
}

llvm::Expected<std::optional<CompiledFunctions>>
glowish::compileFunctions(Backend &backend, const CompilationOptions &options,
                          std::vector<FunctionSource> sources) {
  for (FunctionSource &source : sources)
    if (!source.importOptions.evaluate)
      source.importOptions.evaluate = evaluateNode;
  CompiledFunctions compiled;
  GLOWISH_ASSIGN_OR_RETURN(Formats formats, findFormats(sources));
  for (auto [i, source] : llvm::enumerate(sources)) {
    compiled.names.push_back(source.name);
    compiled.sharing.push_back(getSharing(sources, formats, i));
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Module>> modules,
                           importTogether(sources, formats, compiled.sharing));
  std::vector<StartedProgram> started;
  for (auto [i, source] : llvm::enumerate(sources)) {
    if (!formats[i] && compiled.sharing[i].placeholders == i)
      GLOWISH_RETURN_IF_ERROR(checkTextForm(source.path));
    GLOWISH_ASSIGN_OR_RETURN(
        StartedProgram next,
        addContext(
            startFunction(backend, options, source, std::move(modules[i])),
            "the function '" + source.name + "': "));
    started.push_back(std::move(next));
  }
  ConstantPool constants(MemoryPlan::defaultAlignment);
  GLOWISH_ASSIGN_OR_RETURN(
      compiled.programs,
      finishPrograms(backend, options, sources.front().importOptions,
                     std::move(started), constants, compiled.sharing));
  if (compiled.programs.empty())
    return std::nullopt;
  return compiled;
}

Variants CompiledFunctions::getVariants() const {
  Variants variants;
  for (auto [name, own, program] : llvm::zip_equal(names, sharing, programs)) {
    Variant variant = {{}, &program.getIR(), &program.getPlan()};
    variant.entry = name;
    variant.sharing = own;
    variants.programs.push_back(std::move(variant));
  }
  return variants;
}
