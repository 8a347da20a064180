import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from '../support/daemon/daemon.ts';

const entry = new URL('../support/fixtures/failing-daemon.ts', import.meta.url);

for (const [mistake, words] of [
  ['exception', 'uncaught exception'],
  ['rejection', 'unhandled promise rejection'],
] as const)
  test(`after an unforeseen ${mistake} the daemon reports it and exits with 1, and can be started again`, async () => {
    await using daemon = await startDaemon({ entry, env: { MISTAKE: mistake } });
    daemon.signal('SIGUSR2');
    assert.deepEqual(await daemon.exited(), { code: 1, signal: null });
    const last = JSON.parse(daemon.output().stderr.trim().split('\n').at(-1) ?? '');
    assert.deepEqual([last.level, last.msg], [50, words]);
    assert.match(last.err.stack, /^Error: nobody \w+( for)? me\n {4}at .*failing-daemon\.ts:/);
    await daemon.restart();
    assert.equal((await daemon.get('/health')).status, 200);
  });
