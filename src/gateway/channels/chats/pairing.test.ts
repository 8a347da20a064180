import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { readWaiting, storeUpdates } from '../inbox/inbox-rows.ts';
import { readSender } from '../inbox/sender-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import { offerPairing } from './pairing.ts';
import { hashOfCode, PAIRING } from './pairing-code.ts';

const OF = { channel: 'telegram', account: '1' };

async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(1_000_000);
  const told: [string, string][] = [];
  let isReachable = true;
  let asked = 0;
  let id = 0;
  const deps = {
    async sendNow(chat: string, text: string) {
      if (!isReachable) throw new Error('not reachable');
      told.push([chat, text]);
    },
    onAsked: () => {
      asked += 1;
    },
    ...{ store, clock, ids: randomIds, log: recordingLog() },
  };
  return {
    ...{ store, clock, told, asked: () => asked },
    unplug: () => {
      isReachable = false;
    },
    /** A stranger writes. Resolves with why the update ended. */
    async ask(senderId: string) {
      const arrived = { updateId: String(++id), chat: senderId, senderId, body: {} };
      await store.commit({ statements: storeUpdates(OF, [arrived], clock.now()) });
      const [row] = await readWaiting(store, OF);
      assert.ok(row);
      const known = await readSender(store, { channel: 'telegram', senderId });
      await offerPairing({ row, message: from(senderId), known }, deps);
      const ended = await store.db
        .selectFrom('channel_inbox')
        .select(['state', 'reason'])
        .where('update_id', '=', arrived.updateId)
        .executeTakeFirstOrThrow();
      assert.equal(ended.state, 'blocked');
      return ended.reason;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const from = (senderId: string): ChatMessage => ({
  ...{ chat: senderId, chatId: senderId, chatKind: 'dm', chatTitle: 'Eve', sessionKey: `telegram:dm:${senderId}` },
  ...{ senderId, senderName: 'Eve', messageId: '1', text: 'hi', foreign: [], files: [], unreadable: undefined },
  ...{ isForBot: true, command: undefined },
});

test('a stranger is told a code once an hour, and only its digest is stored', async () => {
  await using stage = await setUp();
  assert.equal(await stage.ask('7'), 'the sender needs approval');
  const [[chat, text] = ['', '']] = stage.told;
  const [code = ''] = /[A-Z2-9]{5}-[A-Z2-9]{5}/.exec(text) ?? [];
  assert.equal(chat, '7');
  const known = await readSender(stage.store, { channel: 'telegram', senderId: '7' });
  assert.equal(known?.code_hash, hashOfCode(code.toLowerCase()));
  assert.equal(JSON.stringify(known).includes(code), false);
  assert.equal(await stage.ask('7'), 'the sender was told that approval is needed');
  assert.deepEqual([stage.told.length, stage.asked()], [1, 1]);
  await stage.clock.advance(PAIRING.replyEveryMs);
  assert.equal(await stage.ask('7'), 'the sender needs approval');
  assert.equal(stage.told.length, 2);
  const later = await readSender(stage.store, { channel: 'telegram', senderId: '7' });
  assert.notEqual(later?.code_hash, known?.code_hash, 'the former code ends');
});

test('few strangers get codes at once; others get no answer until a code has ended', async () => {
  await using stage = await setUp();
  for (const sender of ['1', '2', '3']) await stage.ask(sender);
  assert.equal(await stage.ask('4'), '3 other people wait for approval');
  assert.equal(stage.told.length, 3);
  await stage.clock.advance(PAIRING.lifetimeMs);
  assert.equal(await stage.ask('4'), 'the sender needs approval');
});

test('an answer that cannot be sent changes nothing else', async () => {
  await using stage = await setUp();
  stage.unplug();
  assert.equal(await stage.ask('7'), 'the sender needs approval');
});
