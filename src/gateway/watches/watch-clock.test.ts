import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchGateway } from './watch-fixture.ts';

const MINUTE = 60_000;

test('after the clock was set back, a watch is polled within a minute, and goes on at its interval', async () => {
  await using it = await watchGateway();
  it.begin();
  const { watch_id: id } = await it.watch();
  await it.polled(id, 1);
  it.clock.jump(10 * 24 * 60 * MINUTE);
  await it.clock.advance(MINUTE);
  const ahead = await it.polled(id, 2);
  it.clock.jump(-10 * 24 * 60 * MINUTE);
  await it.clock.advance(MINUTE);
  const back = await it.polled(id, 3);
  assert.equal(Date.parse(back.next_poll) - Date.parse(back.last_poll), MINUTE);
  assert.equal(back.missed_polls, ahead.missed_polls);
  await it.clock.advance(MINUTE - 1);
  assert.equal(it.started.length, 3);
  await it.clock.advance(1);
  await it.polled(id, 4);
  it.end();
});
