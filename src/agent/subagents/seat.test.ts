import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Seats } from '../../timing/seats.ts';
import { Seat } from './seat.ts';

/** One seat, which another one has. */
async function occupied() {
  const seats = new Seats(() => 1);
  const { signal } = new AbortController();
  const other = new Seat(seats, signal);
  await other.take();
  return { seats, other, seat: new Seat(seats, signal) };
}

test('two waits that end while the seat is taken need one seat, and give it back', async () => {
  const { seats, other, seat } = await occupied();
  const work = [
    seat.whileWaiting(async () => undefined),
    setImmediate().then(() => seat.whileWaiting(async () => 'b')),
  ];
  await setImmediate();
  await setImmediate();
  assert.equal(seats.waiting, 1);
  other.leave();
  await Promise.all(work);
  seat.leave();
  await other.take();
  assert.equal(seats.waiting, 0);
});

test('a seat that comes while its sub-agent waits again is left to others', async () => {
  const { seats, other, seat } = await occupied();
  const first = seat.whileWaiting(async () => undefined);
  await setImmediate();
  const answer = Promise.withResolvers<void>();
  const second = seat.whileWaiting(() => answer.promise);
  other.leave();
  await first;
  await other.take();
  answer.resolve();
  await setImmediate();
  assert.equal(seats.waiting, 1);
  other.leave();
  await second;
  seat.leave();
  await other.take();
});

test('a sub-agent has its seat after its wait', async () => {
  const { seats, other, seat } = await occupied();
  other.leave();
  await seat.take();
  assert.equal(await seat.whileWaiting(async () => 'answer'), 'answer');
  const next = other.take();
  assert.equal(seats.waiting, 1);
  seat.leave();
  await next;
});
