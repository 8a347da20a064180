import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { HOLD_MS, openStream, settle, streamingGateway } from './stream-fixture.ts';

const never = () => new Promise(() => undefined);

test('a run that ended unread is replayed after a wait: the history before it, then its events with their ids', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  await stream.unread('before');
  await gateway.clock.advance(3_000);
  const runId = await stream.unread('hello');
  const reader = await stream.open();
  await settle();
  assert.deepEqual([reader.hasBegun(), reader.told], [false, []]);
  await gateway.clock.advance(HOLD_MS - 1);
  assert.equal(reader.hasBegun(), false);
  await gateway.clock.advance(1);
  await reader.begun;
  assert.deepEqual(reader.history(), ['before', 'ok', 'hello']);
  const events = await gateway.events(wsId);
  const turn = events.findLastIndex(({ type }) => type === 'user_turn');
  assert.deepEqual(
    reader.told.map(({ type, offset }) => [type, offset]),
    [['history', turn + 1], ...events.slice(turn + 1).map(({ type }, index) => [type, turn + 2 + index])],
  );
  assert.deepEqual([reader.types().at(-1), reader.ends()], ['ws_state', [runId]]);
});

test('a newer run during the wait ends it: the whole history is sent, then only the newer run', async () => {
  for (const isFast of [true, false]) {
    await using stream = await streamingGateway();
    const { gateway } = stream;
    await stream.unread('nobody listens');
    if (!isFast) gateway.puppet.turn('so far', never());
    const reader = await stream.open();
    await settle();
    assert.equal(reader.hasBegun(), false);
    const { runId } = await stream.send('now somebody does');
    await reader.begun;
    assert.deepEqual(reader.history(), ['nobody listens', 'ok', 'now somebody does']);
    await turnsUntil(() => reader.types().includes(isFast ? 'stream_end' : 'content'), 'the newer run');
    await settle();
    assert.deepEqual(reader.ends(), isFast ? [runId] : []);
  }
});

test('a run is history if it ended three seconds ago, if a stream sent its end, or if `send` did not start it', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  await stream.unread();
  await gateway.clock.advance(3_000);
  const late = await stream.open();
  await late.begun;
  assert.deepEqual(late.types(), ['history']);
  const runId = await stream.unread();
  assert.deepEqual(late.ends(), [runId]);
  await late.leave();
  const second = await stream.open();
  await second.begun;
  assert.deepEqual(second.types(), ['history']);
  await second.leave();
  await gateway.call('agent', { message: 'for an agent', sessionKey: 'main', idempotencyKey: 'k1' });
  await gateway.isIdle(wsId);
  const third = await stream.open();
  await third.begun;
  assert.deepEqual(third.types(), ['history']);
});

test('two streams that open before the replay both get it, a later one does not, and one that left early does not count', async () => {
  await using stream = await streamingGateway();
  const runId = await stream.unread();
  const gone = await stream.open();
  await settle();
  await gone.leave();
  const both = [await stream.open(), await stream.open()];
  await settle();
  await stream.gateway.clock.advance(HOLD_MS);
  for (const { begun } of both) await begun;
  assert.deepEqual(
    both.map((reader) => reader.ends()),
    [[runId], [runId]],
  );
  const late = await stream.open();
  await late.begun;
  assert.deepEqual(late.types(), ['history']);
});

test('with snapshot=1 an ended run is replayed as it was, with its questions as tool_info', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  gateway.puppet.turn('I will ', calling('touch'));
  await stream.send('touch it');
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.cancel', { wsId });
  const reader = await stream.open({ snapshot: true });
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await reader.begun;
  const types = reader.types();
  assert.deepEqual(
    ['content', 'tool_info', 'cancelled', 'approve_request', 'in_progress_snapshot'].map((type) =>
      types.includes(type),
    ),
    [true, true, true, false, false],
  );
  assert.equal(types.at(-1), 'ws_state');
});

