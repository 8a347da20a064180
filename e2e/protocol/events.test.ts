import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { EventFrame } from '../../protocol/frames.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

type Payload = Record<string, unknown> & { wsId?: string; runId?: string; cursor?: string; event?: { type: string } };

/** The payloads of one kind of event frame, in the order of arrival. */
const payloadsOf = ({ frames }: TestClient, name: string): Payload[] =>
  frames
    .filter((frame): frame is EventFrame => frame.type === 'event' && frame.event === name)
    .map(({ payload }) => payload as Payload);

/** A workstream whose log contains one complete turn. */
async function openSpoken(text: string) {
  const talk = await openConversation(daemon);
  model.when(text, say('hello ', 'there'));
  await (await talk.ask(text)).answer;
  const { events } = await talk.agree();
  const { cursor } = await talk.client.call('workstream.get', { wsId: talk.wsId });
  const [epoch = ''] = cursor.split(':');
  return { talk, epoch, last: events.length };
}

/** Waits until a socket has received all frames so far. */
const settle = (socket: TestClient) => socket.call('health');

test('`events.subscribe` must be answered before the first event of the subscription', async () => {
  const { talk, epoch, last } = await openSpoken('before the first');
  await using _ = talk;
  const socket = await openSocket(daemon);
  for (let round = 1; round <= 3; round += 1) {
    const { id } = await socket.request('events.subscribe', { wsId: talk.wsId, after: `${epoch}:0` });
    await settle(socket);
    const order = socket.frames.flatMap((frame) => {
      if (frame.type === 'res') return frame.id === id ? ['answer'] : [];
      return frame.type === 'event' && frame.event === 'workstream' ? ['event'] : [];
    });
    const events = Array.from({ length: last }, () => 'event');
    assert.deepEqual(order.slice(-last - 1), ['answer', ...events]);
  }
  socket.socket.close();
});

test('A subscription without a cursor must begin with a snapshot at its cursor', async () => {
  const { talk, epoch, last } = await openSpoken('without a cursor');
  await using _ = talk;
  const { recovered, cursor, snapshot } = await talk.client.call('events.subscribe', { wsId: talk.wsId });
  assert.deepEqual(
    { recovered, cursor, said: snapshot?.messages.map(({ role, content }) => `${role}: ${content}`) },
    { recovered: false, cursor: `${epoch}:${last}`, said: ['user: without a cursor', 'assistant: hello there'] },
  );
});

test('A subscription with a cursor inside the log must continue exactly after it, each later event once and in order', async () => {
  const { talk, epoch, last } = await openSpoken('inside the log');
  await using _ = talk;
  for (let after = 0; after <= last; after += 1) {
    const socket = await openSocket(daemon);
    const answer = await socket.call('events.subscribe', { wsId: talk.wsId, after: `${epoch}:${after}` });
    await settle(socket);
    assert.deepEqual(answer, { cursor: `${epoch}:${after}`, recovered: true });
    const rest = Array.from({ length: last - after }, (__, index) => `${epoch}:${after + index + 1}`);
    assert.deepEqual(
      payloadsOf(socket, 'workstream').map(({ cursor }) => cursor),
      rest,
    );
    socket.socket.close();
  }
});

/** The answer to a subscription whose cursor cannot be resumed. */
async function hearsOf(text: string, cursorOf: (epoch: string) => string) {
  const { talk, epoch, last } = await openSpoken(text);
  await using _ = talk;
  const { snapshot, ...answer } = await talk.client.call('events.subscribe', {
    wsId: talk.wsId,
    after: cursorOf(epoch),
  });
  assert.equal(snapshot?.messages.length, 2);
  assert.equal(answer.cursor, `${epoch}:${last}`);
  return { recovered: answer.recovered, reason: answer.reason };
}

test('A cursor of another epoch must be answered `recovered: false` with the reason `epoch` and a snapshot', async () => {
  assert.deepEqual(await hearsOf('another epoch', () => 'another:1'), { recovered: false, reason: 'epoch' });
});

test('A cursor ahead of the log must be answered `recovered: false` with the reason `ahead` and a snapshot', async () => {
  assert.deepEqual(await hearsOf('ahead', (epoch) => `${epoch}:1000`), { recovered: false, reason: 'ahead' });
});

