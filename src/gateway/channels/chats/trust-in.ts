import type { ChatTable } from '../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../store/store.ts';
import { actAs, type SenderUsers } from './acting-sender.ts';
import type { ChatSettings } from './chat-settings.ts';
import { judgeSender } from './sender-policy.ts';

/** What a person may do in a chat now: `approver` may also decide. */
export type Trust = 'approver' | 'allowed';

/** A chat with its stored name, which of a topic contains the group: `<group>:<topic>`. */
export type TrustedChat = Pick<ChatTable, 'chat' | 'kind'>;

interface TrustDeps {
  settings: ChatSettings | undefined;
  store: Pick<Store, 'db'>;
  users: SenderUsers;
}

/** Undefined: the person may not write, or the service is not set up. */
export async function trustIn(
  { channel, senderId, chat }: { channel: string; senderId: string; chat: TrustedChat },
  { settings, store, users }: TrustDeps,
): Promise<Trust | undefined> {
  if (settings === undefined) return undefined;
  const asked = { chatKind: chat.kind, chatId: groupOf(chat.chat), senderId, isForBot: true };
  const { known, verdict } = await judgeSender(channel, asked, { settings, store });
  const by = verdict.kind === 'allowed' ? actAs({ channel, senderId }, { known, settings, users }) : undefined;
  return by && (by.mayApprove ? 'approver' : 'allowed');
}

const groupOf = (chat: string): string => chat.split(':', 1)[0] ?? chat;
