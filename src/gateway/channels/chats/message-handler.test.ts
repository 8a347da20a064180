import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import { readWaiting, storeUpdates } from '../inbox/inbox-rows.ts';
import { revokeSender } from '../inbox/sender-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import { MessageHandler } from './message-handler.ts';
import { createReplies } from './replies.ts';

const OF = { channel: 'telegram', account: '1' };
const ADA = '7';
const SETTINGS = {
  ...{ dmPolicy: 'allowlist' as const, allowFrom: new Set([ADA]), approvers: new Set<string>() },
  ...{ groups: new Map(), session: 'chat' as const, ambiguous: 'once' as const },
};
const MESSAGE: ChatMessage = {
  ...{ chat: ADA, chatId: ADA, chatKind: 'dm', chatTitle: 'Ada', sessionKey: 'telegram:dm:7', senderId: ADA },
  ...{ senderName: 'Ada', messageId: '1', text: 'look', foreign: [], unreadable: undefined, isForBot: true },
  files: [{ id: 'f', kind: 'file', fileName: 'a.txt', size: 1, seconds: undefined }],
  command: undefined,
};

for (const isRevoked of [false, true])
  test(`a message whose files were loaded is ${isRevoked ? 'blocked if its sender was revoked meanwhile' : 'accepted'}`, async () => {
    await using it = await wholeGateway();
    const { store } = it;
    await store.commit({
      statements: storeUpdates(OF, [{ updateId: '1', chat: ADA, senderId: ADA, body: {} }], it.clock.now()),
    });
    const handler = new MessageHandler({
      ...{ store, clock: it.clock, runs: it.parts.runs, settings: () => SETTINGS },
      users: { boundsOf: () => undefined },
      sessionOf: async () => it.mainWorkstream(),
      commands: { run: async () => false },
      replies: createReplies({ store, wake: () => undefined, clock: it.clock }),
      async receive() {
        const revoke = revokeSender({ channel: 'telegram', senderId: ADA }, { by: 'operator', nowMs: it.clock.now() });
        if (isRevoked) await store.commit({ statements: [revoke] });
        return { kind: 'received', claim: undefined, spoken: [], notes: [], warnings: [] };
      },
      offerPairing: async () => assert.fail('the policy has no codes'),
      onWork: () => undefined,
    });
    const [row] = await readWaiting(store, OF);
    assert.ok(row);
    await handler.handle(row, MESSAGE);
    const { state } = await store.db.selectFrom('channel_inbox').select('state').executeTakeFirstOrThrow();
    const runs = await store.db.selectFrom('runs').select('run_id').execute();
    assert.deepEqual([state, runs.length], isRevoked ? ['blocked', 0] : ['accepted', 1]);
  });