test('A malformed cursor must be ignored', async () => {
  for (const cursor of ['', ':', 'x', '1', 'e:-1', 'e:1.5', 'e:1 ', `${'e'.repeat(33)}:1`, 'é:1'])
    assert.deepEqual(await hearsOf(`malformed <${cursor}>`, () => cursor), { recovered: false, reason: undefined });
});

test('A cursor whose events are no longer kept must be answered `recovered: false` with the reason `expired` and a snapshot', async () => {
  const { talk, epoch, last } = await openSpoken('long ago');
  await using _ = talk;
  await daemon.stop();
  // What the daily removal of expired rows does.
  const db = new DatabaseSync(path.join(daemon.home, 'headgate.db'));
  db.prepare('delete from events where ws_id = ? and "offset" <= 4').run(talk.wsId);
  db.prepare('update log_heads set "first" = 5 where ws_id = ?').run(talk.wsId);
  db.close();
  await daemon.restart();
  talk.client.retryNow();
  const subscribe = (offset: number) =>
    talk.client.call('events.subscribe', { wsId: talk.wsId, after: `${epoch}:${offset}` });
  const { snapshot, ...answer } = await subscribe(3);
  assert.deepEqual(answer, { cursor: `${epoch}:${last}`, recovered: false, reason: 'expired' });
  assert.equal(snapshot?.messages.length, 2);
  assert.deepEqual(await subscribe(4), { cursor: `${epoch}:4`, recovered: true });
});

test('A subscription to an unknown workstream must be answered NOT_FOUND', async () => {
  const client = await daemon.client();
  for (const wsId of ['0'.repeat(32), 'main', ''])
    await assert.rejects(client.call('events.subscribe', { wsId }), { code: 'NOT_FOUND' });
});

test('After the answer to `events.unsubscribe` no further event of that workstream must arrive', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('not for you', [say('before'), hold, say('after')]);
  const socket = await openSocket(daemon);
  await socket.call('events.subscribe', { wsId: talk.wsId });
  const { answer } = await talk.ask('not for you');
  await talk.until('content');
  assert.deepEqual(await socket.call('events.unsubscribe', { wsId: talk.wsId }), { ok: true, removed: true });
  const heard = payloadsOf(socket, 'workstream').length;
  hold.release();
  await answer;
  await settle(socket);
  assert.equal(payloadsOf(socket, 'workstream').length, heard);
  assert.deepEqual(await socket.call('events.unsubscribe', { wsId: talk.wsId }), { ok: true, removed: false });
  socket.socket.close();
});

test('The events of one run must be numbered from 1 without gaps', async () => {
  await using talk = await openConversation(daemon);
  model.when('numbered', [say(...'abcdefgh'), callTools({ name: 'list_directory', arguments: {} })], say('done'));
  const socket = await openSocket(daemon);
  const { runId, answer } = await talk.ask('numbered');
  await answer;
  await settle(socket);
  const events = payloadsOf(socket, 'agent').filter((payload) => payload.runId === runId);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((__, index) => index + 1),
  );
  const streams = new Set(events.map(({ stream }) => stream));
  assert.deepEqual(streams, new Set(['job', 'assistant', 'tool']));
  socket.socket.close();
});

test('A run must end in exactly one `chat` event of the states `final`, `aborted` and `error`', async () => {
  await using talk = await openConversation(daemon);
  const socket = await openSocket(daemon);
  const { wsId: sessionKey } = talk;
  model.when('ends well', say('a good end'));
  model.when('ends badly', fail(400));
  model.when('ends early', [say('half'), stall()]);
  for (const [message, state] of [
    ['ends well', 'final'],
    ['ends badly', 'error'],
    ['ends early', 'aborted'],
  ] as const) {
    const runId = message;
    await talk.client.call('chat.send', { sessionKey, message, idempotencyKey: runId });
    if (state === 'aborted') {
      await talk.until('content', ({ text }) => text === 'half');
      await talk.client.call('chat.abort', { sessionKey, runId });
    }
    await talk.ended({ runId });
    await settle(socket);
    const states = payloadsOf(socket, 'chat').flatMap((payload) => (payload.runId === runId ? [payload.state] : []));
    assert.deepEqual(
      states.filter((each) => each !== 'delta'),
      [state],
    );
    assert.equal(states.at(-1), state);
  }
  socket.socket.close();
});

