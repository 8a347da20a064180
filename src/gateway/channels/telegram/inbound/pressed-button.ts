import type { CallbackQuery } from '@grammyjs/types';
import type { Log } from '../../../../log.ts';
import type { PressEnd, PressedButton } from '../../chats/press-button.ts';
import type { Replies } from '../../chats/replies.ts';
import type { InboxRow } from '../../inbox/inbox-rows.ts';
import type { Bot } from '../bots.ts';

interface ButtonDeps {
  bot(): Bot | undefined;
  press(button: PressedButton): Promise<PressEnd>;
  replies: Pick<Replies, 'end'>;
  log: Log;
}

const NEVER = new AbortController().signal;

/** Handles a pressed button, and tells the person who pressed it what came of it. */
export async function onPressed(row: InboxRow, query: CallbackQuery, deps: ButtonDeps): Promise<void> {
  const { state, words } = await deps.press(toPressed(query));
  await tell(query.id, words, deps);
  await deps.replies.end(row, state, words);
}

const toPressed = ({ from, message, data = '' }: CallbackQuery): PressedButton => ({
  channel: 'telegram',
  senderId: String(from.id),
  chatId: String(message?.chat.id),
  chatKind: message?.chat.type === 'private' ? 'dm' : 'group',
  messageId: String(message?.message_id),
  data,
});

/** Always, because the button shows a clock until then. */
async function tell(queryId: string, text: string, { bot, log }: ButtonDeps): Promise<void> {
  const limits = { signal: NEVER, timeoutMs: 10_000 };
  await bot()
    ?.api.call('answerCallbackQuery', { callback_query_id: queryId, text }, limits)
    .catch((err: unknown) => log.warn({ err }, 'a pressed button could not be answered'));
}