test('with snapshot=1 a decided question about instructions is not replayed, because no call follows it', async () => {
  const file = { path: '/shop/AGENTS.md', text: 'Be brief.', digest: '1' };
  const look = async () => ({ date: '2026-11-23', zone: 'UTC', instructions: { files: [], untrusted: [file] } });
  await using stream = await streamingGateway({ surroundings: { look } });
  const { gateway, wsId } = stream;
  await stream.send();
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: false });
  await gateway.reaches(wsId, 'stream_end');
  await gateway.isIdle(wsId);
  const reader = await stream.open({ snapshot: true });
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await reader.begun;
  const types = reader.types();
  assert.deepEqual(
    ['content', 'tool_info', 'approve_request'].map((type) => types.includes(type)),
    [true, false, false],
  );
});

test('a workstream unloaded and reopened between run and stream still replays the run', async () => {
  await using stream = await streamingGateway();
  const { gateway } = stream;
  const { wsId } = await gateway.call('workstream.create', {});
  const { runId } = await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.isIdle(wsId);
  await gateway.call('workstream.close', { wsId });
  await gateway.call('workstream.create', { resumeWs: wsId });
  const reader = await openStream(gateway, wsId, {});
  await settle();
  await gateway.call('workstream.close', { wsId });
  const closed = assert.rejects(reader.begun, { message: 'Unknown workstream' });
  await gateway.clock.advance(HOLD_MS);
  await closed;
  await gateway.call('workstream.create', { resumeWs: wsId });
  const again = await openStream(gateway, wsId, {});
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await again.begun;
  assert.deepEqual(again.ends(), [runId]);
});

test('after a restart a run that ended shortly before counts as unread, older ones and those of other sources do not', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  await stream.unread('first');
  const runId = await stream.unread('second');
  await gateway.restart();
  const reader = await stream.open();
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await reader.begun;
  assert.deepEqual([reader.history(), reader.ends()], [['first', 'ok', 'second'], [runId]]);
  await reader.leave();
  await gateway.clock.advance(30_001);
  await gateway.restart();
  const late = await stream.open();
  await late.begun;
  assert.deepEqual(late.types(), ['history']);
  await late.leave();
  await gateway.call('agent', { message: 'for an agent', sessionKey: 'main', idempotencyKey: 'k1' });
  await gateway.isIdle(wsId);
  await gateway.restart();
  const agents = await stream.open();
  await agents.begun;
  assert.deepEqual(agents.types(), ['history']);
});

test('after a restart, a run that was steered is replayed from its first message', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.puppet.turn(promise, calling('look'));
  const { runId } = await stream.send('first');
  await gateway.call('workstream.send', { wsId, message: 'steering', steer: true });
  resolve();
  await gateway.isIdle(wsId);
  await gateway.restart();
  const reader = await stream.open();
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await reader.begun;
  assert.deepEqual([reader.history(), reader.ends()], [['first'], [runId]]);
  assert.equal(reader.types().filter((type) => type === 'user_turn').length, 1);
});

test('a run interrupted by a kill is replayed from the restart on', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  gateway.puppet.turn('half an', never());
  const { runId } = await stream.send();
  await gateway.reaches(wsId, 'content');
  await gateway.restart();
  await gateway.isIdle(wsId);
  const reader = await stream.open();
  await settle();
  await gateway.clock.advance(HOLD_MS);
  await reader.begun;
  assert.deepEqual([reader.ends(), reader.types().includes('content')], [[runId], true]);
});

test('a stream that opens at any time around the end of a run sends its end once', async () => {
  await using stream = await streamingGateway();
  const { gateway, wsId } = stream;
  for (let turns = 0; turns < 12; turns += 1) {
    const { runId } = await stream.send('go');
    for (let n = 0; n < turns; n += 1) await new Promise(setImmediate);
    const reader = await stream.open();
    await gateway.isIdle(wsId);
    await settle();
    await gateway.clock.advance(HOLD_MS);
    await reader.begun;
    assert.deepEqual(reader.ends(), [runId], `after ${turns} turns of the loop`);
    await reader.leave();
  }
});
