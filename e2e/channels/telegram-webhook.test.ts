import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { readRows } from '../support/channels/stored-rows.ts';
import { setStage } from '../support/channels/telegram-stage.ts';
import { within } from '../support/deadline.ts';
import { say } from '../support/model/scripted-steps.ts';

async function patch(client: GatewayClient, telegram: object): Promise<void> {
  const { hash } = await client.call('config.get', {});
  await client.call('config.patch', { raw: JSON.stringify({ channels: { telegram } }), baseHash: hash });
}

function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const seek = async () => {
    while (!(await isSo()));
  };
  return within(seek(), 60_000, () => what);
}

const untilState = (client: GatewayClient, wanted: string): Promise<void> =>
  until(`telegram in the state ${wanted}`, async () => {
    const { channels } = await client.call('channel.list', {});
    return channels.some(({ channel, state }) => channel === 'telegram' && state === wanted);
  });

const config = { server: { inbound: { burst: 1_000_000, perSecond: 1_000 } } };

test('Telegram calls the daemon with messages, also after a kill, until it is polled again', async () => {
  await using stage = await setStage({ config });
  const { daemon, ada, model, telegram } = stage;
  for (const word of ['one', 'two', 'three']) model.when(word, say(`${word}!`));
  let client = await daemon.client();
  await untilState(client, 'polling');
  await patch(client, { mode: 'webhook', webhookUrl: daemon.url });
  await untilState(client, 'listening');
  ada.says('one');
  // A kill before that would leave open whether the answer has arrived.
  await until('an accepted answer', async () => {
    const { parts } = await client.call('channel.part.list', {});
    return parts.some(({ state }) => state === 'accepted');
  });
  await daemon.kill9();
  ada.says('two');
  await daemon.restart();
  await ada.chat.until(({ text }) => text === 'two!');
  client = await daemon.client();
  await patch(client, { mode: 'poll', webhookUrl: null });
  await untilState(client, 'polling');
  ada.says('three');
  await ada.chat.until(({ text }) => text === 'three!');
  await telegram.untilAcknowledged();
  await daemon.stop();
  assert.deepEqual(ada.chat.texts, ['one!', 'two!', 'three!']);
  assert.equal(readRows(daemon.home).runs, 3);
});

test('a call without the secret of Telegram is refused, and so is every call while the bot is polled', async () => {
  await using stage = await setStage({ config });
  const { daemon, model } = stage;
  const client = await daemon.client();
  const update = { update_id: 7, message: { message_id: 1, from: { id: 101 }, chat: { id: 101 }, text: 'hi' } };
  const post = async (headers: Record<string, string>) => {
    const init = { method: 'POST', headers, body: JSON.stringify(update) };
    return (await fetch(`${daemon.url}/v1/api/channels/telegram/webhook`, init)).status;
  };
  await untilState(client, 'polling');
  assert.equal(await post({}), 404);
  await patch(client, { mode: 'webhook', webhookUrl: daemon.url });
  await untilState(client, 'listening');
  for (const secret of ['', 'x', '0'.repeat(64)])
    assert.equal(await post({ 'x-telegram-bot-api-secret-token': secret }), 403);
  assert.equal(await post({}), 403);
  await daemon.stop();
  assert.deepEqual([readRows(daemon.home).inbox, model.requests], [[], []]);
});
