import assert from 'node:assert/strict';
import { test } from 'node:test';
import { never } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { BUSY, eventsOf, fail, refused, say, seen, sent } from './take-back-fixture.ts';

test('a retry answers the last message again, in place of its answer', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  gateway.puppet.turn('better');
  let runId = '';
  const events = await eventsOf(gateway, async () => {
    ({ runId } = await gateway.call('workstream.retry', { wsId }));
  });
  assert.deepEqual(events.slice(0, 2), [
    { type: 'rewound', after_seq: 2, reason: 'retry' },
    { type: 'user_turn', message: 'b', run_id: runId, source: 'person', seq: 5, created_ms: 1_000_000 },
  ]);
  assert.deepEqual(sent(gateway), ['a', 'A', 'b']);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '5 b', '6 better']);
});

test('a retry sends a failed message again, and its failure is gone', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await fail(gateway, 'a');
  gateway.puppet.turn('A');
  await gateway.call('workstream.retry', { wsId });
  await gateway.isIdle(wsId);
  const { messages, notes } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual([await seen(gateway), messages[0]?.failed, notes], [['2 a', '3 A'], undefined, undefined]);
  assert.deepEqual((await gateway.call('workstream.get', { wsId })).snapshot.workstream.title, 'a');
});

test('an edit replaces a message and everything after it', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b', 'c');
  gateway.puppet.turn('BB');
  const events = await eventsOf(gateway, () =>
    gateway.call('workstream.edit', { wsId, seq: 3, message: ' bb ', idempotencyKey: 'k' }),
  );
  assert.deepEqual(events.slice(0, 2), [
    { type: 'rewound', after_seq: 2, reason: 'edit' },
    {
      ...{ type: 'user_turn', message: 'bb', run_id: 'k', source: 'person' },
      ...{ client_send_ids: ['k'], seq: 7, created_ms: 1_000_000 },
    },
  ]);
  assert.deepEqual(sent(gateway), ['a', 'A', 'bb']);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '7 bb', '8 BB']);
});

test('an edit needs a text, and the number of a message of a person that counts', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  const edit = (seq: number, message = 'x') => gateway.refusal('workstream.edit', { wsId, seq, message });
  assert.deepEqual(await edit(1, ' \n'), refused('Empty message'));
  assert.deepEqual(await edit(2), refused('Message 2 is not a message of a person.'));
  assert.deepEqual(await edit(3), { code: 'NOT_FOUND', message: 'This conversation has no message 3.' });
  assert.deepEqual(await seen(gateway), ['1 a', '2 A']);
});

test('only a failed message can be removed, and its error goes with it', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  await fail(gateway, 'b');
  await gateway.call('workstream.command', { wsId, command: '/name x' });
  await say(gateway, 'c');
  const remove = (seq: number) => gateway.refusal('workstream.remove', { wsId, seq });
  const words = 'Message 1 has not failed. Rewind to take back a message with its answer.';
  assert.deepEqual(await remove(1), refused(words));
  const events = await eventsOf(gateway, () => gateway.call('workstream.remove', { wsId, seq: 3 }));
  assert.deepEqual(events, [{ type: 'message_removed', seq: 3 }]);
  assert.deepEqual(await remove(3), { code: 'NOT_FOUND', message: 'This conversation has no message 3.' });
  const { notes } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual(
    notes?.map(({ kind, after_seq }) => `${after_seq} ${kind}`),
    ['3 info'],
  );
  await gateway.restart();
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '4 c', '5 C']);
});

test('while an answer is in progress, everything is refused, and the same key works afterwards', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  gateway.puppet.turn(never());
  await gateway.accept('b');
  const calls = [
    ['workstream.rewind', { wsId, turns: 1, idempotencyKey: 'k' }],
    ['workstream.retry', { wsId, idempotencyKey: 'k' }],
    ['workstream.edit', { wsId, seq: 1, message: 'x', idempotencyKey: 'k' }],
    ['workstream.remove', { wsId, seq: 1, idempotencyKey: 'k' }],
    ['workstream.fork', { wsId, idempotencyKey: 'k' }],
  ] as const;
  for (const [method, params] of calls) assert.deepEqual(await gateway.refusal(method, params), BUSY, method);
  const told = await eventsOf(gateway, async () => {
    await gateway.call('workstream.command', { wsId, command: '/retry' });
    await gateway.call('workstream.cancel', { wsId });
  });
  const words = '/retry is not possible while an answer is in progress. Wait for its end, or cancel it.';
  assert.deepEqual(
    told.find(({ type }) => type === 'info'),
    { type: 'info', message: words },
  );
  gateway.puppet.turn('AA');
  await gateway.call('workstream.edit', { wsId, seq: 1, message: 'aa', idempotencyKey: 'k' });
  await gateway.isIdle(wsId);
  assert.deepEqual(
    (await seen(gateway)).map((line) => line.split(' ')[1]),
    ['aa', 'AA'],
  );
});

test('a caller without the approve scope gains no rights by sending a message of an approver again', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  const trusted = async () => {
    const rows = await gateway.store.readMessages(wsId, { after: 0, upTo: 100, limit: 100 });
    const asked = rows.map(({ json = '' }) => JSON.parse(json)).filter(({ role }) => role === 'user');
    return asked.at(-1)?.trusted === true;
  };
  assert.equal(await trusted(), true);
  await gateway.call('workstream.retry', { wsId }, { scope: 'write' });
  await gateway.isIdle(wsId);
  assert.equal(await trusted(), false);
  await gateway.call('workstream.retry', { wsId }, { scope: 'approve' });
  await gateway.isIdle(wsId);
  assert.equal(await trusted(), false, 'and an approver does not make foreign text trusted');
});

test('an edit during a retry is refused as busy, although the retry has taken its message back', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  gateway.puppet.turn(never());
  await gateway.call('workstream.retry', { wsId });
  assert.deepEqual(await gateway.refusal('workstream.edit', { wsId, seq: 1, message: 'x' }), BUSY);
  await gateway.call('workstream.cancel', { wsId });
  await gateway.isIdle(wsId);
});
