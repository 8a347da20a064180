import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { ConnectionLostError, RequestError } from '../../../../protocol/client/request-error.ts';
import { settled } from '../app-fixture.ts';
import { Reading } from './reading.ts';

/** A reading whose answers the test gives one by one. */
function open({ isOpen = signal(true) } = {}) {
  const reading = new Reading({ isOpen });
  const asked: PromiseWithResolvers<string>[] = [];
  const kept: string[] = [];
  const read = (name = '') => {
    const ask = () => {
      const next = Promise.withResolvers<string>();
      asked.push(next);
      return next.promise;
    };
    return reading.read(ask, (answer) => void kept.push(name + answer));
  };
  const seen = () => ({
    asked: asked.length,
    kept,
    problem: reading.problem.value,
    isReading: reading.isReading.value,
    isWaiting: reading.isWaiting.value,
  });
  const answer = async (index: number, given: string | Error) => {
    if (given instanceof Error) asked[index]?.reject(given);
    else asked[index]?.resolve(given);
    await settled();
  };
  return { reading, isOpen, read, answer, seen };
}

const IDLE = { problem: undefined, isReading: false, isWaiting: false };
const lost = new ConnectionLostError('the connection was closed (1006)');
const busy = new RequestError('BUSY', 'try later');

test('a read whose connection is lost is repeated once when the connection is back, and shows no problem', async () => {
  const { isOpen, read, answer, seen } = open();
  const ended = read();
  isOpen.value = false;
  await answer(0, lost);
  await ended;
  assert.deepEqual(seen(), { ...IDLE, asked: 1, kept: [], isWaiting: true });
  isOpen.value = true;
  await settled();
  assert.deepEqual(seen(), { ...IDLE, asked: 2, kept: [], isReading: true });
  await answer(1, 'a');
  isOpen.value = false;
  isOpen.value = true;
  await settled();
  assert.deepEqual(seen(), { ...IDLE, asked: 2, kept: ['a'] });
});

test('a read that begins without a connection waits, and one that times out meanwhile is repeated', async () => {
  const { isOpen, read, answer, seen } = open({ isOpen: signal(false) });
  void read();
  assert.equal(seen().isWaiting, true);
  await answer(0, new RequestError('TIMEOUT', 'no answer within 30000 ms', { retryable: true }));
  assert.deepEqual(seen(), { ...IDLE, asked: 1, kept: [], isWaiting: true });
  isOpen.value = true;
  await settled();
  await answer(1, 'a');
  assert.deepEqual(seen(), { ...IDLE, asked: 2, kept: ['a'] });
});

test('a connection that is back before the loss is noticed is used at once', async () => {
  const { read, answer, seen } = open();
  void read();
  await answer(0, lost);
  assert.deepEqual(seen(), { ...IDLE, asked: 2, kept: [], isReading: true });
});

test('another failure is the problem until a read succeeds, and trying again repeats the latest read', async () => {
  const { reading, isOpen, read, answer, seen } = open();
  void read('first ');
  void read('second ');
  await answer(1, busy);
  assert.deepEqual(seen(), { ...IDLE, asked: 2, kept: [], problem: 'try later' });
  isOpen.value = false;
  isOpen.value = true;
  await settled();
  assert.equal(seen().asked, 2, 'a new connection does not repeat it');
  void reading.again();
  assert.equal(seen().problem, undefined);
  await answer(2, busy);
  assert.equal(seen().problem, 'try later');
  void reading.again();
  await answer(3, 'a');
  assert.deepEqual(seen(), { ...IDLE, asked: 4, kept: ['second a'] });
});

test('the answer and the failure of an overtaken read are ignored', async () => {
  const { isOpen, read, answer, seen } = open();
  void read('first ');
  isOpen.value = false;
  await answer(0, lost);
  void read('second ');
  isOpen.value = true;
  await settled();
  assert.equal(seen().asked, 2, 'the first is not repeated');
  void read('third ');
  await answer(1, busy);
  await answer(2, 'a');
  assert.deepEqual(seen(), { ...IDLE, asked: 3, kept: ['third a'] });
});

test('a read that was forgotten is not repeated', async () => {
  const { reading, isOpen, read, answer, seen } = open();
  void read();
  isOpen.value = false;
  await answer(0, lost);
  reading.forget();
  isOpen.value = true;
  await settled();
  assert.deepEqual(seen(), { ...IDLE, asked: 1, kept: [] });
});
