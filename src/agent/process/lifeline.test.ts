import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandLinesWith } from '../../testing/command-lines.ts';
import { readProcessTable } from './process-table.ts';

const FIXTURE = fileURLToPath(new URL('lifeline-fixture.ts', import.meta.url));

/** A process that runs the stubborn command outside the sandbox, once it has printed something. */
async function runningApart(t: TestContext, nap: string): Promise<number> {
  const daemon = spawn(process.execPath, [FIXTURE, stubborn(nap)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    daemon.kill('SIGKILL');
    for (const { pid } of await commandLinesWith(nap)) process.kill(pid, 'SIGKILL');
  });
  await once(daemon.stdout, 'data');
  return daemon.pid ?? assert.fail('not started');
}

/** The shells that a process has beside it. */
async function lifelinesOf(pid: number): Promise<number[]> {
  const children = (await readProcessTable()).filter(({ parent }) => parent === pid).map((row) => row.pid);
  return (await commandLinesWith('headgate-lifeline')).map((line) => line.pid).filter((one) => children.includes(one));
}

/** The numbers of the signals that a process ignores. */
async function ignoredBy(pid: number): Promise<number[]> {
  const [, mask = '0'] = /^SigIgn:\s+(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Array.from({ length: 31 }, (_, index) => index + 1).filter((n) => (Number.parseInt(mask, 16) >> (n - 1)) & 1);
}

async function waitFor<T>(find: () => Promise<T[]>, fits: (found: T[]) => boolean): Promise<T[]> {
  for (;;) {
    const found = await find();
    if (fits(found)) return found;
    await new Promise(setImmediate);
  }
}

/** Ignores signals, and has children in its group and in a session of its own. */
const stubborn = (nap: string) =>
  `trap '' TERM HUP INT; sleep ${nap} & setsid -f bash -c "trap '' TERM HUP; sleep ${nap}; :"; echo up; sleep ${nap}`;

test('what runs outside the sandbox ends when its daemon is killed', async (t) => {
  const nap = `3600.${process.pid}1`;
  const daemon = await runningApart(t, nap);
  await waitFor(
    () => commandLinesWith(nap),
    ({ length }) => length >= 5,
  );
  process.kill(daemon, 'SIGKILL');
  await waitFor(
    () => commandLinesWith(nap),
    ({ length }) => length === 0,
  );
});

test('also if the shell that sees to it was killed before, and signals do not end it', async (t) => {
  const nap = `3600.${process.pid}2`;
  const daemon = await runningApart(t, nap);
  const [first = 0, ...others] = await lifelinesOf(daemon);
  assert.deepEqual([first > 0, others], [true, []]);
  await waitFor(
    () => ignoredBy(first),
    (signals) => signals.includes(15),
  );
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGUSR1'] as const) process.kill(first, signal);
  assert.deepEqual(await lifelinesOf(daemon), [first]);
  process.kill(first, 'SIGKILL');
  const [second = 0] = await waitFor(
    () => lifelinesOf(daemon),
    ([pid]) => pid !== undefined && pid !== first,
  );
  process.kill(daemon, 'SIGKILL');
  await waitFor(
    () => commandLinesWith(nap),
    ({ length }) => length === 0,
  );
  await waitFor(
    () => commandLinesWith('headgate-lifeline'),
    (lines) => lines.every(({ pid }) => pid !== second),
  );
});

test('an end of the command leaves nothing to wait for', async (t) => {
  const ended = spawn(process.execPath, [FIXTURE, 'echo up'], { stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => ended.kill('SIGKILL'));
  assert.deepEqual(await once(ended, 'exit'), [0, null]);
});
