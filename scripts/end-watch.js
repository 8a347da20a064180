// Loaded before test files by run-tests.js: ends a process that goes on although its tests are over, and says what it waits for.
import process from 'node:process';
import { after } from 'node:test';
import { isMainThread } from 'node:worker_threads';

/** Long enough for the slowest clean-up on a busy machine. */
const lingerMs = Number(process.env.TEST_LINGER_MS ?? 30_000);

/** A worker of a test loads this too, and a hook in it would begin a run of its own. */
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
