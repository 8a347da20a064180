import type { Clock } from '../../../clock.ts';
import { saidWords } from '../calls/said-words.ts';
import type { Bot } from './bots.ts';
import type { PollState } from './poll-state.ts';
import { HOOK_PATH } from './telegram-settings.ts';
import { BotApiError } from './wire/bot-api-error.ts';

/** A bot that Telegram calls the daemon for. */
export interface CalledBot {
  account: string;
  username: string;
  /** Telegram sends it with each call. */
  secret: string;
}

/** The kinds of updates that Headgate reads. */
export const WANTED = ['message', 'callback_query'] as const;

const CALL_MS = 30_000;
/** How often Telegram is asked whether its calls arrive. */
const CHECK_MS = 30_000;

interface ListenDeps {
  secret: string;
  state: Pick<PollState, 'listening'>;
  clock: Pick<Clock, 'sleep'>;
}

/** Tells Telegram where to call, and looks at times whether it still does. Rejects with BotApiError, or with the signal. */
export async function listenForCalls(
  { api }: Pick<Bot, 'api'>,
  { url, until }: { url: string; until: AbortSignal },
  { secret, state, clock }: ListenDeps,
): Promise<void> {
  const limits = { signal: until, timeoutMs: CALL_MS };
  const params = { url, secret_token: secret, allowed_updates: [...WANTED], max_connections: 1 };
  await api.call('setWebhook', params, limits);
  for (;;) {
    const {
      url: current,
      pending_update_count: waiting,
      last_error_message: failure,
    } = await api.call('getWebhookInfo', {}, limits);
    if (current !== url) throw new BotApiError('conflict', 'Another program has told Telegram to call elsewhere.');
    state.listening(
      waiting > 0 && failure !== undefined ? `Calls of Telegram fail: ${saidWords(failure, String)}` : undefined,
    );
    await clock.sleep(CHECK_MS, until);
  }
}

/** Ends the calls that Headgate has asked for, so that it can poll. Those of other programs are left. */
export async function endOwnCalls({ api }: Pick<Bot, 'api'>, until: AbortSignal): Promise<void> {
  const limits = { signal: until, timeoutMs: CALL_MS };
  const { url = '' } = await api.call('getWebhookInfo', {}, limits);
  if (url.endsWith(HOOK_PATH)) await api.call('deleteWebhook', { drop_pending_updates: false }, limits);
}
