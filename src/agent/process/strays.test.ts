import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { BASH } from './program-fixture.ts';
import { createProcessRunner } from './runner.ts';

const runnerOf = (home: string) =>
  createProcessRunner({
    clock: systemClock,
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    sandbox: { kind: 'none', reason: 'a test', required: false },
    bash: BASH,
    ids: randomIds,
    home,
  });

/** A sleeping command: its result, a promise for its start, and a way to end it. */
async function sleeping(home: string) {
  const stop = new AbortController();
  const up = Promise.withResolvers<void>();
  const hooks = { signal: stop.signal, onProcess: async () => undefined, onOutput: async () => up.resolve() };
  const folder = await holdFolder('/');
  const command = { command: 'echo up; exec sleep 60', folder, timeoutMs: 60_000 };
  const ended = runnerOf(home).run(command, hooks);
  void ended.finally(() => folder[Symbol.asyncDispose]());
  await up.promise;
  return { ended, stop };
}

test('leftover processes of a home’s last daemon are ended, and no others', async () => {
  const homes = [`/homes/one-${process.pid}`, `/homes/two-${process.pid}`] as const;
  const [left, other] = await Promise.all([sleeping(homes[0]), sleeping(homes[1])]);
  assert.equal(await runnerOf(homes[0]).killStrays(), 1);
  assert.deepEqual(await left.ended, { kind: 'killed', signal: 'SIGTERM' });
  assert.equal(await runnerOf(homes[0]).killStrays(), 0);
  const stillThere = Symbol('still running');
  assert.equal(await Promise.race([other.ended, Promise.resolve(stillThere)]), stillThere);
  other.stop.abort(new Error('the test is over'));
  assert.equal((await other.ended).kind, 'stopped');
});
