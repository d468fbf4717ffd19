//===- Shrinker.cpp - Shrinks failing graphs ------------------------------===//

#include "Shrinker.h"
#include "Bodies.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

/// Where a body is: entries of specs, and which of their bodies.
using Path = std::vector<std::pair<unsigned, unsigned>>;

class Shrinker {
public:
  Shrinker(GraphSpec &spec, Finding &finding, unsigned maxChecks)
      : spec(spec), finding(finding), checksLeft(maxChecks) {}

  void run();

private:
  bool accept(GraphSpec candidate);
  bool acceptSetting(CompileConfig config);
  bool shrinkOutputs();
  bool removeNodes();
  bool removeOperands();
  bool simplifyStorage();
  bool simplifyAttrs();
  bool simplifyKinds();
  bool shrinkExtents();
  bool dropDimensions();

  void findPaths(const GraphSpec &inside, Path &path, std::vector<Path> &paths);
  GraphSpec *find(GraphSpec &root) const;
  const GraphSpec &here();
  bool shrinkHere();
  bool inlineBodies();
  bool removeCaptures();
  bool removeResults();
  bool removePredicates();

  GraphSpec &spec;
  Finding &finding;
  unsigned checksLeft;
  /// The body that is being shrunk.
  Path path;
};

} // namespace

/// Takes \p candidate over if it is well-typed, another graph than the present
/// one, and wrong in the same way.
bool Shrinker::accept(GraphSpec candidate) {
  if (checksLeft == 0)
    return false;
  candidate.dropUnused();
  if (llvm::Error refusal = candidate.inferTypes()) {
    llvm::consumeError(std::move(refusal));
    return false;
  }
  std::string text = candidate.print();
  if (text == spec.print())
    return false;
  --checksLeft;
  Finding found = checkInChild(GraphCase(text), finding.config);
  if (found.verdict != finding.verdict)
    return false;
  spec = std::move(candidate);
  finding = std::move(found);
  return true;
}

bool Shrinker::acceptSetting(CompileConfig config) {
  if (checksLeft == 0 || config == finding.config)
    return false;
  --checksLeft;
  Finding found = checkInChild(GraphCase(spec.print()), config);
  if (found.verdict != finding.verdict)
    return false;
  finding = std::move(found);
  return true;
}

bool Shrinker::shrinkOutputs() {
  for (const Output &output : spec.outputs) {
    GraphSpec candidate = spec;
    candidate.outputs = {output};
    if (accept(std::move(candidate)))
      return true;
  }
  bool changed = false;
  for (size_t o = spec.outputs.size(); o-- > 0;) {
    GraphSpec candidate = spec;
    candidate.outputs[o].state = -1;
    changed |= accept(std::move(candidate));
    candidate = spec;
    candidate.outputs.erase(candidate.outputs.begin() + o);
    changed |= !candidate.outputs.empty() && accept(std::move(candidate));
  }
  // What an output was made of may be wrong by itself.
  for (size_t o = 0; o < spec.outputs.size(); ++o) {
    auto operands = spec.entries[spec.outputs[o].value.entry].operands;
    for (ValueRef operand : operands) {
      if (!operand || spec.entries[operand.entry].isStorage())
        continue;
      GraphSpec candidate = spec;
      candidate.outputs[o].value = operand;
      if (accept(std::move(candidate))) {
        changed = true;
        break;
      }
    }
  }
  return changed;
}

/// Users of a node get one of its operands, or an input of its type.
bool Shrinker::removeNodes() {
  bool changed = false;
  for (size_t i = here().entries.size(); i-- > 0;) {
    if (i >= here().entries.size() || here().entries[i].isStorage())
      continue;
    bool removed = false;
    Entry entry = here().entries[i];
    for (ValueRef operand : entry.operands) {
      if (!operand || removed)
        continue;
      GraphSpec candidate = spec;
      GraphSpec &inside = *find(candidate);
      auto replace = [&](ValueRef &value) {
        if (value.entry == int(i))
          value = operand;
      };
      for (Entry &user : inside.entries)
        llvm::for_each(user.operands, replace);
      bool savesStorage = false;
      for (Output &output : inside.outputs) {
        replace(output.value);
        savesStorage |=
            path.empty() && inside.entries[output.value.entry].isStorage();
      }
      removed = !savesStorage && accept(std::move(candidate));
    }
    bool isOutput = llvm::any_of(here().outputs, [&](const Output &output) {
      return output.value.entry == int(i);
    });
    if (!removed && !isOutput && entry.types.size() == 1) {
      GraphSpec candidate = spec;
      GraphSpec &inside = *find(candidate);
      Entry &storage = inside.entries[i];
      storage.kind = path.empty() ? NodeKind::Placeholder : NodeKind::Constant;
      storage.bodies.clear();
      storage.name = "unit" + std::to_string(1000 + i);
      storage.operands.clear();
      storage.predicate = {};
      storage.attrs.clear();
      removed = accept(std::move(candidate));
    }
    changed |= removed;
  }
  return changed;
}

