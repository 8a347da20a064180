import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { eventsOf, fail, refused, say, seen, sent, shown } from './take-back-fixture.ts';

test('a rewind takes back turns for people and the model, also after a crash', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b', 'c');
  const events = await eventsOf(gateway, async () => {
    const answer = await gateway.call('workstream.rewind', { wsId, turns: 2 });
    assert.deepEqual(answer, { status: 'ok', afterSeq: 2, taken: 4 });
  });
  assert.deepEqual(events, [{ type: 'rewound', after_seq: 2, reason: 'rewind' }]);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A']);
  await gateway.crash();
  assert.deepEqual(await seen(gateway), ['1 a', '2 A']);
  await say(gateway, 'd');
  assert.deepEqual(sent(gateway), ['a', 'A', 'd']);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '7 d', '8 D']);
  assert.equal((await gateway.call('workstream.list', {})).workstreams[0]?.messageCount, 8, 'all stay stored');
});

test('a rewind to a message keeps it; one inside a turn is refused with the ends around it', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  gateway.puppet.turn(calling('look'));
  gateway.puppet.turn('looked');
  await say(gateway, 'b');
  const at = (toSeq: number) => ({ wsId, toSeq });
  for (const inside of [3, 4, 5]) {
    assert.deepEqual(
      await gateway.refusal('workstream.rewind', at(inside)),
      refused(`Message ${inside} is inside a turn. Use 2 for the conversation before it, or 6 for its end.`),
    );
  }
  assert.deepEqual(
    await gateway.refusal('workstream.rewind', at(7)),
    refused('There is no message 7. The last one is 6.'),
  );
  assert.deepEqual(await gateway.call('workstream.rewind', at(6)), { status: 'ok', afterSeq: 6, taken: 0 });
  assert.deepEqual(await gateway.call('workstream.rewind', at(2)), { status: 'ok', afterSeq: 2, taken: 4 });
  assert.deepEqual(await gateway.call('workstream.rewind', at(2)), { status: 'ok', afterSeq: 2, taken: 0 });
  assert.deepEqual(await seen(gateway), ['1 a', '2 A']);
});

test('a rewind needs either turns or toSeq, and at least that many turns', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  for (const target of [{}, { turns: 1, toSeq: 1 }, { turns: 0 }, { toSeq: -1 }]) {
    assert.equal((await gateway.refusal('workstream.rewind', { wsId, ...target })).code, 'INVALID_REQUEST');
  }
  const rewind = (turns: number) => gateway.refusal('workstream.rewind', { wsId, turns });
  assert.deepEqual(await rewind(1), refused('This conversation has no message of a person yet.'));
  await say(gateway, 'a');
  assert.deepEqual(await rewind(2), refused('This conversation has only 1 turn.'));
  await say(gateway, 'b');
  assert.deepEqual(await rewind(3), refused('This conversation has only 2 turns.'));
});

test('a rewind to the beginning removes the title, and the next message gives another', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const title = async () => (await gateway.call('workstream.get', { wsId })).snapshot.workstream.title;
  await say(gateway, 'first words', 'b');
  await gateway.call('workstream.rewind', { wsId, toSeq: 0 });
  assert.deepEqual([await title(), await seen(gateway)], [null, []]);
  await gateway.restart();
  assert.equal(await title(), null);
  await say(gateway, 'other words');
  assert.deepEqual([await title(), sent(gateway)], ['other words', ['other words']]);
});

test('a rewind does not reach behind /clear, and /clear does not bring anything back', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  await gateway.call('workstream.command', { wsId, command: '/clear' });
  await say(gateway, 'b', 'c');
  assert.deepEqual(await gateway.call('workstream.rewind', { wsId, toSeq: 0 }), {
    status: 'ok',
    afterSeq: 2,
    taken: 4,
  });
  await say(gateway, 'd');
  assert.deepEqual([sent(gateway), await seen(gateway)], [['d'], ['7 d', '8 D']]);
  await gateway.call('workstream.command', { wsId, command: '/clear' });
  assert.deepEqual(await seen(gateway), []);
});

