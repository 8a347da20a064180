import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSerialKeys } from './serial-keys.ts';

test('work with the same key runs in order of arrival, even after a failure', async () => {
  const { run } = createSerialKeys();
  const seen: string[] = [];
  const step = (name: string, outcome: () => unknown) => async () => {
    seen.push(`${name} begins`);
    await new Promise(setImmediate);
    seen.push(`${name} ends`);
    return outcome();
  };
  const failing = run(
    'k',
    step('a', () => Promise.reject(new Error('a broke'))),
  );
  const other = run(
    'k',
    step('b', () => 'b'),
  );
  await assert.rejects(failing, { message: 'a broke' });
  assert.equal(await other, 'b');
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends']);
});

test('work without a key starts at once', async () => {
  const { run } = createSerialKeys();
  const never = run('k', () => new Promise(() => undefined));
  assert.equal(await run(undefined, () => 'now'), 'now');
  assert.equal(await Promise.race([never, run('other', () => 'now')]), 'now');
});
