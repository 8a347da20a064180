// Loaded before test files by run-tests.js: ends a process that continues after its tests, and prints what keeps it open.
import process from 'node:process';
import { after } from 'node:test';
import { isMainThread } from 'node:worker_threads';

/** Enough for the slowest cleanup on a busy machine. */
const lingerMs = Number(process.env.TEST_LINGER_MS ?? 30_000);

/** Workers of tests load this file too, but a hook in a worker would start another test run. */
if (isMainThread) {
  after(() => {
    // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
    setTimeout(endProcess, lingerMs).unref();
  });
}

function endProcess() {
  const kinds = [...Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind)];
  const open = kinds.map(([kind, { length }]) => `${length} ${kind}`).join(', ');
  process.stderr.write(`still open ${lingerMs / 1000} s after the last test: ${open}\n`);
  process.kill(process.pid, 'SIGKILL');
}
