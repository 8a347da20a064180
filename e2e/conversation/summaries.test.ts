import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { isForSummary } from '../support/model/bounded-answers.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { fail, say, useTokens } from '../support/model/scripted-steps.ts';

const model = await startScriptedModel();
const writer = await startScriptedModel();
const server = (url: string, more: object = {}) => ({
  provider: 'openai-compatible',
  baseUrl: url,
  model: 'm',
  maxOutputTokens: 100,
  ...more,
});
const daemon = await startDaemon({
  config: {
    models: {
      main: server(model.url, { contextWindow: 8_192 }),
      compaction: server(writer.url, { fallback: ['other'] }),
      other: server(writer.url, { model: 'other' }),
    },
    budgets: { day: { tokens: 1_000_000 } },
  },
  env: { HEADGATE_MODEL: 'main' },
});
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await Promise.all([model.close(), writer.close()]);
});

const LONG = 'word '.repeat(1_000);
const BUSY = fail(429, { retryAfterSecs: 200 });

/** A conversation that is worth a summary. */
async function longTalk(): Promise<Conversation> {
  model.onRequest(() => [useTokens({ prompt: 500, completion: 100 }), say('noted')]);
  const talk = await openConversation(daemon);
  for (let n = 0; n < 3; n += 1) await (await talk.ask(`${n} ${LONG}`)).answer;
  return talk;
}

const compact = (talk: Conversation) =>
  talk.client.call('workstream.command', { wsId: talk.wsId, command: '/compact' });

test('a summary is written by the fallback of its model, and the conversation says so', async () => {
  await using talk = await longTalk();
  writer.onRequest((body) => (body.model === 'other' ? say('SUMMARY') : BUSY));
  await compact(talk);
  const told = await talk.until('info', ({ code }) => code === 'model_fallback');
  assert.match(told.message, /^compaction cannot answer, so other writes the summary\. /);
  const { summary } = await talk.until('compacted');
  assert.match(summary, /SUMMARY/);
  const question = await talk.ask('go on');
  await question.answer;
  assert.equal(model.requests.at(-1)?.body.model, 'm', 'the model that wrote it does not answer the run');
});

test('a summary that waits for its model says so, and "try now" ends the wait', async () => {
  await using talk = await longTalk();
  writer.onRequest(() => BUSY);
  model.onRequest(() => BUSY);
  await compact(talk);
  const { reason, model_alias: alias } = await talk.until('wait_start');
  assert.deepEqual([reason, alias], ['rate_limited', 'main']);
  model.onRequest(() => say('AT LAST'));
  const { wsId, client } = talk;
  assert.deepEqual(await client.call('workstream.proceed', { wsId }), { status: 'ok', wasWaiting: true });
  assert.match((await talk.until('compacted')).summary, /AT LAST/);
  assert.ok(talk.seen.some(({ event }) => event.type === 'wait_stop'));
});

test('a cancel stops a summary that waits for its model', async () => {
  await using talk = await longTalk();
  writer.onRequest(() => BUSY);
  model.onRequest(() => BUSY);
  await compact(talk);
  await talk.until('wait_start');
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await talk.until('info', ({ message }) => message === 'The summary was cancelled. The conversation stays as it was.');
  assert.ok(talk.seen.some(({ event }) => event.type === 'wait_stop'));
});

test('a run whose summary has to wait shows it, too', async () => {
  await using talk = await longTalk();
  writer.onRequest(() => BUSY);
  let isBusy = true;
  model.onRequest((body) => {
    if (isForSummary(body)) return isBusy ? BUSY : say('SUMMARY');
    return [useTokens({ prompt: 7_500, completion: 10 }), say('full')];
  });
  await (await talk.ask('fill it')).answer;
  await using stream = await daemon.sse(talk.wsId);
  await stream.until('history');
  const question = await talk.ask('and on');
  await talk.until('wait_start');
  await stream.until(({ data }) => data.type === 'compaction' && data.phase === 'start');
  isBusy = false;
  await talk.client.call('workstream.proceed', { wsId: talk.wsId });
  await question.answer;
  const { data: compacted } = await stream.until('compacted');
  const { data: end } = await stream.until(({ data }) => data.type === 'compaction' && data.phase === 'end');
  assert.deepEqual({ ...end, ...compacted, type: '' }, { ...end, type: '' });
  assert.deepEqual([end.ok, end.after_tokens < end.before_tokens], [true, true]);
  const { rows } = await talk.client.call('usage.get', { by: 'workstream', wsId: talk.wsId });
  assert.equal(rows[0]?.estimatedTokens, undefined, 'every request was counted exactly');
});
