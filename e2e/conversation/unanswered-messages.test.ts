import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import type { Answer, ChatRequest } from '../support/model/scripted-model.ts';
import { errorChunk, fail, finishWith, say, stall, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const REFUSED = fail(400, { message: 'too much of it' });
/** The messages sent to the model in a conversation, without the system prompt. */
const toldOf = (body: ChatRequest | undefined) =>
  body?.messages.slice(1).map(({ role, content }) => `${role}: ${content}`);
const lastTold = () => toldOf(model.requests.at(-1)?.body);

async function speak(talk: Conversation, text: string): Promise<void> {
  const { answer } = await talk.ask(text);
  await answer.catch(() => undefined); // a failed run rejects
}

const failuresOf = async (talk: Conversation) => {
  const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId });
  return messages.map(({ content, failed }) => [content, failed?.code]);
};

test('a refused message stays in the history with its reason, and no later request contains it, even after a restart', async () => {
  await using talk = await openConversation(daemon);
  model.when('poison', REFUSED);
  model.when('later', say('fine'));
  await speak(talk, 'poison');
  await speak(talk, 'later one');
  assert.deepEqual(lastTold(), ['user: later one']);
  await daemon.restart();
  await talk.reconnect();
  await speak(talk, 'later two');
  assert.deepEqual(lastTold(), ['user: later one', 'assistant: fine', 'user: later two']);
  assert.deepEqual(await failuresOf(talk), [
    ['poison', 'refused'],
    ...['later one', 'fine', 'later two', 'fine'].map((content) => [content, undefined]),
  ]);
  const { messages } = await talk.client.call('chat.history', { sessionKey: talk.wsId });
  await using stream = await daemon.sse(talk.wsId);
  const { data } = await stream.until('history');
  for (const failed of [messages[0]?.failed, data.messages[0].failed]) {
    assert.equal(failed?.code, 'refused');
    assert.match(failed?.text, /answered 400: too much of it$/);
  }
  readLedger(daemon.home, talk.wsId); // the database is consistent
});

test('if a run ends before its answer, for any reason, the next request does not contain its message', async () => {
  const ends: [code: string, text: string, answer: Answer][] = [
    ['unauthorized', 'no key', fail(401)],
    ['interrupted', 'no words', [think('hm'), errorChunk('gone')]],
    ['content_filter', 'filtered', finishWith('content_filter')],
  ];
  for (const [code, text, answer] of ends) {
    await using talk = await openConversation(daemon);
    model.when(text, answer);
    model.when('afterwards', say('fine'));
    await speak(talk, text);
    await speak(talk, 'afterwards');
    assert.deepEqual(lastTold(), ['user: afterwards'], code);
    assert.deepEqual((await failuresOf(talk))[0], [text, code]);
  }
});

test('a message queued behind a refused one is sent without it, also if it has a picture', async () => {
  await using talk = await openConversation(daemon);
  const held = stall();
  model.when('poison', [held, REFUSED]);
  model.when('queued', say('fine'));
  const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(64, 7)]).toString('base64');
  await talk.client.call('chat.send', {
    ...{ sessionKey: talk.wsId, message: 'poison with a picture', idempotencyKey: `p-${talk.wsId}` },
    attachments: [{ type: 'image', mimeType: 'image/png', content: picture }],
  });
  await held.reached;
  const queued = await talk.ask('queued');
  held.release();
  await talk.ended(queued);
  assert.deepEqual(lastTold(), ['user: queued']);
  const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId });
  assert.deepEqual([messages[0]?.failed?.code, messages[0]?.attachments?.length], ['refused', 1]);
});

test('a cancelled message and a message with a partial answer stay in later requests', async () => {
  await using talk = await openConversation(daemon);
  const held = stall();
  model.when('mow the lawn', held);
  model.when('and the hedge', [say('So'), errorChunk('gone')]);
  model.when('last', say('fine'));
  const first = await talk.ask('mow the lawn');
  first.answer.catch(() => undefined);
  await held.reached;
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await talk.ended(first);
  await speak(talk, 'and the hedge');
  await speak(talk, 'last');
  assert.deepEqual(lastTold(), ['user: mow the lawn\n\nand the hedge', 'assistant: So', 'user: last']);
  assert.deepEqual(
    (await failuresOf(talk)).map(([, failed]) => failed),
    [undefined, undefined, undefined, undefined, undefined],
  );
});

test('a refused turn of a job does not affect its next turn', async () => {
  const client = await daemon.client();
  const { id } = await client.call('cron.add', {
    ...{ schedule: { kind: 'every', everyMs: 3_600_000 }, sessionTarget: 'isolated', wakeMode: 'next-heartbeat' },
    payload: { kind: 'agentTurn', message: 'the daily report' },
  });
  const told: (string[] | undefined)[] = [];
  model.onRequest((body) => {
    if (!JSON.stringify(body.messages.at(-1)).includes('the daily report')) return undefined;
    return told.push(toldOf(body)) === 1 ? REFUSED : say('done');
  });
  for (const _turn of [1, 2]) {
    const finished = Promise.withResolvers<void>();
    const stop = client.on('cron', ({ action }) => action === 'finished' && finished.resolve());
    await client.call('cron.run', { id, mode: 'force' });
    await finished.promise;
    stop();
  }
  assert.deepEqual(
    told.map((messages) => messages?.length),
    [1, 1],
  );
});

test('the page marks a message without an answer, both at once and after a reload', async (t) => {
  model.when('poison', REFUSED);
  model.when('later', say('fine'));
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'marked');
  await send(page, 'poison');
  await state(page, 'error');
  const isMarked = async () => {
    await page.locator('.block.user .failed').waitFor();
    const [question] = await blocksOf(page);
    assert.equal(question, 'You: poison Not answered, and no longer sent to the model');
    assert.match((await page.locator('.failed').getAttribute('title')) ?? '', /answered 400: too much of it/);
  };
  await isMarked();
  await page.reload();
  await isMarked();
  await send(page, 'later');
  await page.getByRole('article').getByText('fine').waitFor();
  assert.deepEqual(lastTold(), ['user: later']);
});
