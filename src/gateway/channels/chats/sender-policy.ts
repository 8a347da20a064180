import type { SenderTable } from '../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../store/store.ts';
import { readFirstNumber } from '../inbox/chat-rows.ts';
import { readSender } from '../inbox/sender-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import type { ChatSettings } from './chat-settings.ts';

/** What is decided about the sender of a message. `ignored`: it was not meant for the bot. */
export type SenderVerdict =
  | { kind: 'allowed' }
  | { kind: 'pairing' }
  | { kind: 'blocked'; reason: string }
  | { kind: 'ignored' };

type Asked = Pick<ChatMessage, 'chatKind' | 'chatId' | 'senderId' | 'isForBot'>;

/**
 * Decides about a person by what is stored now. A group that has another number now is the one that the settings name by its
 * first number.
 */
export async function judgeSender(
  channel: string,
  asked: Asked,
  { settings, store }: { settings: ChatSettings; store: Pick<Store, 'db'> },
): Promise<{ known: SenderTable | undefined; verdict: SenderVerdict }> {
  const { chatKind, chatId, senderId, isForBot } = asked;
  const known = await readSender(store, { channel, senderId });
  const isNamed = chatKind === 'dm' || settings.groups.has(chatId);
  const first = isNamed ? undefined : await readFirstNumber(store, { channel, group: chatId });
  return { known, verdict: decideSender({ chatKind, chatId: first ?? chatId, senderId, isForBot }, settings, known) };
}

/** Decides by numbers only: names can change hands. `known`: the stored sender. */
export function decideSender(
  message: Asked,
  settings: Pick<ChatSettings, 'dmPolicy' | 'allowFrom' | 'groups'>,
  known: Pick<SenderTable, 'status'> | undefined,
): SenderVerdict {
  if (message.senderId === '') return message.isForBot ? blocked('nobody in particular wrote it') : { kind: 'ignored' };
  if (known?.status === 'revoked') return message.isForBot ? blocked('the sender was revoked') : { kind: 'ignored' };
  return message.chatKind === 'dm' ? decideDirect(message, settings, known) : decideInGroup(message, settings);
}

function decideDirect(
  { senderId }: Asked,
  { dmPolicy, allowFrom }: Pick<ChatSettings, 'dmPolicy' | 'allowFrom'>,
  known: Pick<SenderTable, 'status'> | undefined,
): SenderVerdict {
  if (dmPolicy === 'disabled') return blocked('direct chats are disabled');
  if (isListed(allowFrom, senderId)) return { kind: 'allowed' };
  if (dmPolicy !== 'pairing') return blocked('the sender is not in allowFrom');
  return known?.status === 'approved' ? { kind: 'allowed' } : { kind: 'pairing' };
}

/** An approval by code counts in direct chats only. */
function decideInGroup({ chatId, senderId, isForBot }: Asked, { groups }: Pick<ChatSettings, 'groups'>): SenderVerdict {
  const group = groups.get(chatId);
  if (!isForBot && (group === undefined || group.requireMention)) return { kind: 'ignored' };
  if (group === undefined) return blocked('the group is not in groups');
  if (isListed(group.allowFrom, senderId)) return { kind: 'allowed' };
  return isForBot ? blocked('the sender is not in allowFrom of the group') : { kind: 'ignored' };
}

const isListed = (ids: ReadonlySet<string>, id: string): boolean => ids.has(id) || ids.has('*');

const blocked = (reason: string): SenderVerdict => ({ kind: 'blocked', reason });
