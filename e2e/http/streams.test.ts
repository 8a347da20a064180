import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import type { SseFrame, SseReader } from '../support/clients/sse.ts';
import { storyOf } from '../support/clients/story.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause, within } from '../support/deadline.ts';
import { callTools, say, stall, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const send = async (wsId: string, message: string): Promise<string> =>
  (await daemon.post('/v1/api/send', { ws_id: wsId, message })).body.run_id;

/** The events of a stream that are in the log, except the initial history. */
const logged = ({ frames }: SseReader): SseFrame[] =>
  frames.filter(({ id, data }) => id !== undefined && data.type !== 'history');

const typesOf = (frames: readonly SseFrame[]): string[] => frames.map(({ data }) => data.type);

// Opened first and read last, because a keepalive takes five seconds.
const quiet = await daemon.sse((await daemon.get('/v1/api/workstreams')).body.workstreams[0].ws_id);
const quietSinceMs = performance.now();

test('The first frame of a stream must be `connected` and the second `history`, unless it could not resume', async () => {
  await using talk = await openConversation(daemon);
  model.when('first of all', say('hello'));
  await (await talk.ask('first of all')).answer;
  await using stream = await daemon.sse(talk.wsId);
  await stream.until('history');
  const [connected, history] = stream.frames;
  const { name } = connected?.data ?? {};
  assert.deepEqual(connected?.data, {
    type: 'connected',
    ws_id: talk.wsId,
    name,
    model: 'scripted',
    model_alias: 'openai-compatible',
    skip_permissions: false,
    mode: 'ask',
  });
  const said = history?.data.messages.map(
    ({ created_ms: _, spent: __, ...message }: { created_ms: number; spent: unknown }) => message,
  );
  assert.deepEqual(said, [
    { seq: 1, role: 'user', content: 'first of all', tool_calls: null },
    { seq: 2, role: 'assistant', content: 'hello', tool_calls: null },
  ]);
});

test('Frames that are not stored in the log must carry no id', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('all kinds', [think('hm'), say('hello'), hold]);
  await using stream = await daemon.sse(talk.wsId);
  const runId = await send(talk.wsId, 'all kinds');
  await stream.until('content');
  await send(talk.wsId, 'busy');
  await stream.until('busy_error');
  await using late = await daemon.sse(`/v1/api/events?ws_id=${talk.wsId}&snapshot=1`);
  await late.until('in_progress_snapshot');
  hold.release();
  await talk.ended({ runId });
  const { events } = await talk.agree();
  const frames = [...stream.frames, ...late.frames];
  const without = frames.filter(({ id }) => id === undefined);
  const transient = ['connected', 'state_change', 'busy_error', 'in_progress_snapshot'];
  assert.deepEqual(new Set(typesOf(without)), new Set(transient));
  const [epoch] = (frames.find(({ id }) => id)?.id ?? '').split(':');
  const ids = new Set(['0', ...events.map(({ offset }) => String(offset))].map((offset) => `${epoch}:${offset}`));
  for (const { id } of frames) assert.ok(id === undefined || ids.has(id), `${id}`);
});

test('Every event of the stream of a workstream must have its `ws_id`', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  const command = callTools({ name: 'bash', arguments: { command: 'echo out | tee out' }, id: 'call_w' });
  model.when('says where', [think('hm'), say('well'), command], [say('done'), hold]);
  await using stream = await daemon.sse(talk.wsId);
  const runId = await send(talk.wsId, 'says where');
  const asked = await stream.until('approve_request');
  await daemon.post('/v1/api/approve', { ws_id: talk.wsId, approved: true, cycle_id: asked.data.cycle_id });
  await stream.until(({ data }) => data.text === 'done');
  await send(talk.wsId, 'too soon');
  await using late = await daemon.sse(talk.wsId);
  await late.until(({ data }) => data.text === 'done');
  hold.release();
  await stream.until(({ data }) => data.type === 'ws_state' && data.run?.run_id === runId);
  const frames = [...stream.frames, ...late.frames];
  assert.deepEqual(
    frames.filter(({ data }) => data.ws_id !== talk.wsId),
    [],
  );
  const seen = new Set(typesOf(frames));
  const few = ['connected', 'history', 'user_turn', 'content', 'tool_result', 'status', 'busy_error', 'ws_state'];
  assert.deepEqual(
    few.filter((type) => !seen.has(type)),
    [],
  );
});

