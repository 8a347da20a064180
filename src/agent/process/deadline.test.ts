import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { withDeadline } from './deadline.ts';

const NEVER = new AbortController().signal;

test('a deadline aborts with its limit', async () => {
  const clock = fakeClock();
  using deadline = withDeadline(NEVER, { clock, ms: 1_000 });
  await clock.advance(999);
  assert.equal(deadline.signal.aborted, false);
  await clock.advance(1);
  assert.deepEqual(
    [deadline.signal.aborted, String(deadline.signal.reason)],
    [true, 'StopReason: Not finished within 1 s'],
  );
});

test('the time of paused work does not count, also if pauses overlap', async () => {
  const clock = fakeClock();
  using deadline = withDeadline(NEVER, { clock, ms: 1_000 });
  await clock.advance(600);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const paused = [deadline.paused(() => first.promise), deadline.paused(() => second.promise)];
  await clock.advance(3_600_000);
  first.resolve();
  await paused[0];
  await clock.advance(3_600_000);
  second.resolve();
  await paused[1];
  assert.equal(deadline.signal.aborted, false);
  await clock.advance(399);
  assert.equal(deadline.signal.aborted, false);
  await clock.advance(1);
  assert.equal(deadline.signal.aborted, true);
});

test('nothing runs on after a deadline was disposed, also if paused work ends then', async () => {
  const clock = fakeClock();
  const work = Promise.withResolvers<void>();
  const deadline = withDeadline(NEVER, { clock, ms: 1_000 });
  const paused = deadline.paused(() => work.promise);
  deadline[Symbol.dispose]();
  work.resolve();
  await paused;
  await clock.advance(10_000);
  assert.equal(deadline.signal.aborted, false);
});
