import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

// A client that knows only the frame specification: unknown properties are errors.
const Text = z.string().min(1);
const Count = z.int().min(0);
const ErrorShape = z.strictObject({
  code: Text,
  message: Text,
  details: z.unknown().optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: Count.optional(),
});
const Response = z.strictObject({
  type: z.literal('res'),
  id: Text,
  ok: z.boolean(),
  payload: z.unknown().optional(),
  error: ErrorShape.optional(),
});
const Event = z.strictObject({
  type: z.literal('event'),
  event: Text,
  payload: z.unknown().optional(),
  seq: Count.optional(),
  stateVersion: z.strictObject({ presence: Count, health: Count }).optional(),
});
const AgentEvent = z.strictObject({
  runId: Text,
  seq: Count,
  stream: Text,
  ts: Count,
  data: z.record(z.string(), z.unknown()),
});
const Accepted = z.strictObject({ runId: Text, status: z.literal('accepted') });
const ChatEvent = z.strictObject({
  runId: Text,
  sessionKey: Text,
  seq: Count,
  state: z.enum(['delta', 'final', 'aborted', 'error']),
  message: z
    .strictObject({
      role: z.literal('assistant'),
      content: z.array(z.strictObject({ type: z.literal('text'), text: z.string() })),
      timestamp: Count,
    })
    .optional(),
  errorMessage: z.string().optional(),
});

/** The events of one run, after checking every frame against the specification. */
function eventsOf(client: TestClient, runId: string) {
  for (const frame of client.frames) (frame.type === 'res' ? Response : Event).parse(frame);
  const named = (name: string) => client.events().filter(({ event }) => event === name);
  return {
    agent: named('agent')
      .map(({ payload }) => AgentEvent.parse(payload))
      .filter((event) => event.runId === runId),
    chat: named('chat')
      .map(({ payload }) => ChatEvent.parse(payload))
      .filter((event) => event.runId === runId),
  };
}

/** The end of the run in the events of this connection, which can come after the answer. */
const finalOf = (client: TestClient, runId: string) =>
  client.event('chat', (payload) => {
    const chat = ChatEvent.parse(payload);
    return chat.runId === runId && chat.state !== 'delta';
  });

test('a client that knows only the frame specification runs an agent turn and sees all of it', async () => {
  model.when(
    'spec client',
    [say('I will look.'), callTools({ name: 'list_directory', arguments: { path: '.' } })],
    say('It is empty.'),
  );
  const client = await openSocket(daemon);
  const answer = await client.request('agent', { message: 'spec client', idempotencyKey: 'spec-1' });
  assert.deepEqual(answer, {
    type: 'res',
    id: answer.id,
    ok: true,
    payload: { runId: 'spec-1', status: 'ok', summary: 'completed' },
  });
  const accepted = client.frames.find((frame) => frame.type === 'res' && frame.id === answer.id);
  assert.deepEqual(accepted?.type === 'res' && Accepted.parse(accepted.payload), {
    runId: 'spec-1',
    status: 'accepted',
  });
  await finalOf(client, 'spec-1');

  const { agent, chat } = eventsOf(client, 'spec-1');
  assert.deepEqual(
    agent.map(({ seq }) => seq),
    agent.map((_, index) => index + 1),
  );
  const steps = agent.map(({ stream, data }) => `${stream} ${data.state ?? data.phase ?? ''}`.trim());
  assert.deepEqual([...new Set(steps)], ['job started', 'assistant', 'tool start', 'tool result', 'job done']);
  const { state, message } = chat.at(-1) ?? {};
  assert.deepEqual([state, message?.content], ['final', [{ type: 'text', text: 'It is empty.' }]]);
  const texts = agent.flatMap(({ stream, data }) => (stream === 'assistant' ? [data.text] : []));
  assert.deepEqual([texts.includes('I will look.'), texts.at(-1)], [true, 'It is empty.']);
  client.socket.close();
});

test('connections without a subscription watch every run; one subscribed to another workstream sees nothing of it', async () => {
  model.when('who watches', say('you two'));
  const [one, two, elsewhere] = await Promise.all([openSocket(daemon), openSocket(daemon), openSocket(daemon)]);
  const { wsId } = (await elsewhere.call('workstream.create', {})) as { wsId: string };
  await elsewhere.call('events.subscribe', { wsId });
  await one.call('agent', { message: 'who watches', idempotencyKey: 'watch-1' });
  await Promise.all([finalOf(one, 'watch-1'), finalOf(two, 'watch-1')]);
  await elsewhere.call('health');
  assert.deepEqual(eventsOf(one, 'watch-1'), eventsOf(two, 'watch-1'));
  assert.deepEqual(eventsOf(elsewhere, 'watch-1'), { agent: [], chat: [] });
  for (const { socket } of [one, two, elsewhere]) socket.close();
});

test('one key used on two connections is one run, and both connections get both answers', async () => {
  const hold = stall();
  model.when('only once', [hold, say('done')]);
  const before = model.requests.length;
  const [one, two] = await Promise.all([openSocket(daemon), openSocket(daemon)]);
  const params = { message: 'only once', sessionKey: 'once', idempotencyKey: 'once-1' };
  const answers = [one.request('agent', params), two.request('agent', params)];
  await hold.reached;
  hold.release();
  const final = { runId: 'once-1', status: 'ok', summary: 'completed' };
  assert.deepEqual(
    (await Promise.all(answers)).map(({ payload }) => payload),
    [final, final],
  );
  for (const client of [one, two]) {
    const said = client.frames.filter((frame) => frame.type === 'res' && frame.id === 'r2');
    assert.deepEqual(said.length, 2);
    client.socket.close();
  }
  assert.equal(model.requests.length, before + 1);
});

test('a client that lost its connection repeats the call with its key and gets the final answer', async () => {
  const hold = stall();
  model.when('lost line', [hold, say('here it is')]);
  const before = model.requests.length;
  const params = { message: 'lost line', sessionKey: 'lost', idempotencyKey: 'lost-1' };
  const first = await openSocket(daemon);
  const lost = assert.rejects(first.request('agent', params));
  await hold.reached;
  first.socket.terminate();
  await lost;
  const second = await openSocket(daemon);
  const again = second.request('agent', params);
  hold.release();
  assert.deepEqual((await again).payload, { runId: 'lost-1', status: 'ok', summary: 'completed' });
  second.socket.close();
  const third = await openSocket(daemon);
  assert.deepEqual((await third.request('agent', params)).payload, {
    runId: 'lost-1',
    status: 'ok',
    summary: 'completed',
  });
  third.socket.close();
  assert.equal(model.requests.length, before + 1);
});
