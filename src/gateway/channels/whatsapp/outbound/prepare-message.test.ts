import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { tempStore } from '../../../../testing/temp-store.ts';
import { noteWritten, putChat } from '../../inbox/chat-rows.ts';
import { storeUpdates } from '../../inbox/inbox-rows.ts';
import type { OutgoingMessage } from '../outgoing.ts';
import { prepareMessage } from './prepare-message.ts';

const ADA = '4915112345';
const HOUR_MS = 3_600_000;
const NOW_MS = 1_000 * HOUR_MS;

/** The types of messages in which a reply goes out. */
async function typesOf(store: Awaited<ReturnType<typeof tempStore>>): Promise<string[]> {
  const sent: string[] = [];
  const number = {
    api: { send: async (_to: string, { type }: OutgoingMessage) => `id-${sent.push(type)}` },
    settings: { template: { name: 'answer_ready', language: 'en' } },
  };
  const delivery = { messageId: 'reply:1', to: ADA, message: 'Commands: /stop', from: 'headgate', acceptedMs: NOW_MS };
  const signal = new AbortController().signal;
  const fetch = () => assert.fail('it has no file');
  const prepared = await prepareMessage(delivery, number as never, { store, clock: fakeClock(NOW_MS), signal, fetch });
  for (const chunk of prepared.render()) await prepared.send(chunk, { isLast: true });
  return sent;
}

test('a command, a button or a refused message opens the 24 hours for free text', async () => {
  await using store = await tempStore();
  const account = { channel: 'whatsapp', account: '1' };
  const arrives = (updateId: string, { chat, hoursAgo }: { chat: string; hoursAgo: number }) =>
    store.commit({
      statements: storeUpdates(account, [{ updateId, chat, senderId: ADA, body: {} }], NOW_MS - hoursAgo * HOUR_MS),
    });
  assert.deepEqual(await typesOf(store), ['template']);
  await arrives('long ago', { chat: ADA, hoursAgo: 25 });
  assert.deepEqual(await typesOf(store), ['template']);
  const chat = { channel: 'whatsapp', chat: ADA, kind: 'dm', session_key: 'k', ws_id: 'w', title: 't' } as const;
  const times = { last_in_ms: null, last_out_ms: null, last_sender: ADA, owes_notice: 0, created_ms: 1 } as const;
  const wroteMs = NOW_MS - 25 * HOUR_MS;
  await store.commit({
    statements: [putChat({ ...chat, ...times }), noteWritten(chat, { senderId: ADA, nowMs: wroteMs })],
  });
  assert.deepEqual(await typesOf(store), ['template']);
  await arrives('pressed a button', { chat: '', hoursAgo: 1 });
  assert.deepEqual(await typesOf(store), ['text']);
});
