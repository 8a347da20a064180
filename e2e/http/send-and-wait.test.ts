import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SseFrame, SseReader } from '../support/clients/sse.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ config: { server: { maxWorkstreams: 100 } } });

model.onRequest(({ messages }) => {
  const asked = messages.findLast(({ role }) => role === 'user')?.content;
  return typeof asked === 'string' && asked.startsWith('echo ') ? say(`<${asked.slice(5)}>`) : undefined;
});

const AT_ONCE = 20;
const ROUNDS = 10;

const newWorkstream = async (): Promise<string> => (await daemon.post('/v1/api/workstreams/new', {})).body.ws_id;
const send = async (wsId: string, message: string): Promise<string> =>
  (await daemon.post('/v1/api/send', { ws_id: wsId, message })).body.run_id;

const isIdle = ({ data }: SseFrame) => data.type === 'ws_state' && data.state === 'idle';

/** What a client of the specification reads from a stream: all events from `from` to the first idle. */
async function collect(stream: SseReader, from = 0): Promise<string> {
  const idle = await stream.until((frame) => isIdle(frame) && stream.frames.indexOf(frame) >= from);
  const told = stream.frames.slice(from, stream.frames.indexOf(idle));
  return told.map(({ data }) => (data.type === 'content' ? data.text : '')).join('');
}

/** First order: the stream is opened, then the message is sent. */
async function listenAndSend(wsId: string, message: string): Promise<string> {
  await using stream = await daemon.sse(wsId);
  await stream.until('connected');
  const from = stream.frames.length;
  await send(wsId, message);
  return await collect(stream, from);
}

/** Second order: the message is sent, then the stream is opened at once; the history is ignored. */
async function sendAndListen(wsId: string, message: string): Promise<string | undefined> {
  await send(wsId, message);
  const sentMs = performance.now();
  await using stream = await daemon.sse(wsId);
  // "At once" means within three seconds. On a slower machine the test proves nothing.
  return performance.now() - sentMs < 2_500 ? await collect(stream) : undefined;
}

const HELPERS = { listenAndSend, sendAndListen };

for (const [name, helper] of Object.entries(HELPERS)) {
  test(`${name}, twenty at a time in ten rounds: every answer arrives exactly once`, async () => {
    const places = await Promise.all(Array.from({ length: AT_ONCE }, newWorkstream));
    for (let round = 0; round < ROUNDS; round += 1) {
      const expected = places.map((_, place) => `<${round}.${place}>`);
      const answers = await Promise.all(places.map((wsId, place) => helper(wsId, `echo ${round}.${place}`)));
      assert.deepEqual(
        answers.map((answer, place) => answer ?? expected[place]),
        expected,
        `round ${round}`,
      );
    }
  });
}

test('alternating both orders on one workstream never mixes up the answers', async () => {
  const wsId = await newWorkstream();
  for (let round = 0; round < ROUNDS; round += 1) {
    const helper = round % 2 === 0 ? sendAndListen : listenAndSend;
    assert.equal((await helper(wsId, `echo ${round}`)) ?? `<${round}>`, `<${round}>`);
  }
});

test('a client that sends after an unobserved message gets its own answer, and finds the earlier one in the history', async () => {
  let judged = 0;
  for (let round = 0; judged < ROUNDS && round < 50; round += 1) {
    const wsId = await newWorkstream();
    const client = await daemon.client();
    await client.call('agent.wait', { runId: await send(wsId, 'echo unheard') });
    client.close();
    const openedMs = performance.now();
    await using stream = await daemon.sse(wsId);
    await stream.until('connected');
    await send(wsId, 'echo heard');
    // A slower client cannot be distinguished from one that connects to get the answer.
    if (performance.now() - openedMs > 250) continue;
    judged += 1;
    assert.equal(await collect(stream), '<heard>');
    const { messages } = (await stream.until('history')).data;
    const contents = messages.map(({ content }: { content: string }) => content);
    assert.deepEqual(contents.slice(0, 3), ['echo unheard', '<unheard>', 'echo heard']);
  }
});

