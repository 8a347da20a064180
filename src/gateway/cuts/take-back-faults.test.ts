import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { never } from '../testing/puppet-model.ts';
import { callerOf, shapesOf, turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';
import { fail, say, seen, sent, shown } from './take-back-fixture.ts';

test('a process that dies while it takes back has done it completely or not at all', async () => {
  for (const call of ['rewind', 'retry', 'edit', 'remove'] as const) {
    await using gateway = await wholeGateway();
    const wsId = await gateway.main();
    await say(gateway, 'a');
    await fail(gateway, 'b');
    const before = await seen(gateway);
    const shapes = shapesOf(await gateway.events(wsId));
    let isDead = false;
    gateway.disk.diesAt = ({ events }) => {
      isDead ||= events?.events.some(({ type }) => type === 'rewound' || type === 'message_removed') ?? false;
      return isDead;
    };
    const params = { rewind: { turns: 1 }, retry: {}, edit: { seq: 3, message: 'x' }, remove: { seq: 3 } }[call];
    void gateway.gateway.dispatch(`workstream.${call}`, { wsId, ...params }, callerOf()); // never answered
    await turnsUntil(() => isDead, 'the end of the process');
    await gateway.crash();
    assert.deepEqual([await seen(gateway), shapesOf(await gateway.events(wsId))], [before, shapes], call);
    await say(gateway, 'c');
    assert.deepEqual(sent(gateway), ['a', 'A', 'c'], call);
  }
});

test('a retry that the disk refuses changes nothing, and the next message has the whole context', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  gateway.disk.fails = ({ events }) => events?.events[0]?.type === 'rewound';
  assert.equal((await gateway.refusal('workstream.retry', { wsId })).code, 'UNAVAILABLE');
  gateway.disk.fails = undefined;
  await say(gateway, 'c');
  assert.deepEqual(sent(gateway), ['a', 'A', 'b', 'B', 'c']);
});

test('a run that a crash interrupts after a retry continues without the answer that it replaces', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  gateway.puppet.turn('hal', never());
  await gateway.call('workstream.retry', { wsId });
  await gateway.reaches(wsId, 'content', 3);
  gateway.puppet.turn('whole');
  await gateway.crash();
  await gateway.isIdle(wsId);
  assert.deepEqual(sent(gateway), ['a', 'A', 'b']);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '5 b', '6 whole']);
});

test('a client with an old cursor gets the events and can follow them', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  const { cursor } = await gateway.call('workstream.get', { wsId });
  await say(gateway, 'b');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await gateway.restart();
  const told: string[] = [];
  const sink = {
    ready: () => true,
    write: (entries: readonly { type: string }[]) => void told.push(...entries.map(({ type }) => type)),
  };
  gateway.gateway.streams.follow(wsId, Number(cursor.split(':')[1]), { viewer: DAEMON, sink, onEnd: () => undefined });
  await turnsUntil(() => told.includes('rewound'), 'the rewind');
  assert.deepEqual([told[0], told.at(-1)], ['user_turn', 'rewound']);
});

test('a damaged cut ends runs with an error, is shown in health, and hides nothing else', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await gateway.store.commit({ statements: [{ sql: 'update cuts set after_seq = 1', parameters: [], expect: 1 }] });
  await gateway.restart();
  assert.deepEqual(await shown(gateway), ['1 a', '2 A', '3 b', '4 B']);
  assert.equal(gateway.store.health().damaged, true);
  assert.equal((await gateway.refusal('workstream.rewind', { wsId, turns: 1 })).code, 'INTERNAL');
  const run = await gateway.accept('c');
  assert.equal((await run?.ended)?.status, 'error');
});
