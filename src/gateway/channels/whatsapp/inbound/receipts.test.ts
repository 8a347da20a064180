import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../../testing/temp-store.ts';
import { Inbox } from '../../inbox/inbox.ts';
import { storeUpdates } from '../../inbox/inbox-rows.ts';
import { insertChunks, readChunks, updateChunk } from '../../ledger/chunk-rows.ts';
import { noteStatus } from './receipts.ts';

const OF = { channel: 'whatsapp', account: '1' };
const STATUS = { messageId: 'wamid.1', to: '49', status: 'failed', atMs: 1 } as const;
const ERROR = { code: 131_026, message: 'Message undeliverable' };

test('a receipt that comes before the answer that names its part is noted, also if that takes as long as a request may', async () => {
  const store = await tempStore();
  const clock = fakeClock(1_000_000);
  const part = { message_id: 'm', chunk: 0 };
  await store.commit({
    statements: [
      ...insertChunks({ messageId: 'm', channel: 'whatsapp', to: '49' }, [{ formatted: 'x', plain: 'x' }], 1),
      updateChunk(part, { state: 'sending' }, 1),
    ],
  });
  const inbox = new Inbox({
    store,
    handle: (row) => noteStatus(row, { ...STATUS, error: ERROR }, store),
    isUrgent: () => false,
    parts: { followMs: () => 0, continues: () => false },
    ...{ onEnded: () => undefined, onFailed: async () => undefined },
    ...{ clock, log: recordingLog() },
  });
  await store.commit({ statements: storeUpdates(OF, [{ updateId: 'u', chat: '', senderId: '', body: {} }], 1) });
  await inbox.look(OF);
  for (let second = 0; second < 30; second += 1) await clock.advance(1_000);
  await store.commit({ statements: [updateChunk(part, { state: 'accepted', providerId: 'wamid.1' }, 2)] });
  await clock.advance(60_000);
  const [noted] = await readChunks(store, 'm');
  assert.deepEqual([noted?.receipt, noted?.reason], ['failed', 'Message undeliverable (131026)']);
  inbox.close();
});
