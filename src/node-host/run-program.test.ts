import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { systemClock } from '../clock.ts';
import { runProgram } from './run-program.ts';

async function runScript(script: string) {
  const environment = { PATH: '/usr/bin:/bin' };
  const run = {
    program: '/bin/sh',
    argv: ['sh', '-c', script],
    cwd: tmpdir(),
    environment,
    avoid: [],
    clock: systemClock,
  };
  return runProgram(run, new AbortController().signal);
}

test('the whole output of a program is returned, also what was not read when it exited', async () => {
  for (let round = 0; round < 20; round += 1) {
    const end = await runScript('head -c 100000 /dev/zero | tr "\\0" x; printf end >&2');
    assert.deepEqual([end.stdout.length, end.stderr, end.truncated], [100_000, 'end', false]);
  }
});

test('an output that a process outside the group holds open is cut after a while, and called truncated', async () => {
  const { stdout, truncated } = await runScript("echo begin; setsid sh -c 'sleep 6 &'; sleep 0.3");
  assert.deepEqual([stdout, truncated], ['begin\n', true]);
});
