import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

model.when('one', say('ONE'));
model.when('two', say('TWO'));
model.when('three', say('THREE'));
model.when('look', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('LOOKED'));
model.when('poison', fail(400, { message: 'too much of it' }));

/** What the model was sent last, without the system prompt. */
const told = () =>
  model.requests
    .at(-1)
    ?.body.messages.slice(1)
    .map(({ role, content }) => `${role}: ${content}`);

async function speak(talk: Conversation, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    const { answer } = await talk.ask(text);
    await answer.catch(() => undefined); // a failed run rejects
  }
}

const isOver = ({ client }: Conversation, runId: string) => client.call('agent.wait', { runId, timeoutMs: 60_000 });

/** The history as the methods show it, after checking that they agree. */
async function shown(talk: Conversation): Promise<string[]> {
  const { client, wsId } = talk;
  const { messages } = await client.call('workstream.history', { wsId });
  const { snapshot } = await client.call('workstream.get', { wsId });
  const { messages: chat } = await client.call('chat.history', { sessionKey: wsId });
  assert.deepEqual(toLines(snapshot.messages), toLines(messages));
  assert.equal(chat.length, messages.length);
  return toLines(messages);
}

const toLines = (messages: { role: string; content: string | null }[]) =>
  messages.map(({ role, content }) => `${role}: ${content}`);

/** The history at the beginning of a new event stream. */
async function streamed(talk: Conversation): Promise<string[]> {
  await using stream = await daemon.sse(talk.wsId);
  return toLines((await stream.until('history')).data.messages);
}

async function killAndRestart(talk: Conversation): Promise<void> {
  await daemon.kill9();
  await daemon.restart();
  await talk.reconnect();
}

const ONE = ['user: one', 'assistant: ONE'];
const TWO = ['user: two', 'assistant: TWO'];

test('after a rewind the model is sent what is left, also after a kill', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  await speak(talk, 'one', 'look', 'three');
  assert.deepEqual(await client.call('workstream.rewind', { wsId, turns: 2 }), { status: 'ok', afterSeq: 2, taken: 6 });
  assert.deepEqual(await streamed(talk), ONE);
  await killAndRestart(talk);
  assert.deepEqual([await shown(talk), await streamed(talk)], [ONE, ONE]);
  await speak(talk, 'two');
  assert.deepEqual(told(), [...ONE, 'user: two']);
  assert.deepEqual(await shown(talk), [...ONE, ...TWO]);
  readLedger(daemon.home, wsId); // the database is consistent
});

test('a retry that a kill interrupts is answered after the restart, without the old answer', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  await speak(talk, 'one', 'two');
  const stalled = stall();
  model.when('two', [say('half'), stalled]);
  const { runId } = await client.call('workstream.retry', { wsId, idempotencyKey: `retry of ${wsId}` });
  await stalled.reached;
  model.when('two', say('better'));
  await killAndRestart(talk);
  assert.equal((await isOver(talk, runId)).status, 'ok');
  assert.deepEqual(told(), [...ONE, 'user: two']);
  assert.deepEqual(await shown(talk), [...ONE, 'user: two', 'assistant: better']);
  const again = await client.call('workstream.retry', { wsId, idempotencyKey: `retry of ${wsId}` });
  assert.deepEqual(again, { status: 'ok', runId }, 'the same key answers nothing twice');
  model.when('two', say('TWO'));
});

test('after a refusal in the middle of a turn with tools, a message, a retry and a rewind all go on', async () => {
  const results = ['assistant: null', 'tool: [the folder is empty]'];
  const ways: [name: string, go: (talk: Conversation) => Promise<unknown>, told: string[]][] = [
    ['a message', (talk) => speak(talk, 'two'), ['user: break it', ...results, 'user: two']],
    ['a retry', (talk) => again(talk), ['user: break it']],
    ['a rewind', (talk) => back(talk), ['user: two']],
  ];
  const again = async (talk: Conversation) => {
    model.when('break it', say('MENDED'));
    await talk.client.call('workstream.retry', { wsId: talk.wsId, idempotencyKey: talk.wsId });
    await isOver(talk, talk.wsId);
  };
  const back = async (talk: Conversation) => {
    await talk.client.call('workstream.rewind', { wsId: talk.wsId, turns: 1 });
    await speak(talk, 'two');
  };
  for (const [name, go, expected] of ways) {
    await using talk = await openConversation(daemon);
    model.when(
      'break it',
      callTools({ name: 'list_directory', arguments: { path: '.' } }),
      fail(400, { message: 'no' }),
    );
    await speak(talk, 'break it');
    await killAndRestart(talk);
    await go(talk);
    assert.deepEqual(told(), expected, name);
    readLedger(daemon.home, talk.wsId); // the database is consistent
  }
});

test('an edited message is sent in place of the old one and everything after it', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  await speak(talk, 'one', 'look', 'two');
  const { runId } = await client.call('workstream.edit', { wsId, seq: 3, message: 'three' });
  await isOver(talk, runId);
  assert.deepEqual(told(), [...ONE, 'user: three']);
  assert.deepEqual(await shown(talk), [...ONE, 'user: three', 'assistant: THREE']);
});

test('a removed message is neither shown nor sent, also after a kill', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  await speak(talk, 'one', 'poison');
  await client.call('workstream.remove', { wsId, seq: 3 });
  await killAndRestart(talk);
  assert.deepEqual(await shown(talk), ONE);
  await speak(talk, 'two');
  assert.deepEqual(told(), [...ONE, 'user: two']);
});

test('a fork continues separately, and a second client of the original sees nothing of it', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  await speak(talk, 'one', 'two');
  const fork = await client.call('workstream.fork', { wsId, seq: 2, name: 'branch' });
  await killAndRestart(talk);
  await client.call('agent', { sessionKey: fork.wsId, message: 'three', idempotencyKey: `three in ${fork.wsId}` });
  assert.deepEqual(told(), [...ONE, 'user: three']);
  assert.deepEqual(await shown(talk), [...ONE, ...TWO]);
});

test('a second client gets the events, live and from an old cursor', async () => {
  await using talk = await openConversation(daemon);
  const { client, wsId } = talk;
  await speak(talk, 'one');
  await using live = await daemon.sse(wsId);
  const { id } = await live.until('history');
  await speak(talk, 'two');
  await client.call('workstream.rewind', { wsId, turns: 1 });
  const rewound = { type: 'rewound', ws_id: wsId, after_seq: 2, reason: 'rewind' };
  assert.deepEqual((await live.until('rewound')).data, rewound);
  await killAndRestart(talk);
  await using later = await daemon.sse(`/v1/api/events?ws_id=${wsId}&resume=1`, { lastEventId: id });
  const isQuestion = ({ data }: { data: { type: string; seq?: number } }) =>
    data.type === 'user_turn' && data.seq === 3;
  await later.until(isQuestion);
  assert.deepEqual((await later.until('rewound')).data, rewound);
});
