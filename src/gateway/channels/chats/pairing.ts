import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import type { Log } from '../../../log.ts';
import type { SenderTable } from '../../store/schema/channels/channel-schema.ts';
import { type Store, tookEffect } from '../../store/store.ts';
import { endUpdate, type InboxRow } from '../inbox/inbox-rows.ts';
import { askForPairing } from '../inbox/sender-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import { hashOfCode, newPairingCode, PAIRING } from './pairing-code.ts';

interface PairingDeps {
  /** Sends a text at once, without a record of it. */
  sendNow(chat: string, text: string): Promise<unknown>;
  /** A person waits for approval. */
  onAsked(): void;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'secret'>;
  log: Log;
}

interface Asking {
  row: InboxRow;
  message: ChatMessage;
  known: SenderTable | undefined;
}

/**
 * Answers a stranger with a code that the operator can approve: at most one answer per hour, and few codes at once. The code
 * is only sent, and stored as a digest.
 */
export async function offerPairing({ row, message, known }: Asking, deps: PairingDeps): Promise<void> {
  const { store, clock, ids } = deps;
  const nowMs = clock.now();
  const block = (reason: string) => endUpdate(row, { state: 'blocked', reason, nowMs });
  if (known?.replied_ms != null && nowMs - known.replied_ms < PAIRING.replyEveryMs && known.replied_ms <= nowMs)
    return void (await store.commit({ statements: [block('the sender was told that approval is needed')] }));
  const code = newPairingCode(ids);
  const { senderId, senderName: name } = message;
  const asked = { channel: row.channel, senderId, name, codeHash: hashOfCode(code), nowMs };
  const ask = askForPairing({ ...asked, expiresMs: nowMs + PAIRING.lifetimeMs, most: PAIRING.pending });
  const statements = [ask, block('the sender needs approval')];
  if (!(await tookEffect(store.commit({ statements }))))
    return void (await store.commit({ statements: [block(`${PAIRING.pending} other people wait for approval`)] }));
  deps.onAsked();
  await tellCode(code, message, deps);
}

/** Not by the outbox, which would store the code. If it does not arrive, the person can ask again in an hour. */
async function tellCode(code: string, { chat }: ChatMessage, { sendNow, log }: PairingDeps): Promise<void> {
  const text = [
    'This bot only answers people whom its operator has approved.',
    `Your code is ${code}. Give it to the operator, who approves it within an hour: headgate channel pair ${code}`,
  ].join('\n');
  await sendNow(chat, text).catch((err: unknown) => {
    log.warn({ err }, 'a person could not be told that approval is needed');
  });
}
