import type { Clock } from '../../../clock.ts';
import { type Patience, type Pause, ProviderError } from '../model.ts';

/** How a request is repeated. */
export interface Retrying {
  clock: Clock;
  random: () => number;
  signal: AbortSignal;
  /** The longest wait between two attempts. */
  maxWaitMs: number;
  patience?: Patience | undefined;
  onRetry?: (error: ProviderError) => void;
}

/**
 * Retries if the upstream may recover: up to three attempts in total, six for a rate limit, and for `maxWaitMs` if the
 * upstream is away. Does not retry if the upstream asks for a longer wait than `maxWaitMs`, or if another model can answer
 * sooner. An attempt has to resolve with the first part of its answer, because nothing may be retried after it. It is
 * passed whether a person asked for it before its time.
 */
export async function withRetries<T>(attempt: (isAsked: boolean) => Promise<T>, deps: Retrying): Promise<T> {
  const beganMs = deps.clock.monotonic();
  let isAsked = false;
  for (let tried = 1; ; tried++) {
    try {
      return await attempt(isAsked);
    } catch (error) {
      const next = nextAttempt(error, { tried, spentMs: deps.clock.monotonic() - beganMs }, deps);
      if (!next) throw isTooLate(error, deps) ? error.adding(tooLate(error.retryAfterMs, deps)) : error;
      deps.onRetry?.(next.error);
      isAsked = (await rest(next, deps)) === 'now';
    }
  }
}

/** Whether the error lasts until somebody starts the upstream again, or the network is back. */
export const isAway = (error: unknown): error is ProviderError =>
  error instanceof ProviderError &&
  (error.detail === 'away' || (error.kind === 'unreachable' && error.detail === 'overloaded'));

type Late = ProviderError & { retryAfterMs: number };

/** The upstream asks for a longer wait than the configuration allows. */
const isTooLate = (error: unknown, { maxWaitMs }: Retrying): error is Late =>
  error instanceof ProviderError && error.retryable && (error.retryAfterMs ?? 0) > maxWaitMs;

const tooLate = (askedMs: number, { maxWaitMs }: Retrying): string =>
  `The server asks to wait ${inWords(askedMs)}, which is longer than answers.retrySecs (${maxWaitMs / 1000} s) allows.`;

function inWords(ms: number): string {
  const secs = Math.ceil(ms / 1000);
  if (secs < 120) return `${secs} s`;
  return secs < 7_200 ? `${Math.ceil(secs / 60)} min` : `${Math.ceil(secs / 3_600)} h`;
}

async function rest({ waitMs, ...pause }: Next, { clock, signal, patience }: Retrying) {
  if (!patience) return clock.sleep(waitMs, signal);
  return patience.wait({ ...pause, untilMs: clock.now() + Math.ceil(waitMs) }, signal);
}

/** Waits for the first item. The others are passed on by the iteration itself, so that they cost nothing more. */
export async function begun<T>(items: AsyncGenerator<T>): Promise<AsyncIterable<T>> {
  let first: IteratorResult<T> | undefined = await items.next();
  const iterator: AsyncIterator<T> = {
    next() {
      if (first === undefined) return items.next();
      const result = first;
      first = undefined;
      return Promise.resolve(result);
    },
    return: (value) => items.return(value),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

const MAX_ATTEMPTS = 3;
/** A limit passes, while a server that does not respond may stay away. */
const RATE_LIMITED_ATTEMPTS = 6;
const FIRST_WAIT_MS = 500;
/** Between two attempts to reach an upstream that is away. */
const LONGEST_BACKOFF_MS = 30_000;
/** Longer waits are not worth it if another model can answer. */
const WAIT_BEFORE_FALLBACK_MS = 20_000;

interface Next extends Omit<Pause, 'untilMs'> {
  waitMs: number;
}

function nextAttempt(
  error: unknown,
  { tried, spentMs }: { tried: number; spentMs: number },
  deps: Pick<Retrying, 'random' | 'maxWaitMs' | 'patience'>,
): Next | undefined {
  const { random, maxWaitMs, patience } = deps;
  if (!(error instanceof ProviderError) || !error.retryable) return undefined;
  const hasFallback = patience?.hasFallback ?? false;
  if (hasFallback && (error.detail === 'overloaded' || error.kind === 'circuit_open')) return undefined;
  const attempts = attemptsFor(error, { hasFallback, maxWaitMs });
  if (tried >= attempts) return undefined;
  const waitMs = Math.max(backoffMs(tried) * (0.5 + random()), error.retryAfterMs ?? 0);
  const longest = hasFallback ? Math.min(maxWaitMs, WAIT_BEFORE_FALLBACK_MS) : maxWaitMs;
  const spent = isAway(error) ? spentMs : 0;
  return waitMs + spent > longest ? undefined : { error, attempt: tried + 1, attempts, waitMs };
}

const backoffMs = (tried: number): number => Math.min(FIRST_WAIT_MS * 2 ** (tried - 1), LONGEST_BACKOFF_MS);

function attemptsFor(error: ProviderError, by: { hasFallback: boolean; maxWaitMs: number }): number {
  if (by.hasFallback) return MAX_ATTEMPTS;
  if (error.kind === 'rate_limited') return RATE_LIMITED_ATTEMPTS;
  return isAway(error) ? attemptsWithin(by.maxWaitMs) : MAX_ATTEMPTS;
}

/** How many attempts fit into a time, if each fails at once. */
function attemptsWithin(ms: number): number {
  let attempts = 1;
  for (let spentMs = backoffMs(1); spentMs <= ms; spentMs += backoffMs(attempts)) attempts++;
  return attempts;
}
