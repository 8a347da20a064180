import type { Clock } from '../../clock.ts';
import { type BackendHealth, ProviderError } from './model.ts';

export interface CircuitBreaker {
  state(): BackendHealth['circuitState'];
  /** A permit for one request; undefined while the circuit is open or its trial is in progress. */
  tryAcquire(): Permit | undefined;
  /** A permit in any state, because a person asks for a trial now. */
  acquire(): Permit;
  /** A permit for a check whether the server is reachable. */
  tryProbe(): Permit | undefined;
  /** 0 unless the circuit is open. */
  cooldownLeftMs(): number;
}

/** Call exactly one of the three methods; later calls have no effect. */
export interface Permit {
  succeed(): void;
  fail(): void;
  /** The request was cancelled, without a result. */
  release(): void;
}

/**
 * Keeps the daemon from waiting for an upstream that does not answer. Five consecutive failures open the circuit for a
 * minute, then one trial decides. Results from an earlier state are ignored. A successful probe resets only failed
 * probes and not failed answers, because many servers list their models while they cannot answer.
 */
export function createCircuitBreaker(deps: {
  clock: Pick<Clock, 'monotonic'>;
  failureThreshold?: number;
  cooldownMs?: number;
  onChange?: (state: BackendHealth['circuitState']) => void;
}): CircuitBreaker {
  const { clock, failureThreshold = 5, cooldownMs = 60_000, onChange } = deps;
  let state: BackendHealth['circuitState'] = 'closed';
  /** Consecutive failures. */
  let failed = { answers: 0, probes: 0 };
  /** The last probe failed, so a successful one is a change. */
  let wasAway = false;
  let openedAtMs = 0;
  let trialUnderWay = false;
  let age = 0;

  const become = (next: BackendHealth['circuitState']) => {
    state = next;
    failed = { answers: 0, probes: 0 };
    trialUnderWay = false;
    age++;
    if (next === 'open') openedAtMs = clock.monotonic();
    onChange?.(next);
  };
  const cooldownLeftMs = () => (state === 'open' ? Math.max(0, openedAtMs + cooldownMs - clock.monotonic()) : 0);
  const openIfFailing = () => {
    if (state === 'half_open' || failed.answers + failed.probes >= failureThreshold) become('open');
  };
  const release = () => {
    trialUnderWay = false;
  };
  const ofAnswer: Permit = {
    succeed() {
      if (state !== 'closed') become('closed');
      failed = { answers: 0, probes: 0 };
      wasAway = false;
    },
    fail() {
      failed.answers++;
      openIfFailing();
    },
    release,
  };
  const ofProbe: Permit = {
    succeed() {
      if (state === 'half_open') become('closed');
      failed.probes = 0;
      wasAway = false;
    },
    fail() {
      failed.probes++;
      wasAway = true;
      openIfFailing();
    },
    release,
  };
  /** For probes after failed answers: success changes nothing and keeps the trial available; failure is remembered. */
  const ofLook: Permit = {
    succeed: () => undefined,
    fail() {
      wasAway = true;
    },
    release: () => undefined,
  };
  const issue = (outcomes: Permit) => {
    if (outcomes !== ofLook) trialUnderWay = state === 'half_open';
    const issuedAt = age;
    return createPermit(outcomes, () => issuedAt === age);
  };
  const isBarred = () => {
    if (state === 'open' && cooldownLeftMs() === 0) become('half_open');
    return state === 'open' || trialUnderWay;
  };
  return {
    state: () => state,
    cooldownLeftMs,
    tryAcquire: () => (isBarred() ? undefined : issue(ofAnswer)),
    acquire: () => issue(ofAnswer),
    tryProbe: () => (isBarred() ? undefined : issue(state === 'half_open' && !wasAway ? ofLook : ofProbe)),
  };
}

/** Takes a permit for the next attempt; keeps one that it has. Throws if the circuit gives none. */
export type Admit = (isAsked: boolean) => void;

/**
 * Passes an answer on, through a breaker. `ask` has to be admitted before each attempt. An upstream that answers at all,
 * even with a refusal, is up. `onEnd` is called with the error of a failed answer, and with undefined after a complete one.
 */
export async function* throughBreaker<T>(
  breaker: CircuitBreaker,
  ask: (admit: Admit) => Promise<AsyncIterable<T>>,
  { signal, refusal, onEnd = () => undefined }: Passage,
): AsyncGenerator<T> {
  signal.throwIfAborted();
  let permit: Permit | undefined;
  const admit: Admit = (isAsked) => {
    permit ??= breaker.tryAcquire() ?? (isAsked ? breaker.acquire() : undefined);
    if (!permit) throw refusal();
  };
  try {
    for await (const part of await ask(admit)) yield part;
    permit?.succeed();
    onEnd(undefined);
  } catch (error) {
    if (!signal.aborted && error instanceof ProviderError && permit) settle(permit, error);
    onEnd(error);
    throw error;
  } finally {
    permit?.release();
  }
}

interface Passage {
  signal: AbortSignal;
  /** The error while the circuit is open. */
  refusal: () => ProviderError;
  onEnd?: (error: unknown) => void;
}

function settle(permit: Permit, error: ProviderError): void {
  if (isOutage(error)) permit.fail();
  else permit.succeed();
}

/** Whether the upstream did not answer, or not completely. */
export const isOutage = (error: ProviderError | undefined): error is ProviderError =>
  error?.kind === 'unreachable' || error?.kind === 'timeout' || error?.kind === 'interrupted';

function createPermit(outcomes: Permit, isCurrent: () => boolean): Permit {
  let used = false;
  const ifUnused = (outcome: () => void) => () => {
    if (used) return;
    used = true;
    if (isCurrent()) outcome();
  };
  return { succeed: ifUnused(outcomes.succeed), fail: ifUnused(outcomes.fail), release: ifUnused(outcomes.release) };
}
