import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { callerOf, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { refused, say, seen, sent, shown } from './take-back-fixture.ts';

test('a fork copies the conversation up to a message, with its folder and model, but without permissions', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await gateway.call('workstream.update', { wsId, autoApprove: true, model: 'other' });
  await say(gateway, 'a', 'b');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await say(gateway, 'c', 'd');
  const { workstream, workdir } = (await gateway.call('workstream.get', { wsId })).snapshot;
  const fork = await gateway.call('workstream.fork', { wsId, seq: 6, name: 'branch' });
  assert.deepEqual([fork.name, fork.messageCount], ['branch', 4]);
  for (const afterRestart of [false, true]) {
    if (afterRestart) await gateway.restart();
    const made = (await gateway.call('workstream.get', { wsId: fork.wsId })).snapshot;
    assert.deepEqual(await shown(gateway, fork.wsId), ['1 a', '2 A', '3 c', '4 C']);
    assert.deepEqual(
      [made.workdir, made.workstream.modelAlias, made.workstream.title, made.workstream.skipPermissions],
      [workdir, 'other', workstream.title, false],
    );
  }
  const to = gateway.parts.workstreams.find(fork.wsId, DAEMON);
  assert.ok(to);
  await (await gateway.accept('e', { to }))?.ended;
  assert.deepEqual(sent(gateway), ['a', 'A', 'c', 'C', 'e']);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '5 c', '6 C', '7 d', '8 D'], 'the original is unchanged');
});

test('feedback that was given with an approval belongs to the turn that asked, also in a fork', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  gateway.puppet.turn(calling('touch', { text: 'x' }));
  const run = await gateway.accept('make a file');
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: true, feedback: 'use tabs' });
  await run?.ended;
  const fork = await gateway.call('workstream.fork', { wsId });
  for (const [name, id] of Object.entries({ original: wsId, fork: fork.wsId })) {
    await gateway.call('workstream.rewind', { wsId: id, turns: 1 });
    assert.deepEqual(await shown(gateway, id), ['1 a', '2 A'], name);
  }
});

/** As versions before the mark stored it. */
async function unmark({ store }: WholeGateway): Promise<void> {
  const rows = await store.db.selectFrom('messages').select(['ws_id', 'seq', 'body_json']).execute();
  const sql = `update messages set body_json = ?1, checksum = message_checksum(ws_id, seq, run_id, ?1, created_ms)
    where ws_id = ?2 and seq = ?3`;
  const statements = rows.flatMap(({ ws_id, seq, body_json }) => {
    const { feedback, ...message } = JSON.parse(body_json);
    return feedback ? [{ sql, parameters: [JSON.stringify(message), ws_id, seq], expect: 1 }] : [];
  });
  await store.commit({ statements });
}

test('feedback of an earlier version, which has no mark, belongs to the turn that asked, also in forks of forks', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  gateway.puppet.turn(calling('touch', { text: 'x' }));
  const run = await gateway.accept('make a file');
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: true, feedback: 'use tabs' });
  await run?.ended;
  await say(gateway, 'use tabs');
  await unmark(gateway);
  const { data } = await gateway.parts.workstreams.get(wsId, DAEMON);
  const context = await gateway.parts.messages.context(data);
  assert.deepEqual(
    context.flatMap((message) => (message.role === 'user' && message.feedback ? [message.content] : [])),
    ['use tabs'],
  );
  const fork = await gateway.call('workstream.fork', { wsId });
  const forkOfFork = await gateway.call('workstream.fork', { wsId: fork.wsId });
  for (const [name, id] of Object.entries({ original: wsId, fork: fork.wsId, forkOfFork: forkOfFork.wsId })) {
    await gateway.call('workstream.rewind', { wsId: id, turns: 1 });
    assert.equal((await shown(gateway, id)).length, 7, `${name}: a message with the same words is no feedback`);
    await gateway.call('workstream.rewind', { wsId: id, turns: 1 });
    assert.deepEqual(await shown(gateway, id), ['1 a', '2 A'], name);
  }
});

test('a fork inside a turn, of nothing, or with an unreadable name is refused', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  assert.deepEqual(
    await gateway.refusal('workstream.fork', { wsId }),
    refused('This conversation has no messages to copy.'),
  );
  await say(gateway, 'a');
  const inside = 'Message 1 is inside a turn. Use 0 for the conversation before it, or 2 for its end.';
  assert.deepEqual(await gateway.refusal('workstream.fork', { wsId, seq: 1 }), refused(inside));
  assert.equal((await gateway.refusal('workstream.fork', { wsId, name: 'a\u202eb' })).code, 'INVALID_REQUEST');
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
});

test('whoever is refused while a conversation is copied learns that, in words and as data', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  const fork = gateway.call('workstream.fork', { wsId });
  const rewind = async () => gateway.gateway.dispatch('workstream.rewind', { wsId, turns: 1 }, callerOf());
  await assert.rejects(rewind, {
    code: 'BUSY',
    message: 'The conversation is being copied. Try again in a moment.',
    details: { heldBy: 'fork' },
  });
  await fork;
});
