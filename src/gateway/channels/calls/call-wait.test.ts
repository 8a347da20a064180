import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { CallWait } from './call-wait.ts';

const { signal } = new AbortController();

test('a file whose pieces keep coming ends after a quarter of an hour', async () => {
  const clock = fakeClock();
  using wait = new CallWait({ signal, timeoutMs: 30_000 }, clock);
  for (let n = 0; n < 44; n += 1) {
    await clock.advance(20_000);
    wait.restart();
  }
  assert.equal(wait.overReason(), undefined);
  await clock.advance(20_000);
  assert.deepEqual([wait.signal.aborted, wait.overReason()], [true, 'not complete within 15 minutes']);
});

test('a wait that has ended leaves no timer', async () => {
  const clock = fakeClock();
  const wait = new CallWait({ signal, timeoutMs: 30_000 }, clock);
  wait[Symbol.dispose]();
  await clock.advance(3_600_000);
  assert.equal(wait.signal.aborted, false);
});
