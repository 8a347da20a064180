import { CHAT_COMMANDS } from '../chats/chat-commands.ts';
import type { Bot } from './bots.ts';

const COMMANDS = CHAT_COMMANDS.map(({ name, description }) => ({ command: name, description }));
const TIMEOUT_MS = 30_000;

/** Tells Telegram which commands the bot knows, unless it knows. Throws BotApiError. */
export async function tellCommands({ api }: Pick<Bot, 'api'>, signal: AbortSignal): Promise<void> {
  const limits = { signal, timeoutMs: TIMEOUT_MS };
  const known = await api.call('getMyCommands', {}, limits);
  const isKnown =
    known.length === COMMANDS.length &&
    COMMANDS.every(({ command, description }, index) => {
      const other = known[index];
      return other?.command === command && other.description === description;
    });
  if (!isKnown) await api.call('setMyCommands', { commands: COMMANDS }, limits);
}
