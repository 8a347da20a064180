import type { SenderTable } from '../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../store/store.ts';
import { readFirstNumber } from '../inbox/chat-rows.ts';
import { readSender } from '../inbox/sender-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import type { ChatSettings } from './chat-settings.ts';
import { decideSender, type SenderVerdict } from './sender-policy.ts';

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
