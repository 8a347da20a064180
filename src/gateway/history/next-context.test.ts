import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Message } from '../../agent/message.ts';
import { NextContext } from './next-context.ts';

/** A reader whose readings end when the test says so. */
function openReader(messageCount = 0) {
  const readings: PromiseWithResolvers<Message[] | undefined>[] = [];
  const context = new NextContext({ wsId: 'one', messageCount, contextAfterSeq: 0 }, () => {
    const reading = Promise.withResolvers<Message[] | undefined>();
    readings.push(reading);
    return reading.promise;
  });
  const nth = async (n: number) => {
    await nextTurn();
    const reading = readings[n - 1];
    assert.ok(reading);
    return reading;
  };
  return { context, readings, nth };
}

test('two that need it at the same time get the same list from one reading', async () => {
  const { context, readings, nth } = openReader();
  const both = [context.take(), context.take()];
  (await nth(1)).resolve([]);
  const [first, second] = await Promise.all(both);
  assert.equal(first, second);
  assert.equal(await context.take(), first);
  assert.equal(readings.length, 1);
});

test('what was being read when the messages changed is read again, after it', async () => {
  const { context, readings, nth } = openReader();
  const stale = context.take();
  const old = await nth(1);
  context.forget();
  const fresh = context.take();
  await nextTurn();
  assert.equal(readings.length, 1);
  old.resolve([]);
  (await nth(2)).resolve([{ role: 'user', content: 'new', trusted: true }]);
  assert.equal((await stale)?.length, 0);
  assert.equal((await fresh)?.length, 1);
  assert.equal(await context.take(), await fresh);
});

test('after an error and after damage it is read again', async () => {
  const { context, readings, nth } = openReader();
  const failed = context.take();
  (await nth(1)).reject(new Error('disk'));
  await assert.rejects(failed, /disk/);
  const damaged = context.take();
  (await nth(2)).resolve(undefined);
  assert.equal(await damaged, undefined);
  const intact = context.take();
  (await nth(3)).resolve([]);
  assert.deepEqual(await intact, []);
  assert.equal(readings.length, 3);
});

test('a long context is read before a run needs it, a short one is not', async () => {
  const short = openReader(499);
  short.context.expectRun();
  await nextTurn();
  assert.equal(short.readings.length, 0);
  const { context, readings, nth } = openReader(500);
  context.expectRun();
  (await nth(1)).reject(new Error('disk')); // nobody hears of it
  await nextTurn();
  const taken = context.take();
  (await nth(2)).resolve([]);
  assert.deepEqual(await taken, []);
  context.expectRun();
  assert.equal(readings.length, 2);
});