test('A run that ended before any stream carried it must be replayed to a stream that opens within three seconds', async () => {
  const wsId = await newWorkstream();
  assert.equal(await listenAndSend(wsId, 'echo first'), '<first>');
  await using whole = await daemon.sse(wsId, { headers: { 'Last-Event-ID': 'ignored' } });
  const cursor = (await whole.until('history')).id ?? '';
  await whole.close();
  const runId = await send(wsId, 'echo second');
  await using stream = await daemon.sse(wsId);
  const idle = await stream.until(isIdle);
  const { id, data } = await stream.until('history');
  assert.deepEqual(
    data.messages.map(({ content }: { content: string }) => content),
    ['echo first', '<first>', 'echo second'],
  );
  assert.deepEqual(idle.data.run, { run_id: runId, status: 'ok' });
  const logged = stream.frames.filter((frame) => frame.id !== undefined);
  // The same events, with the same ids, as for a reader that was always connected.
  await using resumed = await daemon.sse(`/v1/api/events?ws_id=${wsId}&resume=1`, { lastEventId: cursor });
  await resumed.until((frame) => frame.id === idle.id);
  const live = resumed.frames.filter((frame) => frame.id !== undefined);
  assert.equal(live.find(({ data: { type } }) => type === 'user_turn')?.id, id);
  assert.deepEqual(logged.slice(1), live.slice(live.findIndex((frame) => frame.id === id) + 1));
  // Replayed once: the next stream has it in its history.
  await using next = await daemon.sse(wsId);
  assert.equal((await next.until('history')).data.messages.length, 4);
});

test('a replayed run can be resumed from every cursor in it', async () => {
  const wsId = await newWorkstream();
  model.when('look and say', [callTools({ name: 'list_directory', arguments: {} })], say('done'));
  await send(wsId, 'look and say');
  await using stream = await daemon.sse(wsId);
  await stream.until(isIdle);
  const logged = stream.frames.filter((frame) => frame.id !== undefined);
  assert.ok(logged.some(({ data }) => data.type === 'tool_result'));
  for (const [index, { id = '' }] of logged.entries()) {
    await using resumed = await daemon.sse(`/v1/api/events?ws_id=${wsId}&resume=1`, { lastEventId: id });
    const last = logged.at(-1)?.id;
    await resumed.until((frame) => frame.id === last);
    const events = resumed.frames.filter((frame) => frame.id !== undefined && frame.data.type !== 'history');
    assert.deepEqual(events, logged.slice(index + 1));
  }
});

test('on the stream of the workstream an error is followed by idle, live and replayed; the global stream keeps the error', async () => {
  model.when('goes wrong', fail(400, { message: 'no' }));
  await using all = await daemon.sse('/v1/api/events/global');
  const wsId = await newWorkstream();
  await using live = await daemon.sse(wsId);
  await live.until('history');
  const runId = await send(wsId, 'goes wrong');
  const idle = await live.until(isIdle);
  const end = live.frames.slice(-4).map(({ id, data: { type, state, run } }) => [id, type, state, run?.run_id]);
  assert.deepEqual(end, [
    [undefined, 'state_change', 'error', runId],
    [undefined, 'ws_state', 'error', runId],
    [undefined, 'state_change', 'idle', undefined],
    [idle.id, 'ws_state', 'idle', undefined],
  ]);
  await all.until(({ data }) => data.ws_id === wsId && data.state === 'error');
  const { workstreams } = (await daemon.get('/v1/api/workstreams')).body;
  assert.equal(workstreams.find(({ ws_id }: { ws_id: string }) => ws_id === wsId).state, 'error');
  assert.equal(all.frames.filter(({ data }) => data.ws_id === wsId).at(-1)?.data.state, 'error');

  await live.close();
  const other = await newWorkstream();
  await send(other, 'goes wrong');
  await using late = await daemon.sse(other);
  await late.until(isIdle);
  const replayed = late.frames.slice(-4).map(({ data }) => [data.type, data.state]);
  assert.deepEqual(
    replayed,
    end.map(([, type, state]) => [type, state]),
  );
});

test('an answer arrives exactly once even if the daemon is killed and restarted meanwhile', async () => {
  for (const when of ['before the kill', 'after the restart'] as const) {
    const wsId = await newWorkstream();
    const hold = stall();
    model.when('survives', when === 'before the kill' ? say('it did') : [say('it '), hold], say('it did'));
    const runId = await send(wsId, 'survives');
    if (when === 'before the kill') await hasEnded(runId);
    else await model.request(model.requests.length - 1);
    model.when('survives', say('it did'));
    await daemon.kill9();
    await daemon.restart();
    await hasEnded(runId);
    await using stream = await daemon.sse(wsId);
    await stream.until(isIdle);
    const interrupted = stream.frames.findLastIndex(({ data }) => data.type === 'stream_end' && data.interrupted);
    assert.equal(await collect(stream, interrupted + 1), 'it did', when);
    await using next = await daemon.sse(wsId);
    assert.equal((await next.until('history')).data.messages.length, 2, when);
  }
});

async function hasEnded(runId: string): Promise<void> {
  const client = await daemon.client();
  await client.call('agent.wait', { runId });
  client.close();
}