bool Shrinker::removeOperands() {
  bool changed = false;
  for (size_t i = 0; i < here().entries.size(); ++i) {
    const OpInfo &info = getNodeInfo(here().entries[i].kind);
    for (size_t o = here().entries[i].operands.size(); o-- > 0;) {
      GraphSpec candidate = spec;
      GraphSpec &inside = *find(candidate);
      auto &operands = inside.entries[i].operands;
      if (info.getOperandInfo(o).isVariadic && !info.hasBodies())
        operands.erase(operands.begin() + o);
      else if (info.getOperandInfo(o).isOptional && operands[o])
        operands[o] = ValueRef();
      else
        continue;
      if (accept(std::move(candidate))) {
        changed = true;
        break; // positions have changed
      }
    }
  }
  return changed;
}

/// Inputs instead of constants, with plain values.
bool Shrinker::simplifyStorage() {
  bool changed = false;
  for (size_t i = 0; i < here().entries.size(); ++i) {
    if (!here().entries[i].isStorage())
      continue;
    if (here().entries[i].kind == NodeKind::Constant) {
      GraphSpec candidate = spec;
      GraphSpec &inside = *find(candidate);
      inside.entries[i].kind = NodeKind::Placeholder;
      changed |= accept(std::move(candidate));
    }
    for (llvm::StringRef simpler : {"whole", "unit", "positive"}) {
      llvm::StringRef name = here().entries[i].name;
      llvm::StringRef digits =
          name.drop_while([](char c) { return c >= 'a' && c <= 'z'; });
      if (name.starts_with(simpler))
        break;
      GraphSpec candidate = spec;
      GraphSpec &inside = *find(candidate);
      inside.entries[i].name = (simpler + digits).str();
      if (accept(std::move(candidate))) {
        changed = true;
        break;
      }
    }
  }
  return changed;
}

/// Values that are simpler than \p value, the simplest first.
static std::vector<AttrValue> getSimpler(const AttrValue &value) {
  std::vector<AttrValue> simpler;
  if (auto *ints = std::get_if<std::vector<int64_t>>(&value)) {
    for (size_t i = 0; i < ints->size(); ++i)
      for (int64_t plain : {0, 1}) {
        if (std::llabs((*ints)[i]) <= plain)
          break;
        std::vector<int64_t> other = *ints;
        other[i] = plain;
        simpler.push_back(std::move(other));
      }
    for (size_t i = 0; i < ints->size(); ++i) {
      std::vector<int64_t> other = *ints;
      other.erase(other.begin() + i);
      simpler.push_back(std::move(other));
    }
  } else if (auto *integer = std::get_if<int64_t>(&value)) {
    for (int64_t plain = 0; plain < std::min<int64_t>(*integer, 2); ++plain)
      simpler.push_back(plain);
  } else if (auto *number = std::get_if<double>(&value)) {
    for (double plain : {0.0, 1.0})
      if (*number == plain)
        break;
      else
        simpler.push_back(plain);
  } else if (auto *flag = std::get_if<bool>(&value)) {
    if (*flag)
      simpler.push_back(false);
  } else if (auto *program = std::get_if<ScalarProgram>(&value)) {
    if (!program->empty())
      simpler.push_back(ScalarProgram());
    for (size_t kept = 1; kept < program->steps.size(); ++kept) {
      ScalarProgram shorter;
      shorter.steps.assign(program->steps.begin(),
                           program->steps.begin() + kept);
      simpler.push_back(std::move(shorter));
    }
  }
  return simpler;
}

