import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OnceKeys } from './once-keys.ts';

test('whoever asks while it is made gets the same, and afterwards it is made again', async () => {
  const once = new OnceKeys<number>();
  let made = 0;
  const make = async () => {
    made += 1;
    return made;
  };
  const both = await Promise.all([once.run('a', make), once.run('a', make)]);
  const other = await once.run('b', make);
  assert.deepEqual([both, other, once.get('a'), await once.run('a', make)], [[1, 1], 2, undefined, 3]);
});

test('a failure reaches everyone who asked, and leaves nothing behind', async () => {
  const once = new OnceKeys<number>();
  const failing = () => Promise.reject(new Error('no'));
  const [first, second] = [once.run('a', failing), once.run('a', failing)];
  await assert.rejects(first, /no/);
  await assert.rejects(second, /no/);
  assert.equal(await once.run('a', async () => 1), 1);
});
