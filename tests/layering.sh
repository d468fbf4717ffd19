#!/usr/bin/env bash
# layering.sh: no library includes a header of a library to its right in the
# order of docs/architecture.md.
set -euo pipefail
cd "$(dirname "$0")/.."

layers=(Support Base Ops Graph Plugin Distributed Autodiff Importer Exporter Optimizer IR IRGen Backends Driver Report Compiler CInterface)
wrong=0
for i in "${!layers[@]}"; do
  for later in "${layers[@]:i+1}"; do
    found=$(grep -rnE "#include \"glowish/$later/" \
      "include/glowish/${layers[i]}" "lib/${layers[i]}" || true)
    if [[ -n $found ]]; then
      printf '%s must not know %s:\n%s\n' "${layers[i]}" "$later" "$found"
      wrong=1
    fi
  done
done

# The driver and the report work with any back end. (The interpreter is what
# constants are folded with.)
found=$(grep -rnE '#include "glowish/Backends/CPU/' \
  include/glowish/{Driver,Report} lib/{Driver,Report} || true)
if [[ -n $found ]]; then
  printf 'Driver and Report must not know the CPU back end:\n%s\n' "$found"
  wrong=1
fi

# The proof of a memory plan shares no code with what plans: of MemoryPlan.h it
# uses the structures.
found=$(grep -rnE \
  '(ArenaPlanner|RegionPlanner|PlaceholderLiveness|ConstantPool|Passes)\.h"' \
  lib/IR/PlanProof include/glowish/IR/PlanProof.h || true)
found+=$(grep -rnE \
  '\b(planMemory|getLoopStorage|getArenaPlace|ArenaPlanner|RegionPlanner|PlaceholderLiveness)\b' \
  lib/IR/PlanProof || true)
if [[ -n $found ]]; then
  printf 'lib/IR/PlanProof must not know what plans:\n%s\n' "$found"
  wrong=1
fi

# libtorch is known to the library that is loaded for an archive alone, which
# knows nothing of the compiler but the structures that it fills.
reader=lib/Importer/TorchScript/Reader
found=$(grep -rnE '#include [<"](torch|ATen|c10)/' include lib tools python |
  grep -v "^$reader/" || true)
found+=$(grep -rn '#include "' $reader | grep -v '#include "../Program.h"' || true)
if [[ -n $found ]]; then
  printf 'only %s may know libtorch, and it nothing else:\n%s\n' "$reader" "$found"
  wrong=1
fi
exit $wrong
