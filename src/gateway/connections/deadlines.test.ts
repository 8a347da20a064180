import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createDeadlines } from './deadlines.ts';

test('each deadline ends at its own time, and a cancelled one never', async () => {
  const clock = fakeClock();
  const deadlines = createDeadlines({ ms: 100, clock });
  const late: string[] = [];
  const start = (name: string) => deadlines.start(() => void late.push(`${name} at ${clock.monotonic()}`));
  const letGo = start('a');
  await clock.advance(30);
  start('b');
  start('c')();
  letGo();
  await clock.advance(60);
  start('d');
  await clock.advance(100);
  assert.deepEqual(late, ['b at 130', 'd at 190']);
  start('e');
  await clock.advance(99);
  assert.equal(late.length, 2);
  await clock.advance(1);
  assert.deepEqual(late.slice(2), ['e at 290']);
});
