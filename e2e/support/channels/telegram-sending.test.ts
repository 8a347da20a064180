import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../src/testing/fake-clock.ts';
import { postTo } from './telegram/post-to.ts';
import { TELEGRAM_PACE } from './telegram/send-limits.ts';
import { startTelegramServer } from './telegram-server.ts';

for (const [name, params, description] of [
  ['an empty text', { text: '' }, 'Bad Request: message text is empty'],
  ['a text of mark-up only', { text: '<b> </b>', parse_mode: 'HTML' }, 'Bad Request: text must be non-empty'],
  ['4097 units', { text: `${'😀'.repeat(2048)}x` }, 'Bad Request: message is too long'],
  [
    'broken mark-up',
    { text: '<b>', parse_mode: 'HTML' },
    `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`,
  ],
  [
    'a reply to a missing message',
    { text: 'x', reply_parameters: { message_id: 99 } },
    'Bad Request: message to be replied not found',
  ],
  [
    '65 bytes of data',
    { text: 'x', reply_markup: { inline_keyboard: [[{ text: 'b', callback_data: 'é'.repeat(33) }]] } },
    'Bad Request: BUTTON_DATA_INVALID',
  ],
  ['an unknown chat', { text: 'x', chat_id: 5 }, 'Bad Request: chat not found'],
  ['an unknown topic', { text: 'x', message_thread_id: 5 }, 'Bad Request: message thread not found'],
] as const)
  test(`sendMessage refuses ${name}`, async () => {
    await using server = await startTelegramServer();
    const { id, chat } = server.person();
    assert.deepEqual(await postTo(server, 'sendMessage', { chat_id: chat.id, ...params }), {
      ok: false,
      error_code: 400,
      description,
    });
    assert.deepEqual([chat.texts, id], [[], chat.id]);
  });

test('sendMessage accepts 4096 units after parsing, and a reply to a missing message if that is allowed', async () => {
  await using server = await startTelegramServer();
  const { chat } = server.person();
  const text = `<b>${'&lt;'.repeat(4096)}</b>`;
  const reply_parameters = { message_id: 99, allow_sending_without_reply: true };
  assert.equal(
    (await postTo(server, 'sendMessage', { chat_id: chat.id, text, parse_mode: 'HTML', reply_parameters })).ok,
    true,
  );
  assert.equal(chat.sent[0]?.text, '<'.repeat(4096));
});

test('more than one message in a second is refused with the time to wait, for that chat only', async () => {
  const clock = fakeClock(1_000_000);
  await using server = await startTelegramServer({ clock, pace: TELEGRAM_PACE });
  const [ada, ben] = [server.person(), server.person()];
  const send = async (person: typeof ada) =>
    (await postTo(server, 'sendMessage', { chat_id: person.chat.id, text: 'x' })).parameters;
  assert.deepEqual([await send(ada), await send(ada), await send(ben)], [undefined, { retry_after: 1 }, undefined]);
  await clock.advance(1_000);
  assert.equal(await send(ada), undefined);
});

test('more than one edit in a second is refused, and so is a text that is too long', async () => {
  const clock = fakeClock(1_000_000);
  await using server = await startTelegramServer({ clock, pace: TELEGRAM_PACE });
  const { chat } = server.person();
  await postTo(server, 'sendMessage', { chat_id: chat.id, text: 'x' });
  const edit = (text: string) => postTo(server, 'editMessageText', { chat_id: chat.id, message_id: 1, text });
  assert.deepEqual([(await edit('y')).ok, (await edit('z')).parameters], [true, { retry_after: 1 }]);
  await clock.advance(1_000);
  assert.equal((await edit('z'.repeat(4_097))).description, 'Bad Request: message is too long');
  assert.equal((await edit('z')).ok, true);
});

test('people who blocked the bot, and groups that moved, refuse messages', async () => {
  await using server = await startTelegramServer();
  const ada = server.person();
  const group = server.group({ type: 'group' });
  ada.blocks();
  const moved = server.migrate(group, ada);
  const send = (chat_id: number) => postTo(server, 'sendMessage', { chat_id, text: 'x' });
  assert.deepEqual(
    [(await send(ada.id)).error_code, (await send(group.id)).parameters],
    [403, { migrate_to_chat_id: moved.id }],
  );
  assert.equal((await send(moved.id)).ok, true);
});

test('a bot in privacy mode sees commands, mentions and replies', async () => {
  await using server = await startTelegramServer();
  const ada = server.person();
  const group = server.group({ isPrivacyMode: true });
  await postTo(server, 'sendMessage', { chat_id: group.id, text: 'hello' });
  const options = { in: group };
  for (const text of ['lunch?', '/new', 'hi @Headgate_bot']) ada.says(text, options);
  const [hello] = group.sent;
  ada.says('yes', { ...options, ...(hello && { replyTo: hello }), quote: 'hell' });
  const seen = server.updates.pending.map(({ message }) => [message?.text, message?.quote?.text]);
  assert.deepEqual(seen, [
    ['/new', undefined],
    ['hi @Headgate_bot', undefined],
    ['yes', 'hell'],
  ]);
});

test('files come as updates, and can be downloaded', async () => {
  await using server = await startTelegramServer();
  const ada = server.person();
  const photo = { kind: 'photo', bytes: Buffer.from('picture'), caption: 'look' } as const;
  const album = ada.sendsAlbum([photo, photo]);
  assert.equal(album[0]?.media_group_id, album[1]?.media_group_id);
  const { result } = await postTo(server, 'getFile', { file_id: album[0]?.photo?.[0]?.file_id });
  const path = String(Reflect.get(Object(result), 'file_path'));
  const response = await fetch(`${server.apiRoot}/file/bot${server.token}/${path}`);
  assert.equal(await response.text(), 'picture');
  const big = ada.sends({ ...photo, kind: 'document', announcedSize: 21 * 1024 * 1024 });
  const refused = await postTo(server, 'getFile', { file_id: big.document?.file_id });
  assert.equal(refused.description, 'Bad Request: file is too big');
});

test('the bot sends files as a form or by address', async () => {
  await using server = await startTelegramServer();
  const { chat } = server.person();
  const form = new FormData();
  form.append('chat_id', String(chat.id));
  form.append('caption', 'a <i>file</i>');
  form.append('parse_mode', 'HTML');
  form.append('document', new Blob(['content'], { type: 'text/plain' }), 'a.txt');
  const response = await fetch(`${server.apiRoot}/bot${server.token}/sendDocument`, { method: 'POST', body: form });
  assert.equal(response.status, 200);
  await postTo(server, 'sendPhoto', { chat_id: chat.id, photo: 'https://example.com/a.png' });
  assert.deepEqual(
    chat.sent.map(({ text, file }) => [text, file]),
    [
      ['a file', { kind: 'document', fileName: 'a.txt', mimeType: 'text/plain', bytes: Buffer.from('content') }],
      ['', { kind: 'photo', url: 'https://example.com/a.png' }],
    ],
  );
  const long = await postTo(server, 'sendVoice', {
    chat_id: chat.id,
    voice: 'https://example.com/a',
    caption: 'x'.repeat(1025),
  });
  assert.equal(long.description, 'Bad Request: message caption is too long');
});
