import type { Store } from '../../store/store.ts';
import { readSender } from '../inbox/sender-rows.ts';
import type { ChatSettings } from './chat-settings.ts';
import { decideSender } from './sender-policy.ts';

/** What a person may do in a direct chat now: `approver` may also decide. */
export type Trust = 'approver' | 'allowed';

/** Undefined: the person may not write, or the service is not set up. */
export async function trustIn(
  { channel, senderId }: { channel: string; senderId: string },
  { settings, store }: { settings: ChatSettings | undefined; store: Pick<Store, 'db'> },
): Promise<Trust | undefined> {
  if (settings === undefined) return undefined;
  const known = await readSender(store, { channel, senderId });
  const asked = { chatKind: 'dm', chatId: senderId, senderId, isForBot: true } as const;
  if (decideSender(asked, settings, known).kind !== 'allowed') return undefined;
  return settings.approvers.has(senderId) ? 'approver' : 'allowed';
}
