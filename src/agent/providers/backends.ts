import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { probeRegularly } from './breaker-probe.ts';
import { type CircuitBreaker, createCircuitBreaker, isOutage } from './circuit-breaker.ts';
import type { BackendHealth, ProviderError } from './model.ts';
import { checkModel } from './model-check.ts';
import type { ModelChoice } from './model-choice.ts';
import type { Fetch } from './provider.ts';
import { nameOf, toProviderError } from './provider-error.ts';

function noticeOf({ kind, message }: ProviderError): Notice {
  if (kind === 'unauthorized') return warn('model_key_refused', message);
  return warn(kind === 'refused' ? 'model_unusable' : 'model_unreachable', message);
}

/** Models with the same key have one backend. */
export const backendKey = ({ provider, baseUrl }: ModelChoice) => `${provider} ${baseUrl}`;

interface Backend {
  breaker: CircuitBreaker;
  choice: ModelChoice;
  /** A problem for people, such as a rejected key or an unreachable server. Cleared by the next answer. */
  problem?: Notice | undefined;
  /** How the last failed request failed. */
  whyDown?: string | undefined;
  /** Resolves with the next answer, also to a probe. */
  reached: PromiseWithResolvers<void>;
}

function noteAnswer(backend: Backend): void {
  backend.problem = undefined;
  backend.reached.resolve();
  backend.reached = Promise.withResolvers();
}

/** Manages one backend per provider and base URL: its breaker, its probe, and problems with its key. */
export function createBackends(
  { clock, random, fetch, log }: { clock: Clock; random: () => number; fetch: Fetch; log: Log },
  onHealthChange: (key: string) => void,
) {
  const backends = new Map<string, Backend>();
  let running: AbortSignal | undefined;

  const watch = (backend: Backend, signal: AbortSignal) => {
    const { choice, breaker } = backend;
    if (choice.provider !== 'openai-compatible') return undefined;
    const onAnswer = () => noteAnswer(backend);
    const onFailure = (error: ProviderError) => {
      backend.whyDown = error.message;
    };
    return probeRegularly(choice, { clock, random, fetch, breaker, onAnswer, onFailure, signal });
  };

  const open = (choice: ModelChoice): Backend => {
    const key = backendKey(choice);
    const existing = backends.get(key);
    if (existing) return existing;
    const breaker = createCircuitBreaker({
      clock,
      onChange(state) {
        log.warn({ upstream: nameOf(choice), state }, 'the circuit breaker changed state');
        onHealthChange(key);
      },
    });
    const backend: Backend = { breaker, choice, reached: Promise.withResolvers() };
    backends.set(key, backend);
    if (running) void watch(backend, running);
    return backend;
  };
  return {
    of(choice: ModelChoice) {
      const backend = open(choice);
      const onOutcome = (error: ProviderError | undefined) => {
        if (error === undefined) noteAnswer(backend);
        if (isOutage(error)) backend.whyDown = error.message;
        if (error?.kind === 'unauthorized' || error?.kind === 'unreachable') backend.problem = noticeOf(error);
      };
      const onRetry = (error: ProviderError) => {
        onOutcome(error); // a long wait is a problem that people should see meanwhile
        log.info({ provider: choice.provider, kind: error.kind }, 'retrying the model request');
      };
      return { breaker: backend.breaker, whyDown: () => backend.whyDown, onOutcome, onRetry };
    },
    untilReached: (choice: ModelChoice): Promise<void> => open(choice).reached.promise,
    /** A key may be another one now. */
    forgetProblems(): void {
      for (const backend of backends.values()) backend.problem = undefined;
    },
    /**
     * Checks whether a hosted provider accepts the key and has the model. Other models are described anyway. Never
     * rejects.
     */
    async check(choice: ModelChoice): Promise<void> {
      if (choice.apiKey === undefined || choice.provider === 'openai-compatible') return;
      try {
        await checkModel(choice, { fetch, clock, signal: new AbortController().signal });
      } catch (error) {
        const failure = toProviderError(error, choice, 'connect');
        open(choice).problem = noticeOf(failure);
        log.warn({ provider: choice.provider, kind: failure.kind }, 'the configured model cannot be used');
      }
    },
    health(key: string): BackendHealth {
      const circuitState = backends.get(key)?.breaker.state() ?? 'closed';
      return { status: circuitState === 'closed' ? 'up' : 'down', circuitState };
    },
    notices: () => [...backends.values()].flatMap(({ problem }) => problem ?? []),
    async run(signal: AbortSignal) {
      running = signal;
      await Promise.all([...backends.values()].map((backend) => watch(backend, signal)));
      await stopped(signal);
    },
  };
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