bool Shrinker::simplifyAttrs() {
  bool changed = false;
  for (size_t i = 0; i < here().entries.size(); ++i)
    for (size_t a = 0;
         i < here().entries.size() && a < here().entries[i].attrs.size(); ++a)
      for (AttrValue &simpler : getSimpler(here().entries[i].attrs[a])) {
        GraphSpec candidate = spec;
        GraphSpec &inside = *find(candidate);
        inside.entries[i].attrs[a] = std::move(simpler);
        if (accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
  return changed;
}

/// Float instead of the other kinds, everywhere.
bool Shrinker::simplifyKinds() {
  std::set<ElemKind> kinds;
  forEachEntry(spec, [&](const Entry &entry) {
    for (const Type &type : entry.types)
      if (type.getKind() != ElemKind::Float)
        kinds.insert(type.getKind());
  });
  bool changed = false;
  for (ElemKind kind : kinds)
    for (ElemKind simpler : {ElemKind::Float, ElemKind::Int32}) {
      if (simpler == kind)
        break;
      GraphSpec candidate = spec;
      forEachEntry(candidate, [&](Entry &entry) {
        if (entry.isStorage() && entry.types[0].getKind() == kind)
          entry.types[0] = entry.types[0].withKind(simpler);
        for (AttrValue &attr : entry.attrs)
          if (attr == AttrValue(kind))
            attr = simpler;
          else if (auto *program = std::get_if<ScalarProgram>(&attr))
            for (ScalarStep &step : program->steps)
              if (step.kind == kind)
                step.kind = simpler;
      });
      if (accept(std::move(candidate))) {
        changed = true;
        break;
      }
    }
  return changed;
}

/// \p type with another shape: one scale is left of several.
static Type withShape(const Type &type, DimsRef shape) {
  if (!type.isQuantized() || type.getQuantParams().axis < 0 ||
      type.getQuantParams().scales.empty())
    return type.withShape(shape);
  const QuantParams &params = type.getQuantParams();
  return Type(type.getKind(), shape,
              QuantParams{{params.scales[0]}, {params.offsets[0]}});
}

/// Replaces \p from by \p to in the shapes of storage, and in attributes too
/// with \p inAttrs; only in entry \p only, if that is not negative.
static GraphSpec replaceExtent(GraphSpec spec, int64_t from, int64_t to,
                               bool inAttrs, int only) {
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    Entry &entry = spec.entries[i];
    if (entry.isStorage() && (only < 0 || only == int(i))) {
      Dims shape(entry.types[0].getShape());
      std::replace(shape.begin(), shape.end(), from, to);
      entry.types[0] = withShape(entry.types[0], shape);
    }
    for (AttrValue &attr : entry.attrs)
      if (auto *ints = std::get_if<std::vector<int64_t>>(&attr);
          ints && inAttrs)
        std::replace(ints->begin(), ints->end(), from, to);
  }
  return spec;
}

bool Shrinker::shrinkExtents() {
  bool changed = false;
  for (int only = -1; only < int(spec.entries.size()); ++only) {
    std::set<int64_t, std::greater<int64_t>> extents;
    for (size_t i = 0; i < spec.entries.size(); ++i)
      if (spec.entries[i].isStorage() && (only < 0 || only == int(i)))
        for (int64_t extent : spec.entries[i].types[0].getShape())
          extents.insert(extent);
    for (int64_t extent : extents) {
      bool done = false;
      for (int64_t smaller : {int64_t(1), int64_t(2), extent / 2, extent - 1})
        for (bool inAttrs : {true, false})
          if (!done && smaller >= 1 && smaller < extent)
            done = accept(replaceExtent(spec, extent, smaller, inAttrs, only));
      changed |= done;
    }
  }
  return changed;
}

/// Removes dimension \p d, counted from the first or the last, everywhere.
bool Shrinker::dropDimensions() {
  for (unsigned d = 0; d < 4; ++d)
    for (bool fromEnd : {false, true}) {
      GraphSpec candidate = spec;
      auto drop = [&](auto &values) {
        if (d < values.size())
          values.erase(values.begin() + (fromEnd ? values.size() - 1 - d : d));
      };
      forEachEntry(candidate, [&](Entry &entry) {
        if (entry.isStorage()) {
          Dims shape(entry.types[0].getShape());
          drop(shape);
          entry.types[0] = withShape(entry.types[0], shape);
        }
        for (AttrValue &attr : entry.attrs)
          if (auto *ints = std::get_if<std::vector<int64_t>>(&attr))
            drop(*ints);
      });
      if (accept(std::move(candidate)))
        return true;
    }
  return false;
}

bool fuzz::simplifyConfig(const Finding &finding,
                          llvm::function_ref<bool(CompileConfig)> accept) {
  static void (*const simplifications[])(CompileConfig &) = {
      [](CompileConfig &config) { config.numThreads = 1; },
      [](CompileConfig &config) { config.choiceRank = 0; },
      [](CompileConfig &config) { config.placesIOInArena = false; },
      [](CompileConfig &config) { config.winograd = WinogradLimit::F4; },
      [](CompileConfig &config) { config.isQuick = false; },
      [](CompileConfig &config) { config.isReproducible = false; },
      [](CompileConfig &config) { config.order = 0; },
      [](CompileConfig &config) { config.without.clear(); },
  };
  bool changed = false;
  for (auto simplify : simplifications) {
    CompileConfig config = finding.config;
    simplify(config);
    changed |= config != finding.config && accept(std::move(config));
  }
  for (const std::string &pass :
       std::set<std::string>(finding.config.without)) {
    CompileConfig config = finding.config;
    config.without.erase(pass);
    changed |= accept(std::move(config));
  }
  return changed;
}

//===- Bodies -------------------------------------------------------------===//

void Shrinker::findPaths(const GraphSpec &inside, Path &path,
                         std::vector<Path> &paths) {
  paths.push_back(path);
  for (unsigned i = 0; i < inside.entries.size(); ++i)
    for (unsigned b = 0; b < inside.entries[i].bodies.size(); ++b) {
      path.push_back({i, b});
      findPaths(inside.entries[i].bodies[b], path, paths);
      path.pop_back();
    }
}

/// The body in \p root at the path; null where it is gone.
GraphSpec *Shrinker::find(GraphSpec &root) const {
  GraphSpec *found = &root;
  for (auto [entry, body] : path) {
    if (entry >= found->entries.size() ||
        body >= found->entries[entry].bodies.size())
      return nullptr;
    found = &found->entries[entry].bodies[body];
  }
  return found;
}

const GraphSpec &Shrinker::here() {
  static const GraphSpec nothing;
  const GraphSpec *found = find(spec);
  return found ? *found : nothing;
}

/// What a body does, without control flow.
bool Shrinker::inlineBodies() {
  for (size_t i = 0; i < here().entries.size(); ++i)
    for (size_t b = 0; b < here().entries[i].bodies.size(); ++b) {
      GraphSpec candidate = spec;
      inlineBody(*find(candidate), i, b);
      // Positions have changed.
      for (Entry &entry : find(candidate)->entries)
        entry.predicate = {};
      if (accept(std::move(candidate)))
        return true;
    }
  return false;
}

bool Shrinker::removeCaptures() {
  bool changed = false;
  for (size_t i = 0; i < here().entries.size(); ++i)
    for (size_t o = here().entries[i].operands.size(); o-- > 1;) {
      if (i >= here().entries.size())
        break;
      const Entry &entry = here().entries[i];
      bool isLoop = entry.kind == NodeKind::Loop;
      if (entry.bodies.empty() || o >= entry.operands.size() ||
          (isLoop && o < 2))
        break;
      int parameter = int(isLoop ? o : o - 1);
      if (llvm::any_of(entry.bodies, [&](const GraphSpec &body) {
            return usesValue(body, parameter);
          }))
        continue;
      GraphSpec candidate = spec;
      removeCapture(find(candidate)->entries[i], o);
      changed |= accept(std::move(candidate));
    }
  return changed;
}

/// Removes results of branches and scans of loops that have no uses.
bool Shrinker::removeResults() {
  bool changed = false;
  for (size_t i = 0; i < here().entries.size(); ++i)
    for (size_t r = here().entries[i].types.size(); r-- > 0;) {
      if (i >= here().entries.size() || here().entries[i].bodies.empty())
        break;
      GraphSpec candidate = spec;
      GraphSpec &inside = *find(candidate);
      Entry &entry = inside.entries[i];
      size_t output = entry.kind == NodeKind::Loop ? r + 1 : r;
      bool isUsed = entry.bodies[0].outputs.size() <= output;
      auto shift = [&](ValueRef &value) {
        if (value.entry != int(i))
          return;
        isUsed |= value.result == r;
        value.result -= value.result > r;
      };
      for (Entry &user : inside.entries)
        llvm::for_each(user.operands, shift);
      for (Output &saved : inside.outputs)
        shift(saved.value);
      if (isUsed)
        continue;
      for (GraphSpec &body : entry.bodies)
        body.outputs.erase(body.outputs.begin() + output);
      changed |= accept(std::move(candidate));
    }
  return changed;
}

bool Shrinker::removePredicates() {
  bool changed = false;
  for (size_t i = 0; i < here().entries.size(); ++i) {
    if (!here().entries[i].predicate)
      continue;
    GraphSpec candidate = spec;
    find(candidate)->entries[i].predicate = {};
    changed |= accept(std::move(candidate));
  }
  return changed;
}

bool Shrinker::shrinkHere() {
  bool changed = removePredicates();
  changed |= inlineBodies();
  changed |= removeNodes();
  changed |= removeOperands();
  changed |= removeResults();
  changed |= removeCaptures();
  changed |= simplifyAttrs();
  changed |= simplifyStorage();
  return changed;
}

void Shrinker::run() {
  auto acceptConfig = [&](CompileConfig config) {
    return acceptSetting(std::move(config));
  };
  simplifyConfig(finding, acceptConfig);
  for (bool changed = true; changed && checksLeft > 0;) {
    changed = shrinkOutputs();
    std::vector<Path> paths;
    Path root;
    findPaths(spec, root, paths);
    for (Path &each : paths) {
      path = std::move(each);
      changed |= shrinkHere();
    }
    path.clear();
    changed |= shrinkExtents();
    changed |= dropDimensions();
    changed |= simplifyKinds();
  }
  simplifyConfig(finding, acceptConfig);
}

void fuzz::shrink(GraphSpec &spec, Finding &finding, unsigned maxChecks) {
  Shrinker(spec, finding, maxChecks).run();
}