test('notes after messages that were taken back are gone; later ones are shown', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const command = (line: string) => gateway.call('workstream.command', { wsId, command: line });
  await say(gateway, 'a');
  await command('/name one');
  await say(gateway, 'b');
  await command('/name two');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await command('/name three');
  const notes = async () =>
    (await gateway.call('workstream.history', { wsId })).notes?.map((note) => note.kind === 'info' && note.message);
  const expected = ['This workstream is now called one.', 'This workstream is now called three.'];
  assert.deepEqual(await notes(), expected);
  const fork = await gateway.call('workstream.fork', { wsId });
  const copied = await gateway.call('workstream.history', { wsId: fork.wsId });
  assert.deepEqual(
    copied.notes?.map((note) => note.kind === 'info' && note.message),
    expected,
  );
});

test('a repeated key takes nothing back twice, also after a restart', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b', 'c');
  await fail(gateway, 'd');
  const keyed = { wsId, idempotencyKey: 'k' };
  const twice = async (call: () => Promise<unknown>) => {
    const first = await call();
    await gateway.isIdle(wsId);
    await gateway.restart();
    assert.deepEqual(await call(), first);
  };
  await twice(() => gateway.call('workstream.remove', { ...keyed, seq: 7 }));
  await twice(() => gateway.call('workstream.rewind', { ...keyed, turns: 1 }));
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '3 b', '4 B']);
  await twice(() => gateway.call('workstream.fork', keyed));
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 2);
  await twice(() => gateway.call('workstream.retry', keyed));
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '8 b', '9 ok']);
});

test('/new and /resume copy only what counts', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const command = (line: string) => gateway.call('workstream.command', { wsId, command: line });
  await say(gateway, 'a', 'b');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await say(gateway, 'c');
  await command('/new');
  const { workstreams } = await gateway.call('workstream.saved', {});
  const [saved] = workstreams;
  assert.deepEqual([workstreams.length, saved?.messageCount], [1, 4]);
  await command(`/resume ${saved?.wsId}`);
  assert.deepEqual(await seen(gateway), ['7 a', '8 A', '9 c', '10 C']);
  const history = (await gateway.events(wsId)).find(({ type }) => type === 'history');
  assert.deepEqual(
    history?.type === 'history' && history.messages.map(({ seq, content }) => `${seq} ${content}`),
    await shown(gateway),
  );
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await say(gateway, 'd');
  assert.deepEqual(sent(gateway), ['a', 'A', 'd']);
});

test('sessions.compact keeps what counts', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b', 'c');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  await say(gateway, 'd');
  const compacted = await gateway.call('sessions.compact', { key: 'main', maxLines: 4 });
  assert.deepEqual([compacted.compacted, compacted.kept], [true, 4]);
  assert.deepEqual(await seen(gateway), ['3 b', '4 B', '7 d', '8 D']);
  const again = await gateway.call('sessions.compact', { key: 'main', maxLines: 4 });
  assert.deepEqual(again.compacted, false);
});

test('the slash commands do the same, and say what is wrong', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const run = async (command: string) => {
    const events = await eventsOf(gateway, () => gateway.call('workstream.command', { wsId, command }));
    return events.flatMap((event) => (event.type === 'info' || event.type === 'error' ? [event.message] : []));
  };
  assert.deepEqual(await run('/retry'), ['Command error: This conversation has no message of a person yet.']);
  assert.deepEqual(await run('/remove'), ['Command error: No message of this conversation has failed.']);
  await say(gateway, 'a', 'b', 'c');
  assert.deepEqual(await run('/rewind x'), ['Command error: Usage: /rewind [TURNS] [files]']);
  assert.deepEqual(await run('/rewind'), ['2 messages were taken back. Files were not changed.']);
  assert.deepEqual(await run('/edit'), ['Command error: Usage: /edit [#N] MESSAGE']);
  assert.deepEqual(await run('/edit bb'), []);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '7 bb', '8 ok']);
  assert.deepEqual(await run('/retry'), []);
  await fail(gateway, 'd');
  assert.deepEqual(await run('/remove'), []);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '9 bb', '10 ok']);
  const [told = ''] = await run('/fork branch');
  assert.match(told, /^The conversation was copied to branch \([0-9a-f]{32}\)\.$/);
});
