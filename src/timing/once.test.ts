import assert from 'node:assert/strict';
import { test } from 'node:test';
import { once, onceItWorks } from './once.ts';

/** Fails at the first call. */
function flaky() {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 1) throw new Error('busy');
    return calls;
  };
}

test('once keeps what came of the work, also a failure', async () => {
  const work = once(flaky());
  await assert.rejects(work(), /busy/);
  await assert.rejects(work(), /busy/);
});

test('onceItWorks starts again after a failure, and never after a success', async () => {
  const work = onceItWorks(flaky());
  await Promise.all([assert.rejects(work(), /busy/), assert.rejects(work(), /busy/)]);
  assert.deepEqual([await work(), await work()], [2, 2]);
});
