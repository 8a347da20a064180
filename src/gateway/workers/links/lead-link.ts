import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import { until } from '../../../timing/until.ts';
import type { Json, Link } from './link.ts';

/** The links of a worker to the active daemon, and to those that become active after it. */
export interface LeadLink {
  /** The worker has joined over this link. */
  joined(link: Link): void;
  /**
   * Asks the active daemon. If it is lost before it answers, asks the next one, so a question must do no harm when it is asked
   * twice. Rejects with UNAVAILABLE if no daemon is active in time, and with the signal's reason.
   */
  ask(what: string, body: unknown, options: LeadAskOptions): Promise<Json>;
}

interface LeadAskOptions {
  /** Cancels the question at the active daemon. */
  signal: AbortSignal;
  /** How much longer than usual to wait for an active daemon. */
  moreMs?: number;
  /** The question was sent, and its answer cannot come any more. */
  onLost?(): void;
}

/** Usually a standby takes over within eight seconds, and workers join it within another one. */
const AWAY_MS = 15_000;

export function createLeadLink({ clock }: { clock: Pick<Clock, 'monotonic' | 'sleep'> }): LeadLink {
  let current = Promise.withResolvers<Link>();

  /** Undefined: not in this time. */
  async function within(ms: number, signal: AbortSignal): Promise<Link | undefined> {
    signal.throwIfAborted();
    if (ms <= 0) return undefined;
    const over = new AbortController();
    const late = clock.sleep(ms, AbortSignal.any([over.signal, signal])).then(() => undefined);
    try {
      return await Promise.race([current.promise, late]);
    } finally {
      over.abort();
    }
  }

  return {
    joined(link) {
      if (link.ended.aborted) return;
      current.resolve(link);
      link.ended.addEventListener('abort', () => {
        current = Promise.withResolvers();
      });
    },
    async ask(what, body, { signal, moreMs = 0, onLost }) {
      const endMs = clock.monotonic() + AWAY_MS + moreMs;
      for (;;) {
        const link = await within(endMs - clock.monotonic(), signal);
        if (link === undefined) throw away();
        try {
          return await until(link.ask(what, body, { signal }), signal);
        } catch (error) {
          signal.throwIfAborted();
          if (!link.ended.aborted) throw error;
          onLost?.();
        }
      }
    },
  };
}

const away = () =>
  new GatewayError('UNAVAILABLE', 'The active daemon cannot be reached now. Try again later.', { retryAfterMs: 1_000 });
