import type { Clock } from '../../clock.ts';
import type { CircuitBreaker, Permit } from './circuit-breaker.ts';
import { probe, within } from './discovery.ts';
import type { ProviderError } from './model.ts';
import type { Fetch } from './provider.ts';
import { toProviderError, type Upstream } from './provider-error.ts';

interface Asking {
  clock: Clock;
  fetch: Fetch;
  /** Called when the server responds. */
  onAnswer?: (() => void) | undefined;
  onFailure?: ((error: ProviderError) => void) | undefined;
  signal: AbortSignal;
}

/**
 * Regularly checks whether an openai-compatible server is reachable, with that server's key. Its circuit then opens
 * without a waiting user, and closes when the server is back. Resolves when the signal aborts.
 */
export async function probeRegularly(
  upstream: Upstream,
  {
    clock,
    fetch,
    onAnswer,
    onFailure,
    signal,
    breaker,
    random,
  }: Asking & { breaker: CircuitBreaker; random: () => number },
): Promise<void> {
  while (!signal.aborted) {
    const idleMs = INTERVAL_MS * (0.5 + random());
    try {
      await clock.sleep(breaker.cooldownLeftMs() || idleMs, signal);
    } catch {
      return; // only the signal ends a sleep early
    }
    const permit = breaker.tryProbe();
    if (permit) await probeOnce(upstream, { clock, fetch, onAnswer, onFailure, signal, breaker, permit });
  }
}

async function probeOnce(
  upstream: Upstream,
  { clock, fetch, onAnswer, onFailure, signal, breaker, permit }: Asking & { breaker: CircuitBreaker; permit: Permit },
): Promise<void> {
  try {
    await within(TIMEOUT_MS, { clock, signal }, (inTime) => probe(upstream, { fetch, signal: inTime }));
    permit.succeed();
    if (breaker.state() === 'closed') onAnswer?.();
  } catch (error) {
    if (signal.aborted) return permit.release();
    permit.fail();
    onFailure?.(toProviderError(error, upstream, 'connect'));
  }
}

const INTERVAL_MS = 30_000;
const TIMEOUT_MS = 5_000;
