import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { readProcessTable } from './process-table.ts';
import { BASH } from './program-fixture.ts';
import { createProcessRunner } from './runner.ts';

test('a command whose limits cannot be set does not wait at the gate forever', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'headgate-gate-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const refused: number[] = [];
  const runner = createProcessRunner({
    ...{ clock: systemClock, environment: { PATH: '/usr/bin:/bin' }, bash: BASH, ids: randomIds, home },
    sandbox: { kind: 'none', reason: 'a test', required: false },
    limiter: {
      way: 'cgroup v2',
      limits: { processes: 10, memoryBytes: 1_000_000, fileBytes: 1_000_000 },
      async begin(pid) {
        refused.push(pid);
        throw new Error('EACCES');
      },
    },
  });
  await using folder = await holdFolder(home);
  const result = await runner.run(
    { command: 'echo up', folder, timeoutMs: 60_000 },
    {
      signal: new AbortController().signal,
      onProcess: async () => undefined,
      onOutput: async () => assert.fail('it printed something'),
    },
  );
  assert.deepEqual([result.kind, refused.length], ['failed', 1]);
  const isThere = async () => (await readProcessTable()).some(({ pid }) => pid === refused[0]);
  while (await isThere()) await new Promise(setImmediate); // the kernel needs a moment
});