test('A connection must receive the `agent` and `chat` events of every workstream until its first `events.subscribe`, then only of those it subscribed to', async () => {
  await using one = await openConversation(daemon);
  await using other = await openConversation(daemon);
  model.when('heard by', say('hello'));
  const [all, some] = [await openSocket(daemon), await openSocket(daemon)];
  await some.call('events.subscribe', { wsId: one.wsId });
  const [first, second] = [await one.ask('heard by some'), await other.ask('heard by all')];
  await Promise.all([first.answer, second.answer]);
  for (const [socket, runs] of [
    [all, [first.runId, second.runId]],
    [some, [first.runId]],
  ] as const) {
    await settle(socket);
    for (const name of ['agent', 'chat']) {
      const heard = new Set(payloadsOf(socket, name).map(({ runId }) => runId));
      assert.deepEqual(heard, new Set(runs), name);
    }
    socket.socket.close();
  }
});

test('Each run must end with exactly one `ws_state` of `idle` or `error` that names the run', async () => {
  await using talk = await openConversation(daemon);
  model.when('good', say('yes'));
  model.when('bad', fail(400));
  model.when('stopped', [say('half'), stall()]);
  const outcomes: unknown[] = [];
  for (const message of ['good', 'bad', 'stopped']) {
    const { runId, answer } = await talk.ask(message);
    if (message === 'stopped') {
      await talk.until('content', ({ text }) => text === 'half');
      await talk.client.call('workstream.cancel', { wsId: talk.wsId });
    }
    await answer.catch(() => undefined); // failed or cancelled
    await talk.ended({ runId });
    const ends = talk.seen.flatMap(({ event }) =>
      event.type === 'ws_state' && event.run?.run_id === runId ? [[event.state, event.run.status]] : [],
    );
    outcomes.push(...ends);
  }
  assert.deepEqual(outcomes, [
    ['idle', 'ok'],
    ['error', 'error'],
    ['idle', 'cancelled'],
  ]);
  const unnamed = talk.seen.filter(({ event }) => event.type === 'ws_state' && !event.run);
  const states = unnamed.map(({ event }) => event.type === 'ws_state' && event.state);
  assert.deepEqual(states, ['thinking', 'thinking', 'thinking']);
  await talk.agree();
});

test('A cancelled run must end in the order `cancelled`, `stream_end`, `ws_state`', async () => {
  await using talk = await openConversation(daemon);
  model.when('cancel me', [say('half'), stall()]);
  const question = await talk.ask('cancel me');
  question.answer.catch(() => undefined); // cancelled
  await talk.until('content');
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await talk.agree();
  assert.deepEqual(talk.story().slice(-4), ['content: half', 'cancelled', 'stream_end', 'state idle (cancelled)']);
});

test('every connection gets the events that a workstream was created, closed and reopened', async () => {
  const socket = await openSocket(daemon);
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', {});
  await client.call('workstream.close', { wsId });
  await client.call('workstream.create', { resumeWs: wsId });
  await settle(socket);
  const heard = (name: string) => payloadsOf(socket, name).filter((payload) => payload.wsId === wsId);
  assert.deepEqual(
    { opened: heard('workstream.opened'), closed: heard('workstream.closed') },
    { opened: [{ wsId }, { wsId }], closed: [{ wsId }] },
  );
  socket.socket.close();
});

test('a connection shows the workstream that it reported last, and none after it reported none', async () => {
  const socket = await openSocket(daemon);
  const create = async () => ((await socket.call('workstream.create', {})) as { wsId: string }).wsId;
  const [first, second] = [await create(), await create()];
  for (const wsId of [first, second]) await socket.call('events.view', { wsId });
  await socket.call('events.view', {});
  await settle(socket);
  assert.deepEqual(payloadsOf(socket, 'workstream.viewers'), [
    { wsId: first, userIds: [''] },
    { wsId: first, userIds: [] },
    { wsId: second, userIds: [''] },
    { wsId: second, userIds: [] },
  ]);
  socket.socket.close();
});
