import type { Clock } from '../../../../clock.ts';
import type { Store } from '../../../store/store.ts';
import { isAwaited } from '../../delivery-rows.ts';
import { noteSent } from '../../inbox/chat-rows.ts';
import { type RenderedChunk, updateChunk } from '../../ledger/chunk-rows.ts';
import { forgetPreview, insertPreview, readPreview } from '../../ledger/preview-rows.ts';
import type { Bot } from '../bots.ts';
import { addressOf, editText, sendText } from '../send-text.ts';
import { BotApiError } from '../wire/bot-api-error.ts';

interface ShowDeps {
  bot: Bot;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
}

interface PreviewPlace {
  chat: string;
  runId: string;
}

const CHANNEL = 'telegram';
/** The answer waits for a request in progress, so it may not take long. */
const LIMITS = { signal: new AbortController().signal, timeoutMs: 10_000 };

/** `over`: nothing more of this run is to be shown. Otherwise it may be tried again after the wait. */
export type Showing = 'shown' | 'over' | { waitMs: number };

/** Sends the preview of a run, or edits it. */
export async function showPreview(part: RenderedChunk, place: PreviewPlace, deps: ShowDeps): Promise<Showing> {
  const known = await readPreview(deps.store, place.runId);
  if (known === undefined) return sendFirst(part, place, deps);
  if (known.state !== 'accepted') return 'over'; // a second one might be a second message
  const target = { chatId: addressOf(place.chat).chat_id, messageId: Number(known.provider_id) };
  try {
    await editText(part, { api: deps.bot.api, limits: LIMITS }, target);
    return 'shown';
  } catch (error) {
    return afterFailure(error);
  }
}

async function sendFirst(
  part: RenderedChunk,
  { chat, runId }: PreviewPlace,
  { bot, store, clock }: ShowDeps,
): Promise<Showing> {
  const place = { channel: CHANNEL, chat };
  if (await isAwaited({ provider: CHANNEL, destination: chat }, store)) return { waitMs: 0 }; // earlier messages come first
  await store.commit({ statements: [insertPreview(runId, place, clock.now())], durable: true });
  const known = await readPreview(store, runId);
  if (!known) return 'over';
  try {
    const providerId = await sendText(part, { api: bot.api, limits: LIMITS }, addressOf(chat));
    const nowMs = clock.now();
    await store.commit({
      statements: [updateChunk(known, { state: 'accepted', providerId }, nowMs), noteSent(place, { nowMs })],
    });
    return 'shown';
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    if (error.kind === 'ambiguous') {
      const lost = updateChunk(known, { state: 'ambiguous', reason: error.message }, clock.now());
      await store.commit({ statements: [lost] });
      return 'over';
    }
    await store.commit({ statements: [forgetPreview(runId)] });
    return afterFailure(error);
  }
}

/** What became of an edit does not matter: the next one repeats it. */
function afterFailure(error: unknown): Showing {
  if (!(error instanceof BotApiError)) throw error;
  if (error.kind === 'rate-limited') return { waitMs: error.retryAfterMs ?? 1_000 };
  return error.kind === 'unreachable' || error.kind === 'ambiguous' ? { waitMs: 0 } : 'over';
}