test('A stream of an unknown workstream must answer 404 `Unknown workstream`', async () => {
  for (const query of ['', '?ws_id=', '?ws_id=main', `?ws_id=${'0'.repeat(32)}`]) {
    const { status, body } = await daemon.get(`/v1/api/events${query}`);
    assert.deepEqual({ status, body }, { status: 404, body: { error: 'Unknown workstream' } });
  }
});

test('A stream opened during a turn must replay the turn so far with the original ids and continue without a gap', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  const directory = callTools({ name: 'list_directory', arguments: {} });
  model.when('mid-turn', [say('let me look'), directory], [think('hm'), say('two ', 'words'), hold, say(' more')]);
  await using early = await daemon.sse(talk.wsId);
  const runId = await send(talk.wsId, 'mid-turn');
  await talk.until('content', ({ text }) => text.includes('words'));
  await using late = await daemon.sse(talk.wsId);
  await late.until('content');
  const { messages } = (await late.until('history')).data;
  assert.deepEqual(
    messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'tool'],
  );
  hold.release();
  await talk.ended({ runId });
  for (const stream of [early, late]) await stream.until(({ data }) => data.run?.run_id === runId);
  const start = logged(early).findLastIndex(({ data }) => data.type === 'thinking_start');
  const turn = logged(early).slice(start);
  const replayed = logged(late);
  assert.deepEqual(storyOf(replayed.map(({ data }) => data)), storyOf(turn.map(({ data }) => data)));
  assert.deepEqual(typesOf(replayed).at(0), 'thinking_start');
  assert.equal(replayed[0]?.id, turn[0]?.id);
  const known = new Set(turn.map(({ id }) => id));
  for (const { id, data } of replayed) assert.ok(known.has(id) || data.text !== undefined, `${id}`);
});

test('With `snapshot=1` a stream opened during a turn must contain one `in_progress_snapshot` instead of the text so far', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('in a snapshot', [think('let me ', 'think'), say('two ', 'words'), hold, say(' more')]);
  const runId = await send(talk.wsId, 'in a snapshot');
  await talk.until('content', ({ text }) => text.includes('words'));
  await using stream = await daemon.sse(`/v1/api/events?ws_id=${talk.wsId}&snapshot=1`);
  await stream.until('in_progress_snapshot');
  hold.release();
  await talk.ended({ runId });
  await stream.until(({ data }) => data.run?.run_id === runId);
  const texts = stream.frames.filter(({ data }) =>
    ['content', 'reasoning', 'in_progress_snapshot'].includes(data.type),
  );
  assert.deepEqual(
    texts.map(({ data }) => data),
    [
      { type: 'in_progress_snapshot', content: 'two words', reasoning: 'let me think', ws_id: talk.wsId },
      { type: 'content', ws_id: talk.wsId, text: ' more' },
    ],
  );
});

test('`ws_state` must be sent on the stream of its workstream and on the global one', async () => {
  await using talk = await openConversation(daemon);
  await using all = await daemon.sse('/v1/api/events/global');
  await using one = await daemon.sse(talk.wsId);
  const hold = stall();
  model.when('tell everybody', [hold, say('done')]);
  const runId = await send(talk.wsId, 'tell everybody');
  for (const stream of [one, all]) {
    await stream.until(({ data }) => data.ws_id === talk.wsId && data.state === 'thinking');
  }
  hold.release();
  const isEnd = ({ data }: SseFrame) => data.type === 'ws_state' && data.run?.run_id === runId;
  const { data: told } = await all.until(isEnd);
  const { data: logged } = await one.until(isEnd);
  assert.deepEqual({ ...told, ...logged }, told); // the global one adds fields
});

test('Without `resume=1` a stream must begin with the whole history, whatever its `Last-Event-ID`', async () => {
  await using talk = await openConversation(daemon);
  model.when('the whole', say('of it'));
  await (await talk.ask('the whole')).answer;
  await using plain = await daemon.sse(talk.wsId);
  const { id = '', data } = await plain.until('history');
  assert.equal(data.messages.length, 2);
  for (const lastEventId of [id, id.replace(/\d+$/, '1'), 'another:1', 'x']) {
    await using stream = await daemon.sse(talk.wsId, { lastEventId });
    await stream.until('history');
    assert.deepEqual(stream.frames.slice(0, 2), plain.frames.slice(0, 2));
  }
});

