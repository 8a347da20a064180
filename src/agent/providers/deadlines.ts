import type { Clock } from '../../clock.ts';
import { ProviderError } from './model.ts';
import type { AnswerLimits } from './models-config.ts';

export interface Deadlines {
  firstMs: number;
  betweenMs: number;
}

/**
 * How long an upstream may be silent. A server on the user's own network may have to load a model and read a long
 * prompt first.
 */
export function deadlinesFor(baseUrl: string, { firstSecs, betweenSecs }: AnswerLimits): Deadlines {
  const first = firstSecs ?? (isPrivateAddress(baseUrl) ? 300 : 60);
  return { firstMs: first * 1_000, betweenMs: betweenSecs * 1_000 };
}

/** Aborts an answer whose next part takes too long. The time that the reader takes between parts does not count. */
export interface SilenceWatch {
  /** Aborts with the given signal, with `timeout` after too long a silence, and at `stop`, so nothing stays open. */
  signal: AbortSignal;
  /** The next part is awaited from now on. */
  expect(): void;
  arrived(): void;
  stop(): void;
}

const NO_LONGER_READ = new DOMException('The answer is no longer read.', 'AbortError');

/** One timer per limit instead of one per part: it compares times when it wakes. */
export function watchSilence({
  clock,
  signal,
  deadlines,
}: {
  clock: Clock;
  signal: AbortSignal;
  deadlines: Deadlines;
}): SilenceWatch {
  const over = new AbortController();
  let limitMs = deadlines.firstMs;
  let waitingSinceMs: number | undefined;
  const watch = async () => {
    while (!over.signal.aborted) {
      const silentMs = waitingSinceMs === undefined ? 0 : clock.monotonic() - waitingSinceMs;
      if (silentMs >= limitMs) return over.abort(silence(limitMs));
      await clock.sleep(Math.min(limitMs - silentMs, deadlines.betweenMs), over.signal);
    }
  };
  watch().catch(() => undefined); // only its own stop ends it early
  return {
    signal: AbortSignal.any([signal, over.signal]),
    expect: () => {
      waitingSinceMs = clock.monotonic();
    },
    arrived: () => {
      waitingSinceMs = undefined;
      limitMs = deadlines.betweenMs;
    },
    stop: () => over.abort(NO_LONGER_READ),
  };
}

const silence = (limitMs: number) =>
  new ProviderError('timeout', `The model has been silent for ${limitMs / 1000} seconds.`);

/** Loopback, private and link-local addresses, and names that exist only in a local network. */
export function isPrivateAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (host.includes(':')) return host === '::1' || /^f[cd]|^fe[89ab]/.test(host);
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return PRIVATE_IPV4.test(host);
  return !host.includes('.') || /\.(local|localhost|internal|lan|home\.arpa)$/.test(host);
}

const PRIVATE_IPV4 = /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
