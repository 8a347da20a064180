import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { HealthSamples } from './health-samples.ts';

const MINUTE_MS = 60_000;

function setUp() {
  const clock = fakeClock(10 * MINUTE_MS);
  let written: (seconds: number) => void = () => undefined;
  let busy = 0;
  const store = {
    onWritten(listener: typeof written) {
      written = listener;
    },
  };
  const samples = new HealthSamples({ clock, store }, () => busy);
  return {
    clock,
    samples,
    write: (ms: number) => written(ms / 1_000),
    look(lateMs: number, more: { circuit?: 'open' | 'half_open'; busy?: number; isFull?: boolean } = {}) {
      busy = more.busy ?? 0;
      samples.note({ lateMs, circuit: more.circuit ?? 'closed', store: more.isFull ? 'degraded' : 'ok' });
    },
  };
}

test('a sample has the worst of its minute', async () => {
  const { clock, samples, write, look } = setUp();
  write(1.5);
  write(0.5);
  look(3, { busy: 0.25 });
  await clock.advance(2_000);
  look(40, { circuit: 'half_open' });
  await clock.advance(2_000);
  look(1, { circuit: 'open', isFull: true });
  await clock.advance(MINUTE_MS);
  look(2);
  assert.deepEqual(samples.list(1), [
    { atMs: 10 * MINUTE_MS, lagMs: 40, busy: 0.25, circuit: 'open', store: 'degraded', storeMs: 1.5 },
    { atMs: 11 * MINUTE_MS, lagMs: 2, busy: 0, circuit: 'closed', store: 'ok' },
  ]);
});

test('only the last day is kept, and several minutes can be one sample', async () => {
  const { clock, samples, look } = setUp();
  for (let minute = 0; minute < 24 * 60 + 30; minute += 1) {
    look(minute);
    await clock.advance(MINUTE_MS);
  }
  const each = samples.list(1);
  assert.deepEqual([each.length, each[0]?.lagMs, each.at(-1)?.lagMs], [24 * 60 - 1, 31, 24 * 60 + 29]);
  const tens = samples.list(10);
  assert.deepEqual([tens.length, tens[1]?.lagMs, tens.at(-1)?.atMs], [144, 49, (24 * 60 + 30) * MINUTE_MS]);
});

test('after a pause of the machine, what is older than a day is left out', async () => {
  const { clock, samples, look } = setUp();
  look(1);
  await clock.advance(25 * 60 * MINUTE_MS);
  assert.deepEqual(samples.list(1), []);
});
