import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../src/testing/fake-clock.ts';
import { type BotAnswer, postTo } from './telegram/post-to.ts';
import { startTelegramServer } from './telegram-server.ts';

const idsOf = ({ result }: BotAnswer): unknown[] =>
  Array.isArray(result) ? result.map(({ update_id }) => update_id) : [];

test('a poll waits for an update, and an offset acknowledges it', async () => {
  await using server = await startTelegramServer();
  const ada = server.person({ name: 'Ada', username: 'ada' });
  const polled = postTo(server, 'getUpdates', { timeout: 50 });
  await server.call('getUpdates');
  const said = ada.says('/start now');
  const { result } = await polled;
  assert.deepEqual(result, [
    { update_id: 1000, message: { ...said, entities: [{ type: 'bot_command', offset: 0, length: 6 }] } },
  ]);
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', {})), [1000], 'it was not acknowledged');
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', { offset: 1001 })), []);
  await server.untilAcknowledged();
});

test('a poll ends after its time, by the clock', async () => {
  const clock = fakeClock(1_000_000);
  await using server = await startTelegramServer({ clock });
  const polled = postTo(server, 'getUpdates', { timeout: 30 });
  await server.call('getUpdates');
  await clock.advance(30_000);
  assert.deepEqual(await polled, { ok: true, result: [] });
});

test('a second poll ends the first with 409, and a poll with a webhook is refused', async () => {
  await using server = await startTelegramServer();
  const first = postTo(server, 'getUpdates', { timeout: 50 });
  await server.call('getUpdates');
  const second = postTo(server, 'getUpdates', { timeout: 50 });
  assert.deepEqual([(await first).error_code, server.updates.mostPolls, server.updates.conflicts], [409, 2, 1]);
  await postTo(server, 'setWebhook', { url: 'https://bot.example.com/hook' });
  assert.equal((await second).error_code, 409);
  assert.match((await postTo(server, 'getUpdates', {})).description ?? '', /while webhook is active/);
  await postTo(server, 'deleteWebhook', {});
  assert.equal((await postTo(server, 'getUpdates', {})).ok, true);
});

test('a poll whose caller hung up is no longer open', async () => {
  await using server = await startTelegramServer();
  const hangUp = new AbortController();
  const first = postTo(server, 'getUpdates', { timeout: 50, signal: hangUp.signal });
  await server.call('getUpdates');
  hangUp.abort();
  await assert.rejects(first);
  server.person().says('hello');
  assert.equal(idsOf(await postTo(server, 'getUpdates', { timeout: 50 })).length, 1);
});

test('only allowed types of updates come, and a limit limits them', async () => {
  await using server = await startTelegramServer();
  const ada = server.person();
  await postTo(server, 'getUpdates', { allowed_updates: ['message'] });
  const message = ada.says('a');
  ada.edits(message, 'b');
  ada.says('c');
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', { limit: 1 })), [1000]);
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', {})), [1000, 1001]);
});

test('updates come again, or out of order, on demand', async () => {
  await using server = await startTelegramServer();
  const ada = server.person();
  server.updates.hold();
  for (const text of ['a', 'b', 'c']) ada.says(text);
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', {})), []);
  server.updates.release([2, 0, 1]);
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', {})), [1002, 1000, 1001]);
  await postTo(server, 'getUpdates', { offset: 1003 });
  server.updates.repeat(2);
  assert.deepEqual(idsOf(await postTo(server, 'getUpdates', {})), [1000, 1001]);
});

test('a message is shown as people see it, with its buttons, edits and reactions', async () => {
  await using server = await startTelegramServer();
  const ada = server.person();
  const said = ada.says('please');
  const keyboard = { inline_keyboard: [[{ text: 'Approve', callback_data: 'a:1' }]] };
  await postTo(server, 'sendMessage', {
    chat_id: ada.id,
    text: '<b>Run</b> it?',
    parse_mode: 'HTML',
    reply_markup: keyboard,
    reply_parameters: { message_id: said.message_id },
  });
  const seen = await ada.chat.next();
  assert.deepEqual(
    [seen.text, seen.entities, seen.buttons, seen.replyTo],
    ['Run it?', [{ type: 'bold', offset: 0, length: 3 }], [{ text: 'Approve', data: 'a:1' }], said.message_id],
  );
  const pressed = ada.presses('Approve');
  const { result } = await postTo(server, 'getUpdates', { allowed_updates: [] });
  const query = Array.isArray(result) ? result.at(-1).callback_query : undefined;
  assert.deepEqual([query.data, query.message.text], ['a:1', 'Run it?']);
  await postTo(server, 'answerCallbackQuery', { callback_query_id: query.id, text: 'Approved' });
  assert.deepEqual(await pressed, { text: 'Approved', isAlert: false });
  const place = { chat_id: ada.id, message_id: seen.messageId };
  await postTo(server, 'editMessageText', { ...place, text: 'Approved' });
  assert.match(
    (await postTo(server, 'editMessageText', { ...place, text: 'Approved' })).description ?? '',
    /is not modified/,
  );
  assert.deepEqual([seen.text, seen.buttons, seen.edits], ['Approved', [], 1]);
  await postTo(server, 'setMessageReaction', {
    chat_id: ada.id,
    message_id: said.message_id,
    reaction: [{ type: 'emoji', emoji: '👀' }],
  });
  assert.deepEqual(ada.chat.reactions.get(said.message_id), ['👀']);
  await postTo(server, 'deleteMessage', place);
  assert.deepEqual(ada.chat.texts, []);
});