test('With `resume=1` and a `Last-Event-ID` inside the log, a stream must continue exactly after that event', async () => {
  await using talk = await openConversation(daemon);
  model.when('to be continued', say('a', 'b', 'c'));
  await using whole = await daemon.sse(talk.wsId);
  await send(talk.wsId, 'to be continued');
  await whole.until(({ data }) => data.run !== undefined && data.type === 'ws_state');
  for (const [index, { id = '' }] of logged(whole).entries()) {
    await using stream = await daemon.sse(`/v1/api/events?ws_id=${talk.wsId}&resume=1`, { lastEventId: id });
    const last = logged(whole).at(-1);
    if (id !== last?.id) await stream.until((frame) => frame.id === last?.id && frame.data.type === 'ws_state');
    else await stream.until('history');
    assert.deepEqual(stream.frames[1], { id, data: { type: 'history', ws_id: talk.wsId, messages: [], from: id } });
    assert.equal(stream.frames[0]?.data.recovered, true);
    assert.deepEqual(logged(stream), logged(whole).slice(index + 1));
  }
});

test('With `resume=1` and a well-formed `Last-Event-ID` that cannot be resumed, a stream must give the reason and begin with the whole history', async () => {
  await using talk = await openConversation(daemon);
  model.when('cannot go on', say('from there'));
  await (await talk.ask('cannot go on')).answer;
  await using plain = await daemon.sse(talk.wsId);
  const { id = '' } = await plain.until('history');
  const [connected, history] = plain.frames;
  for (const [lastEventId, lost] of [
    ['another:1', { recovered: false, reason: 'epoch' }],
    [id.replace(/\d+$/, '1000'), { recovered: false, reason: 'ahead' }],
    ['x', {}],
  ] as const) {
    await using stream = await daemon.sse(`/v1/api/events?ws_id=${talk.wsId}&resume=1`, { lastEventId });
    await stream.until('history');
    const told = stream.frames.filter(({ data }) => data.type !== 'replay_truncated');
    const expected = [{ ...connected, data: { ...connected?.data, ...lost } }, history];
    assert.deepEqual(told.slice(0, 2), expected, lastEventId);
  }
});

test('A stream that cannot be resumed must report the loss with `replay_truncated`, between `connected` and `history`', async () => {
  await using talk = await openConversation(daemon);
  await using plain = await daemon.sse(talk.wsId);
  const { id = '' } = await plain.until('history');
  const at = (offset: number) => id.replace(/\d+$/, String(offset));
  const lost = { type: 'replay_truncated', ws_id: talk.wsId, lost_count: 0, earliest_available_id: at(1) };
  for (const lastEventId of ['another:1', at(1000)]) {
    await using stream = await daemon.sse(`/v1/api/workstreams/${talk.wsId}/events?last_event_id=${lastEventId}`);
    await stream.until('history');
    const [, truncated, history] = stream.frames;
    assert.deepEqual([truncated, history?.data.type], [{ id: undefined, data: lost }, 'history'], lastEventId);
  }
});

test('A negative position must be treated as one whose events are no longer stored', async () => {
  await using talk = await openConversation(daemon);
  await using plain = await daemon.sse(talk.wsId);
  const { id = '' } = await plain.until('history');
  const lastEventId = id.replace(/\d+$/, '-1');
  await using stream = await daemon.sse(`/v1/api/events?ws_id=${talk.wsId}&resume=1`, { lastEventId });
  await stream.until('history');
  const [connected, truncated] = stream.frames;
  assert.deepEqual([connected?.data.reason, truncated?.data.type], ['expired', 'replay_truncated']);
});

test('The global stream must begin with the current state of every workstream', async () => {
  await using talk = await openConversation(daemon);
  const hold = stall();
  model.when('be thinking', [hold, say('done')]);
  const runId = await send(talk.wsId, 'be thinking');
  await talk.until('ws_state');
  const { workstreams } = (await daemon.get('/v1/api/workstreams')).body;
  await using stream = await daemon.sse('/v1/api/events/global');
  await stream.until(({ data }) => data.ws_id === talk.wsId);
  const states = workstreams.map((row: { ws_id: string; state: string }) => [row.ws_id, row.state]);
  assert.deepEqual(
    stream.frames.map(({ data }) => [data.ws_id, data.state]),
    states,
  );
  assert.deepEqual(states.at(-1), [talk.wsId, 'thinking']);
  hold.release();
  await talk.ended({ runId });
});

test('An idle stream must carry `: keepalive` every five seconds', async () => {
  const comes = async () => {
    while (quiet.comments.length === 0) await pause(20);
  };
  await within(comes(), 60_000, () => 'a keepalive');
  const tookMs = performance.now() - quietSinceMs;
  assert.match(quiet.text(), /^: keepalive\n\n/m);
  assert.deepEqual({ tookMs, inTime: tookMs > 4_000 }, { tookMs, inTime: true });
  await quiet.close();
});
