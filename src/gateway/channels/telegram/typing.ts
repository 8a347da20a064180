import type { Clock } from '../../../clock.ts';
import type { Bot } from './bots.ts';
import { addressOf } from './send-text.ts';
import { BotApiError } from './wire/bot-api-error.ts';

interface TypingDeps {
  bot(): Bot | undefined;
  clock: Pick<Clock, 'sleep'>;
}

/** Telegram shows it for five seconds. */
const EVERY_MS = 4_000;

/** Shows in chats that runs work for them. */
export class Typing {
  readonly #deps: TypingDeps;
  /** How many runs work for a chat, or wait. */
  readonly #working = new Map<string, number>();
  readonly #stopping = new AbortController();

  constructor(deps: TypingDeps) {
    this.#deps = deps;
  }

  /** Shows it until the work ends. */
  during(chat: string, ended: Promise<unknown>): void {
    const before = this.#working.get(chat) ?? 0;
    this.#working.set(chat, before + 1);
    const over = new AbortController();
    void ended.finally(() => {
      const left = (this.#working.get(chat) ?? 1) - 1;
      if (left > 0) this.#working.set(chat, left);
      else this.#working.delete(chat);
      over.abort(new Error('the run ended'));
    });
    void this.#show(chat, AbortSignal.any([this.#stopping.signal, over.signal]), before);
  }

  close(): void {
    this.#stopping.abort(new Error('the daemon stops'));
  }

  async #show(chat: string, signal: AbortSignal, before: number): Promise<void> {
    for (let isFirst = before === 0; !signal.aborted; isFirst = false) {
      if (!isFirst) await this.#deps.clock.sleep(EVERY_MS, signal).catch(() => undefined); // it ended
      if (signal.aborted || !(await this.#send(chat, signal))) return;
    }
  }

  /** False where the bot may not write any more. */
  async #send(chat: string, signal: AbortSignal): Promise<boolean> {
    try {
      const params = { ...addressOf(chat), action: 'typing' as const };
      await this.#deps.bot()?.api.call('sendChatAction', params, { signal, timeoutMs: 10_000 });
      return true;
    } catch (error) {
      return !(error instanceof BotApiError && (error.kind === 'rejected' || error.kind === 'unauthorized'));
    }
  }
}
