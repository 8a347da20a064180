import type { Message, Update } from '@grammyjs/types';
import type { ChatMessage } from '../../chats/chat-message.ts';
import { joinMessages, type MessagePart } from '../../chats/join-messages.ts';
import type { PartsRule } from '../../inbox/inbox.ts';
import type { InboxRow } from '../../inbox/inbox-rows.ts';
import { type BotIdentity, toIncoming } from './incoming.ts';

/** The updates of an album come together. */
const ALBUM_MS = 500;
/** Apps send the parts of a long text one after another. */
const TEXT_MS = 1_500;
/** Texts that are at least so long may be the beginning of a longer one. */
const LONG_UNITS = 4_000;
/** Where Telegram cuts a text that has no better place. */
const MAX_UNITS = 4_096;
const MAX_PARTS = 30;

/** How Telegram splits messages: albums by file, and texts by length. */
export const TELEGRAM_PARTS: PartsRule = {
  followMs(row) {
    const { message } = toUpdate(row);
    if (message?.media_group_id !== undefined) return ALBUM_MS;
    return isLong(message) ? TEXT_MS : 0;
  },
  continues(parts, next) {
    const [last, message] = [toMessage(parts.at(-1)), toMessage(next)];
    if (!last || !message || parts.length >= MAX_PARTS || next.sender_id !== parts[0]?.sender_id) return false;
    if (last.media_group_id !== undefined) return last.media_group_id === message.media_group_id;
    const isSoon = next.received_ms - (parts.at(-1)?.received_ms ?? 0) <= TEXT_MS && message.date - last.date <= 2;
    return isLong(last) && isSoon && isNextText(last, message);
  },
};

const toMessage = (row: InboxRow | undefined) => row && toUpdate(row).message;

const isLong = (message: Message | undefined): boolean => (message?.text?.length ?? 0) >= LONG_UNITS;

const isNextText = (last: Message, next: Message): boolean =>
  next.text !== undefined &&
  next.message_id === last.message_id + 1 &&
  next.entities?.some(({ type, offset }) => type === 'bot_command' && offset === 0) !== true &&
  (next.forward_origin === undefined) === (last.forward_origin === undefined);

/** The message of an update and its further parts; undefined if it says nothing that Headgate reads. */
export function toWhole(row: InboxRow, bot: BotIdentity): ChatMessage | undefined {
  const [first, ...rest] = [row, ...(row.joined ?? [])].flatMap((part) => toPart(toUpdate(part), bot) ?? []);
  return first && joinMessages(first, rest);
}

/** A text that was cut at a space or at the end of a line has lost it. */
function toPart(update: Update, bot: BotIdentity): MessagePart | undefined {
  const message = toIncoming(update, bot);
  return message && { message, glue: update.message?.text?.length === MAX_UNITS ? '' : '\n' };
}

/** As Telegram sent it, and it was stored. */
export const toUpdate = ({ body_json: json }: InboxRow): Update => JSON.parse(json ?? '{}');
