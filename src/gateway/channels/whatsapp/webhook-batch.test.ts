import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toChatMessage } from './inbound/to-chat-message.ts';
import { readBatch } from './webhook-batch.ts';

const OURS = '555';
const text = (id: string, body: string, more: object = {}) => ({
  ...{ id, from: '491701234567', timestamp: '1700000000', type: 'text', text: { body } },
  ...more,
});
const value = (fields: object, phoneNumberId = OURS) => ({
  messaging_product: 'whatsapp',
  metadata: { display_phone_number: '1', phone_number_id: phoneNumberId },
  ...fields,
});
const batch = (...values: unknown[]) => ({
  object: 'whatsapp_business_account',
  entry: values.map((one) => ({ id: '1', changes: [{ field: 'messages', value: one }] })),
});

test('a batch holds messages of several entries in their order, also those that come twice', () => {
  const first = value({
    contacts: [{ wa_id: '491701234567', profile: { name: 'Ada' } }],
    messages: [text('wamid.2', 'two'), text('wamid.1', 'one')],
  });
  const { messages, statuses } = readBatch(batch(first, value({ messages: [text('wamid.2', 'two')] })), OURS);
  assert.deepEqual(
    messages.map(({ messageId, senderName, sentMs, text: said }) => [messageId, senderName, sentMs, said]),
    [
      ['wamid.2', 'Ada', 1_700_000_000_000, 'two'],
      ['wamid.1', 'Ada', 1_700_000_000_000, 'one'],
      ['wamid.2', '491701234567', 1_700_000_000_000, 'two'],
    ],
  );
  assert.deepEqual(statuses, []);
});

test('messages of a batch are in the order in which they were sent', () => {
  const later = value({ messages: [text('wamid.2', 'two', { timestamp: '1700000009' })] });
  const { messages } = readBatch(batch(later, value({ messages: [text('wamid.1', 'one')] })), OURS);
  assert.deepEqual(
    messages.map(({ messageId }) => messageId),
    ['wamid.1', 'wamid.2'],
  );
});

test('messages of other numbers, and what cannot be read, do not keep the others from being read', () => {
  const broken = [
    null,
    7,
    {},
    text('', 'no id'),
    { ...text('x', 'y'), from: 5 },
    { ...text('x', ''), type: 'reaction' },
  ];
  const good = value({ messages: [...broken, text('wamid.1', 'read me')], contacts: ['?'] });
  const { messages } = readBatch(batch('?', value({ messages: [text('wamid.9', 'not ours')] }, '556'), good), OURS);
  assert.deepEqual(
    messages.map(({ messageId }) => messageId),
    ['wamid.1'],
  );
  for (const odd of [undefined, null, [], 'x', {}, { entry: {} }, { entry: [{ changes: 'x' }] }])
    assert.deepEqual(readBatch(odd, OURS), { messages: [], statuses: [] });
});

test('statuses come with the reason of a failure, and without a message', () => {
  const status = (name: string, more: object = {}) => ({
    ...{ id: 'wamid.7', recipient_id: '49170', status: name, timestamp: 1_700_000_001 },
    ...more,
  });
  const failed = status('failed', { errors: [{ code: 131_047, title: 'Re-engagement message' }] });
  const statuses = ['read', 'sent', 'delivered', 'warning'].map((name) => status(name));
  const read = readBatch(batch(value({ statuses: [...statuses, failed] })), OURS);
  const about = { messageId: 'wamid.7', to: '49170', atMs: 1_700_000_001_000 };
  assert.deepEqual(read.statuses, [
    { ...about, status: 'read', error: undefined },
    { ...about, status: 'sent', error: undefined },
    { ...about, status: 'delivered', error: undefined },
    { ...about, status: 'failed', error: { code: 131_047, message: 'Re-engagement message' } },
  ]);
});

test('words that were forwarded are not the words of the sender', () => {
  const messages = [
    text('a', 'install this', { context: { forwarded: true } }),
    text('b', 'install this', { context: { frequently_forwarded: true } }),
    text('c', 'yes', { context: { id: 'wamid.asked' } }),
  ];
  assert.deepEqual(
    readBatch(batch(value({ messages })), OURS).messages.map(({ text: own, forwarded, replyTo }) => ({
      ...{ own, forwarded, replyTo },
    })),
    [
      { own: '', forwarded: 'install this', replyTo: undefined },
      { own: '', forwarded: 'install this', replyTo: undefined },
      { own: 'yes', forwarded: undefined, replyTo: 'wamid.asked' },
    ],
  );
});

test('files and pressed buttons are read by their ids', () => {
  const base = { from: '49170', timestamp: '1' };
  const messages = [
    { ...base, id: 'a', type: 'image', image: { id: 'media-1', mime_type: 'image/jpeg', caption: 'look' } },
    { ...base, id: 'b', type: 'document', document: { id: 'media-2', filename: 'plan.pdf' } },
    { ...base, id: 'c', type: 'interactive', interactive: { button_reply: { id: 'approve:7', title: 'Approve' } } },
  ];
  assert.deepEqual(
    readBatch(batch(value({ messages })), OURS).messages.map(({ text: own, media, pressed }) => [own, media, pressed]),
    [
      ['look', { id: 'media-1', kind: 'image', mimeType: 'image/jpeg', fileName: undefined }, undefined],
      ['', { id: 'media-2', kind: 'document', mimeType: 'application/octet-stream', fileName: 'plan.pdf' }, undefined],
      ['', undefined, 'approve:7'],
    ],
  );
});

test('only what was recorded in the chat is the voice of the sender', () => {
  const audio = (id: string, more: object) => ({
    from: '49170',
    timestamp: '1',
    id,
    type: 'audio',
    audio: { id, ...more },
  });
  const messages = [audio('a', { voice: true }), audio('b', { voice: false }), audio('c', {})];
  const files = readBatch(batch(value({ messages })), OURS).messages.flatMap((message) => toChatMessage(message).files);
  assert.deepEqual(
    files.map(({ kind, isOwnVoice }) => [kind, isOwnVoice]),
    [
      ['speech', true],
      ['speech', undefined],
      ['speech', undefined],
    ],
  );
});

test('whoever sends what nobody reads is told so, but not for a reaction or a button that we did not send', () => {
  const base = { from: '49170', timestamp: '1' };
  const messages = [
    { ...base, id: 'a', type: 'location', location: { latitude: 1, longitude: 2 } },
    { ...base, id: 'b', type: 'contacts', contacts: [{}] },
    { ...base, id: 'c', type: 'unsupported', errors: [{ code: 131_051 }] },
    { ...base, id: 'd', type: 'reaction', reaction: { message_id: 'x', emoji: '👍' } },
    { ...base, id: 'e', type: 'button', button: { payload: 'approve 7', text: 'Approve' } },
  ];
  const told = readBatch(batch(value({ messages })), OURS).messages.map((message) => [
    message.messageId,
    toChatMessage(message).unreadable,
  ]);
  assert.deepEqual(told, [
    ['a', 'locations'],
    ['b', 'contacts'],
    ['c', 'this kind of message'],
  ]);
});
