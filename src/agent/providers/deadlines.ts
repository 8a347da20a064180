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

/**
 * Passes a stream on, and ends it with `timeout` when its next part takes too long. The time that the reader takes
 * between parts does not count. The signal passed to `open` aborts whenever the iteration ends, so nothing stays open.
 */
export async function* withDeadlines<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { clock, signal, deadlines }: { clock: Clock; signal: AbortSignal; deadlines: Deadlines },
): AsyncGenerator<T> {
  const over = new AbortController();
  const watchdog = createWatchdog({ clock, deadlines, onSilence: (error) => over.abort(error) });
  try {
    const parts = open(AbortSignal.any([signal, over.signal]))[Symbol.asyncIterator]();
    for (;;) {
      watchdog.expect();
      const next = await parts.next();
      watchdog.arrived();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    watchdog.stop();
    over.abort(new DOMException('The answer is no longer read.', 'AbortError'));
  }
}

/** One timer per limit instead of one per part: it compares times when it wakes. */
function createWatchdog(deps: { clock: Clock; deadlines: Deadlines; onSilence: (error: ProviderError) => void }) {
  const { clock, deadlines, onSilence } = deps;
  const stopped = new AbortController();
  let limitMs = deadlines.firstMs;
  let waitingSinceMs: number | undefined;
  const watch = async () => {
    while (!stopped.signal.aborted) {
      const silentMs = waitingSinceMs === undefined ? 0 : clock.monotonic() - waitingSinceMs;
      if (silentMs >= limitMs) return onSilence(silence(limitMs));
      await clock.sleep(Math.min(limitMs - silentMs, deadlines.betweenMs), stopped.signal);
    }
  };
  watch().catch(() => undefined); // only its own stop ends it early
  return {
    expect: () => {
      waitingSinceMs = clock.monotonic();
    },
    arrived: () => {
      waitingSinceMs = undefined;
      limitMs = deadlines.betweenMs;
    },
    stop: () => stopped.abort(),
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
