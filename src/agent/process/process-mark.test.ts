import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMarkFinder, toMarkVariable } from './process-mark.ts';
import { findProcess } from './process-table.ts';

test('a process in the middle of exec is found by a later read', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-mark-'));
  t.after(() => rm(folder, { recursive: true }));
  const script = join(folder, 'restless.sh');
  await writeFile(script, '#!/bin/sh\nexec "$0"\n', { mode: 0o700 });
  const child = spawn(script, { env: toMarkVariable('restless') });
  t.after(() => child.kill('SIGKILL'));
  const row = findProcess(child.pid ?? 0);
  assert.ok(row);
  for (let round = 0; round < 500; round += 1) {
    const find = createMarkFinder({ mark: 'restless', startTicks: row.startTicks });
    for (let look = 0; (await find([row])).length === 0; look += 1) assert.ok(look < 100, `missed in round ${round}`);
  }
});
