import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';

const TOKEN = '4242:scripted-bot-token-for-tests';
const ADA = 101;

/** A daemon with a bot that Ada may write to, and a client of its operator. */
async function setUp(settings: object = {}) {
  const telegram = await startTelegramServer({ token: TOKEN });
  const model = await startScriptedModel();
  const bot = { botToken: TOKEN, apiRoot: telegram.apiRoot, allowFrom: [ADA], ...settings };
  const daemon = await startDaemon({ model: model.url, config: { channels: { telegram: bot } } });
  const ada = telegram.person({ name: 'Ada', id: ADA });
  const client = await daemon.client();
  return {
    ...{ daemon, ada, model, client },
    async writes(text: string, answer: string) {
      model.when(text, say(answer));
      ada.says(text);
      await ada.chat.until((sent) => sent.text === answer);
    },
    /** Runs a job with this answer now; resolves with the record of its run. */
    async job(answer: string, delivery: object) {
      model.when(answer, say(answer));
      const { id } = await client.call('cron.add', {
        name: answer,
        schedule: { kind: 'every', everyMs: 3_600_000 },
        sessionTarget: 'isolated',
        wakeMode: 'next-heartbeat',
        payload: { kind: 'agentTurn', message: answer, deliver: true, ...delivery },
        tellMain: false,
        idempotencyKey: answer,
      });
      await client.call('cron.run', { id, mode: 'force' });
      const { entries } = await client.call('cron.runs', { id });
      return entries[0];
    },
    send: (params: { to?: string; provider?: string; message: string }) =>
      client.call('send', { ...params, idempotencyKey: params.message }),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

test('the answer of a job goes to the chat from which people last wrote to the main session, and so does a message to `last`', async () => {
  await using stage = await setUp({ session: 'main' });
  const { ada } = stage;
  const early = await stage.job('too early', { channel: 'last' });
  assert.deepEqual(
    [early?.status, early?.error],
    ['error', 'deliver needs `to`: this session has neither received nor sent anything by a channel yet'],
  );
  await stage.writes('hello', 'Hi Ada.');
  assert.equal((await stage.job('The report.', { channel: 'last' }))?.status, 'ok');
  await ada.chat.until(({ text }) => text === 'The report.');
  const { provider, chatId } = await stage.send({ provider: 'last', message: 'By the way' });
  assert.deepEqual([provider, chatId], ['telegram', '101']);
  await ada.chat.until(({ text }) => text === 'By the way');
  assert.deepEqual(ada.chat.texts, ['Hi Ada.', 'The report.', 'By the way']);
});

test('the operator names a private chat as the destination of a job; its session is also where `agent` and `send` find it', async () => {
  await using stage = await setUp();
  const { ada, client, model } = stage;
  await stage.writes('hello', 'Hi Ada.');
  assert.equal((await stage.job('The report.', { channel: 'telegram', to: '101' }))?.status, 'ok');
  await ada.chat.until(({ text }) => text === 'The report.');
  model.when('anything new?', say('Nothing new.'));
  const session = { sessionKey: 'telegram:dm:101', deliver: true };
  await client.call('agent', { ...session, message: 'anything new?', idempotencyKey: 'a' });
  await ada.chat.until(({ text }) => text === 'Nothing new.');
  await stage.send({ provider: 'last', to: 'telegram:dm:101', message: 'A note.' });
  await ada.chat.until(({ text }) => text === 'A note.');
  await assert.rejects(stage.send({ provider: 'last', message: 'to nobody' }), {
    code: 'INVALID_REQUEST',
    message: 'provider last: nobody has written to the session main from a chat; name a provider and a destination',
  });
  await assert.rejects(stage.send({ provider: 'last', to: 'nowhere', message: 'to a session that is not there' }), {
    code: 'NOT_FOUND',
  });
  await assert.rejects(stage.send({ message: 'to what?' }), { code: 'INVALID_REQUEST' });
});

test('after a person was revoked, `last` does not lead to the chat any more', async () => {
  await using stage = await setUp({ session: 'main' });
  await stage.writes('hello', 'Hi Ada.');
  await stage.client.call('channel.revoke', { channel: 'telegram', senderId: String(ADA) });
  await assert.rejects(stage.send({ provider: 'last', message: 'secret' }), { code: 'INVALID_REQUEST' });
  const run = await stage.job('The report.', { channel: 'last' });
  assert.equal(run?.status, 'error');
  assert.deepEqual(stage.ada.chat.texts, ['Hi Ada.']);
});
