import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const FIXTURE = fileURLToPath(new URL('few-files-fixture.ts', import.meta.url));

test('a program that cannot be started because too many files are open fails with this reason, and ends nothing else', async () => {
  const script = 'ulimit -n 60; exec "$@"';
  const { stdout } = await promisify(execFile)('sh', ['-c', script, 'sh', process.execPath, FIXTURE]);
  assert.deepEqual(stdout.trim().split('\n'), Array(3).fill('too many files are open'));
});
