import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { dailyWhileSteady } from './steady-time.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

function daily() {
  const clock = fakeClock(1_000 * DAY);
  const stop = new AbortController();
  const worked: number[] = [];
  const running = dailyWhileSteady(clock, stop.signal, async () => void worked.push(clock.monotonic()));
  return { clock, stop, worked, running };
}

test('daily work starts after 15 minutes, runs once a day, and ends with the signal', async () => {
  const { clock, stop, worked, running } = daily();
  await clock.advance(15 * MINUTE - 1);
  const early = [...worked];
  await clock.advance(3 * DAY);
  stop.abort();
  await running;
  assert.deepEqual([early, worked.length], [[], 3]);
});

for (const days of [1 / 24, 1, 400, -1 / 24, -1, -400]) {
  test(`a clock that jumps by ${days} days for a minute neither triggers nor skips work`, async () => {
    const { clock, stop, worked, running } = daily();
    await clock.advance(14 * MINUTE);
    clock.jump(days * DAY);
    await clock.advance(MINUTE);
    clock.jump(-days * DAY);
    const during = [...worked];
    await clock.advance(DAY);
    stop.abort();
    await running;
    assert.deepEqual([during, worked.length], [[], 1]);
  });
}

test('a slewed clock counts as steady', async () => {
  const { clock, stop, worked, running } = daily();
  for (let minute = 0; minute < 16; minute += 1) {
    await clock.advance(MINUTE);
    clock.jump(500);
  }
  stop.abort();
  await running;
  assert.equal(worked.length, 1);
});
