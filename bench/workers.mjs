// Programs that time something on demand.
//
// A worker is a process that prints "ready {...}" once it is warm (the braces
// hold JSON, with "error" the largest difference from the reference as a share
// of the largest magnitude) and then answers each line "run MS" with one
// number, the median time of a run in milliseconds, after running for that
// many milliseconds. It ends when its input does.

import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';

export class Worker {
  // `cpus`: the processors to run on.
  constructor(name, command, cpus) {
    this.name = name;
    this.waiting = [];
    this.log = '';
    this.process = spawn('taskset', ['-c', cpus.join(','), ...command],
                         {stdio: ['pipe', 'pipe', 'pipe']});
    this.process.stderr.on('data', (text) => { this.log += text; });
    this.process.stdin.on('error', () => {});
    this.process.on('error', (error) => this.#fail(error.message));
    this.process.on('close', (code) => this.#fail(`ended with code ${code}`));
    const lines = createInterface({input: this.process.stdout});
    lines.on('line', (line) => this.#take(line));
    this.ready = this.#next('ready ').then((text) => JSON.parse(text));
    // An error is reported where it is awaited, not before.
    this.ready.catch(() => {});
  }

  // Runs for `milliseconds`; the median time of a run.
  async run(milliseconds) {
    return Number(await this.ask(`run ${milliseconds}`));
  }

  // What a worker with other questions answers to the line `text`.
  ask(text) {
    const answer = this.#next('');
    this.process.stdin.write(`${text}\n`);
    return answer;
  }

  async stop() {
    this.process.stdin.end();
    if (this.process.exitCode === null && this.process.pid)
      await new Promise((resolve) => this.process.once('close', resolve));
  }

  // The rest of the next line that begins with `prefix`.
  #next(prefix) {
    return new Promise((resolve, reject) => {
      if (this.failure)
        reject(this.failure);
      this.waiting.push({prefix, resolve, reject});
    });
  }

  #take(line) {
    if (!this.waiting.length || !line.startsWith(this.waiting[0].prefix))
      return;
    const {prefix, resolve} = this.waiting.shift();
    resolve(line.slice(prefix.length));
  }

  #fail(reason) {
    const lastLine = this.log.trim().split('\n').at(-1);
    this.failure = new Error(`${this.name}: ${reason}. ${lastLine}`.trim());
    for (const {reject} of this.waiting.splice(0))
      reject(this.failure);
  }
}
