import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRANSIENT_EVENTS } from '../../../protocol/events/transient.ts';
import { StreamEvent } from '../../../protocol/stream-events.ts';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import type { Beginning } from './event-streams.ts';

const never = () => new Promise(() => undefined);

async function setUp() {
  const gateway = await wholeGateway();
  const wsId = await gateway.main();
  const open = async (request: { lastEventId?: string; resume?: boolean; snapshot?: boolean } = {}) => {
    const opening = await gateway.gateway.streams.open(wsId, {
      viewer: DAEMON,
      resume: false,
      snapshot: false,
      ...request,
    });
    return withConnected(opening.connected, await opening.begin(new AbortController().signal));
  };
  return {
    gateway,
    wsId,
    open,
    cursor: (offset: number) => `${gateway.store.epoch}:${offset}`,
    last: () => gateway.store.bounds(wsId).last,
    send: (message = 'hello') => gateway.call('workstream.send', { wsId, message }),
    /** A complete run, long enough ago to be history. */
    async turn(message?: string) {
      await gateway.call('workstream.send', { wsId, message: message ?? 'hello' });
      await gateway.isIdle(wsId);
      await gateway.clock.advance(3_000);
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

const withConnected = (connected: string, { frames, after }: Beginning): Beginning => ({
  frames: [{ json: connected }, ...frames],
  after,
});

/** Frames as `[offset, event]`; each matches the row of its type. */
function framesOf({ frames }: Beginning): [number | undefined, StreamEvent | { type: string }][] {
  return frames.map(({ id, json }) => {
    const event: unknown = JSON.parse(json);
    const { type } = event as { type: string };
    if (type in TRANSIENT_EVENTS) TRANSIENT_EVENTS[type as keyof typeof TRANSIENT_EVENTS].parse(event);
    else StreamEvent.parse(event);
    return [id === undefined ? undefined : Number(id.split(':')[1]), event as StreamEvent];
  });
}
const typesOf = (opening: Beginning) => framesOf(opening).map(([offset, { type }]) => [offset, type]);

/** A turn with a pending approval, and text before it. */
async function ask(gateway: WholeGateway, wsId: string): Promise<string> {
  gateway.puppet.turn({ type: 'reasoning', text: 'Hm' }, 'I will ', 'touch it.', calling('touch'));
  await gateway.call('workstream.send', { wsId, message: 'touch it' });
  await gateway.reaches(wsId, 'approve_request');
  const { approvals } = await gateway.call('approval.list', { wsId });
  return approvals[0]?.approvalId ?? assert.fail('nothing waits');
}

/** No model is available until this is disposed. */
function holdModel(gateway: WholeGateway): Disposable {
  const { promise, reject } = Promise.withResolvers<never>();
  gateway.puppet.models.resolve = () => promise;
  return { [Symbol.dispose]: () => reject(new Error('no model')) };
}

test('a new stream begins with connected and the history, whose id is its cursor', async () => {
  await using stream = await setUp();
  await stream.turn();
  const { frames, after } = await stream.open();
  assert.equal(after, stream.last());
  const [connected, history] = frames.map(({ id, json }) => ({ id, event: JSON.parse(json) }));
  assert.deepEqual(connected, {
    id: undefined,
    event: {
      type: 'connected',
      ws_id: stream.wsId,
      name: `ws-${stream.wsId.slice(0, 4)}`,
      model: 'puppet',
      model_alias: 'puppet',
      skip_permissions: false,
      mode: 'ask',
    },
  });
  const created_ms = 1_000_000;
  const tokens = { input_tokens: 70, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: 30 };
  const spent = { model: 'puppet/puppet', ...tokens, duration_ms: 0 };
  assert.deepEqual(history, {
    id: stream.cursor(after),
    event: {
      type: 'history',
      messages: [
        { seq: 1, role: 'user', content: 'hello', tool_calls: null, created_ms },
        { seq: 2, role: 'assistant', content: 'ok', tool_calls: null, spent, created_ms },
      ],
    },
  });
});

test('during a turn the history ends before it, and the turn so far follows with its own ids', async () => {
  await using stream = await setUp();
  const { gateway, wsId } = stream;
  await stream.turn();
  const before = stream.last();
  const more = Promise.withResolvers<void>();
  gateway.puppet.turn('one ', more.promise, 'two', never());
  await stream.send();
  await gateway.reaches(wsId, 'content', 2);
  more.resolve();
  await gateway.reaches(wsId, 'content', 3);
  const opening = await stream.open();
  assert.deepEqual(typesOf(opening), [
    [undefined, 'connected'],
    [before + 1, 'history'],
    [before + 2, 'thinking_start'],
    [before + 3, 'ws_state'],
    [before + 4, 'thinking_stop'],
    [before + 6, 'content'],
  ]);
  assert.deepEqual(framesOf(opening).at(-1)?.[1], { type: 'content', text: 'one two' });
  assert.equal(opening.after, stream.last());
});

test('a pending question is part of the replay; a decided one is replayed as tool_info', async () => {
  await using stream = await setUp();
  const { gateway, wsId } = stream;
  const approvalId = await ask(gateway, wsId);
  const waiting = framesOf(await stream.open()).find(([, { type }]) => type === 'approve_request');
  assert.deepEqual(
    waiting?.[1],
    (await gateway.events(wsId)).find(({ type }) => type === 'approve_request'),
  );
  using _ = holdModel(gateway); // so that the turn stays the one in progress
  await gateway.call('approval.resolve', { approvalId, approved: true });
  await gateway.reaches(wsId, 'tool_result');
  const decided = framesOf(await stream.open()).map(([, event]) => event);
  assert.deepEqual(
    decided.filter(({ type }) => type.startsWith('appro') || type.startsWith('tool')).map(({ type }) => type),
    ['tool_info', 'approval_resolved', 'tool_output_chunk', 'tool_result'],
  );
});

test('a long turn is read from the log, where the history ends', async () => {
  await using stream = await setUp();
  await stream.turn();
  const before = stream.last();
  stream.gateway.puppet.turn(...Array.from({ length: 40 }, (_, n) => String(n).padEnd(32_000, '.')), never());
  await stream.send();
  await stream.gateway.reaches(stream.wsId, 'content', 35);
  const opening = await stream.open();
  const [, history] = framesOf(opening);
  assert.deepEqual([typesOf(opening).length, history?.[0], opening.after], [2, opening.after, opening.after]);
  assert.ok(opening.after >= before && opening.after < stream.last());
});

test('with snapshot=1 the text of the turn so far is one frame without an id', async () => {
  await using stream = await setUp();
  const { gateway, wsId } = stream;
  await ask(gateway, wsId);
  const frames = framesOf(await stream.open({ snapshot: true }));
  assert.deepEqual(frames[2], [
    undefined,
    { type: 'in_progress_snapshot', content: 'I will touch it.', reasoning: 'Hm', ws_id: wsId },
  ]);
  const types = frames.map(([, { type }]) => type);
  assert.deepEqual([types.includes('content'), types.includes('reasoning')], [false, false]);
  assert.ok(types.includes('approve_request'));
  await gateway.call('workstream.cancel', { wsId });
  await gateway.clock.advance(3_000);
  const idle = await stream.open({ snapshot: true });
  assert.deepEqual(
    idle.frames.slice(0, 2).map(({ json }) => JSON.parse(json).type),
    ['connected', 'history'],
  );
});

test('a snapshot omits text that a crash made void', async () => {
  await using stream = await setUp();
  const { gateway, wsId } = stream;
  gateway.puppet.turn('half an', never());
  await stream.send();
  await gateway.reaches(wsId, 'content');
  using _ = holdModel(gateway); // it cannot call the model again yet
  await gateway.restart();
  const types = framesOf(await stream.open({ snapshot: true })).map(([, { type }]) => type);
  assert.deepEqual([types.includes('stream_end'), types.includes('in_progress_snapshot')], [true, false]);
});

test('with resume=1 a stream continues exactly after its cursor', async () => {
  await using stream = await setUp();
  await stream.turn();
  for (const offset of [0, 4, stream.last()]) {
    const from = stream.cursor(offset);
    const opening = await stream.open({ resume: true, lastEventId: from });
    assert.equal(opening.after, offset);
    const [connected, history, ...rest] = framesOf(opening);
    assert.deepEqual([connected?.[1], rest], [{ ...connected?.[1], recovered: true }, []]);
    assert.deepEqual(history, [offset, { type: 'history', messages: [], from }]);
  }
});

test('a cursor that cannot be continued gets the reason and the whole history', async () => {
  await using stream = await setUp();
  await stream.turn();
  await stream.gateway.store.dropPrefix(stream.wsId, 3);
  const reasonOf = async (lastEventId: string | undefined, resume = true) => {
    const opening = await stream.open({ resume, ...(lastEventId !== undefined && { lastEventId }) });
    const [connected, ...later] = opening.frames.map(({ json }) => JSON.parse(json));
    const [truncated] = later[0].type === 'history' ? [] : later.splice(0, 1);
    assert.equal(later[0].messages.length, 2);
    if (truncated) assert.deepEqual([truncated.type, truncated.earliest_available_id], ['replay_truncated', earliest]);
    return [connected.recovered, connected.reason, truncated?.lost_count];
  };
  const past = stream.cursor(stream.last() + 1);
  const earliest = stream.cursor(4);
  assert.deepEqual(await reasonOf(stream.cursor(1)), [false, 'expired', 2]);
  assert.deepEqual(await reasonOf(stream.cursor(-1)), [false, 'expired', 3]);
  assert.deepEqual(await reasonOf(past), [false, 'ahead', 0]);
  assert.deepEqual(await reasonOf('other:3'), [false, 'epoch', 0]);
  const none = [undefined, undefined, undefined];
  assert.deepEqual([await reasonOf('7'), await reasonOf(undefined), await reasonOf(past, false)], [none, none, none]);
});

test('what follows a reported loss is all that a first connection gets, also during a question', async () => {
  await using stream = await setUp();
  await stream.turn();
  await ask(stream.gateway, stream.wsId);
  const lost = await stream.open({ resume: true, lastEventId: 'other:3' });
  const first = await stream.open();
  assert.deepEqual(typesOf(lost).slice(0, 2), [
    [undefined, 'connected'],
    [undefined, 'replay_truncated'],
  ]);
  assert.deepEqual([lost.frames.slice(2), lost.after], [first.frames.slice(1), first.after]);
  assert.ok(typesOf(lost).some(([, type]) => type === 'approve_request'));
});

test('the global stream has the state of every workstream, and each change', async () => {
  await using stream = await setUp();
  const { gateway, wsId } = stream;
  const { streams } = gateway.gateway;
  const told: unknown[] = [];
  const stop = streams.onChange({
    viewer: DAEMON,
    onEvent(event) {
      if (event.type === 'ws_state') told.push([event.type, event.ws_id, event.state]);
    },
  });
  const { wsId: other } = await gateway.call('workstream.create', {});
  await stream.turn();
  assert.deepEqual(told, [
    ['ws_state', other, 'idle'],
    ['ws_state', wsId, 'thinking'],
    ['ws_state', wsId, 'idle'],
  ]);
  stop();
  await stream.turn();
  assert.equal(told.length, 3);
  const states = streams.states(DAEMON).map(({ ws_id, state }) => [ws_id, state]);
  assert.deepEqual(states, [
    [wsId, 'idle'],
    [other, 'idle'],
  ]);
});

test('a stream of an unknown or closed workstream is NOT_FOUND', async () => {
  await using stream = await setUp();
  const { gateway } = stream;
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.close', { wsId });
  for (const unknown of [wsId, 'f'.repeat(32), 'main']) {
    const opening = gateway.gateway.streams.open(unknown, { viewer: DAEMON, resume: false, snapshot: false });
    await assert.rejects(opening, { code: 'NOT_FOUND', message: 'Unknown workstream' });
  }
});

for (const method of ['workstream.close', 'workstream.delete'] as const)
  test(`a stream whose beginning is read during a ${method} ends`, async () => {
    await using gateway = await wholeGateway();
    const { streams } = gateway.gateway;
    const { wsId } = await gateway.call('workstream.create', {});
    const opening = await streams.open(wsId, { viewer: DAEMON, resume: false, snapshot: false });
    const begun = opening.begin(new AbortController().signal);
    await gateway.call(method, { wsId });
    const { after } = await begun;
    const ended: number[] = [];
    const onEnd = () => void ended.push(after);
    const sink = { ready: () => true, write: () => assert.fail('it has ended') };
    streams.follow(wsId, after, { viewer: DAEMON, sink, onEnd, since: opening.since });
    assert.deepEqual(ended, [after]);
  });
