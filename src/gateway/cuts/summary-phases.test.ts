import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sink } from '../events/log-reader.ts';
import { DAEMON } from '../sharing/perception.ts';
import { never } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const LONG = 'x'.repeat(40_000);

/** The phases of summaries that streams get besides the log. */
function watchPhases({ gateway, store }: WholeGateway, wsId: string): Record<string, unknown>[] {
  const told: Record<string, unknown>[] = [];
  const sink: Sink = {
    ready: () => true,
    write: () => undefined,
    transient(json) {
      const { type, ...phase } = JSON.parse(json);
      if (type === 'compaction') told.push(phase);
    },
  };
  gateway.streams.follow(wsId, store.bounds(wsId).last, { viewer: DAEMON, sink, onEnd: () => undefined });
  return told;
}

test('A summary must be announced as the `start` of a `compaction`, and reported as its `end` if it is cancelled or fails', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const command = () => gateway.call('workstream.command', { wsId, command: '/compact' });
  for (const message of ['a', 'b']) await (await gateway.accept(`${message}${LONG}`))?.ended;
  const told = watchPhases(gateway, wsId);
  const start = { target: 'workstream', phase: 'start', trigger: 'manual' };
  gateway.puppet.turn(never());
  await command();
  await gateway.reaches(wsId, 'info', 1);
  assert.deepEqual([...told], [start]);
  await gateway.call('workstream.cancel', { wsId });
  const message = told[1]?.message;
  assert.equal(typeof message, 'string');
  assert.deepEqual(told.slice(1), [{ ...start, phase: 'end', ok: false, reason: 'cancelled', message }]);
  gateway.puppet.turn('S');
  await command();
  await gateway.reaches(wsId, 'compacted');
  await gateway.isIdle(wsId);
  assert.deepEqual(told.slice(2), [start], 'the end of a stored summary is in the log');
  await command();
  await gateway.reaches(wsId, 'info', 4); // there is nothing to summarize
  assert.equal(told.length, 3);
});
