// Measuring on a machine that other programs use, too.

import {readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {setTimeout} from 'node:timers/promises';

// Of the processors' time, what others may take before a measurement is
// repeated, how often it is made at most, and how long it waits for others.
const mostOthers = 0.05, mostTries = 4;
const probeMilliseconds = 500, mostProbes = 40;

// What the kernel counts processor time in.
const millisecondsPerTick = 10;

const sum = (values) => values.reduce((a, b) => a + Number(b), 0);

// The ticks that processors have been busy, or that a virtual machine wanted and
// did not get.
function getBusyTicks() {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, , , irq, softirq, steal] =
      line.split(/\s+/).slice(1);
  return sum([user, nice, system, irq, softirq, steal]);
}

// Those of a process with all its threads.
function getTicks(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return sum(text.slice(text.lastIndexOf(')')).split(' ').slice(12, 14));
}

// What `body` returns, and the share of the processors that others have while it
// runs; `getOwn` counts the ticks that are not theirs.
async function watch(getOwn, body) {
  const start = performance.now(), before = getBusyTicks() - getOwn();
  const result = await body();
  const ticks = (performance.now() - start) / millisecondsPerTick;
  return {result, others: (getBusyTicks() - getOwn() - before) / ticks /
                          availableParallelism()};
}

// Waits until others take little of the processors, for up to 20 seconds.
export async function waitForQuiet() {
  for (let i = 0; i < mostProbes; ++i) {
    const {others} =
        await watch(() => 0, () => setTimeout(probeMilliseconds));
    if (others < mostOthers)
      return;
  }
}

// What `measure` returns, in which the process `pid` works: the first time while
// others took little of the processors, or the time when they took the least.
export async function measureQuietly(pid, measure) {
  let best;
  for (let i = 0; i < mostTries && !(best?.others < mostOthers); ++i) {
    await waitForQuiet();
    const watched = await watch(() => getTicks(pid), measure);
    if (!best || watched.others < best.others)
      best = watched;
  }
  return best;
}
