// Started by run-tests.js: runs test files in this process, and ends it if it continues after its tests.
// `node --test` does the same, but follows every promise, only to name the test that an uncaught error comes from. That takes two
// fifths of the processor time of the tests. Here, such an error fails the process, with its stack and the tests that had begun.
import { createHook } from 'node:async_hooks';
import process from 'node:process';
import { after, run } from 'node:test';
import { inspect } from 'node:util';
import lineReporter from './line-reporter.js';

/** Enough for the slowest cleanup on a busy machine. */
const lingerMs = Number(process.env.TEST_LINGER_MS ?? 30_000);

const stream = withoutPromises(() => run({ files: process.argv.slice(2), isolation: 'none' }));
after(() => {
  // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
  setTimeout(endProcess, lingerMs).unref();
});
// The runner reports these errors without their stacks.
for (const uncaught of ['uncaughtException', 'unhandledRejection']) process.on(uncaught, tell);
stream.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1;
});
for await (const _ of lineReporter(stream));

/** The hooks that `start` enables follow no promises: as if they were created with `trackPromises: false`. */
function withoutPromises(start) {
  const sample = createHook({ trackPromises: false });
  const [mark] = Object.getOwnPropertySymbols(sample).filter((symbol) => sample[symbol] === true);
  const hooks = Object.getPrototypeOf(sample);
  const { enable } = hooks;
  hooks.enable = function enableWithoutPromises() {
    this[mark] = true;
    return enable.call(this);
  };
  try {
    return start();
  } finally {
    hooks.enable = enable;
  }
}

function tell(error) {
  process.stderr.write(`${inspect(error)}\n`);
}

function endProcess() {
  const kinds = [...Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind)];
  const open = kinds.map(([kind, { length }]) => `${length} ${kind}`).join(', ');
  process.stderr.write(`still open ${lingerMs / 1000} s after the last test: ${open}\n`);
  process.kill(process.pid, 'SIGKILL');
}
