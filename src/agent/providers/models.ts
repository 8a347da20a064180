import type { z } from 'zod';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import { type IsListening, isListening } from '../../egress/listening.ts';
import type { Post } from '../../egress/streamed-post.ts';
import type { Log } from '../../log.ts';
import { probeRegularly } from './breaker-probe.ts';
import { type CircuitBreaker, createCircuitBreaker, isOutage } from './circuit-breaker.ts';
import { createDemoModel } from './demo/demo-model.ts';
import { findLocalServer, within } from './discovery.ts';
import { knownContextWindow } from './known-models.ts';
import type { BackendHealth, Model, Models, ProviderError } from './model.ts';
import { checkModel } from './model-check.ts';
import {
  chooseDefault,
  chooseModel,
  chooseUnnamed,
  DEMO,
  listChoices,
  type ModelChoice,
  type ProviderEnvironment,
} from './model-choice.ts';
import { AnswerLimits, type ModelsConfig } from './models-config.ts';
import type { SourcedPrice } from './prices/list-prices.ts';
import type { Fetch } from './provider.ts';
import { nameOf, toProviderError } from './provider-error.ts';
import { createUpstreamModel, sourcedPriceOf, type UpstreamModel } from './upstream-model.ts';

export interface ModelsDeps {
  config: z.input<typeof ModelsConfig>;
  /** Also contains the variables that `apiKeyEnv` names. */
  environment: ProviderEnvironment;
  /** From `--model` or HEADGATE_MODEL: an alias, or `provider/model`. */
  model?: string | undefined;
  clock: Clock;
  log: Log;
  /** Must not follow redirects, because every request carries a key. */
  fetch: Fetch;
  /** Like `fetch`, for the answers of openai-compatible servers. */
  post: Post;
  /** Whether one of the usual local servers is worth asking. */
  listens?: IsListening;
  random?: () => number;
  /** Called when the backend of the default model goes up or down. */
  onHealthChange?: (health: BackendHealth) => void;
}

export interface RunningModels extends Models {
  /** Chooses the default model. Call it once, before anything else. Throws GatewayError for an unusable choice. */
  start(): Promise<void>;
  /** Runs the background probes; resolves when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** All models of this daemon, with one circuit breaker per server. */
export function createModels(deps: ModelsDeps): RunningModels {
  const { config, environment, clock, log, fetch, post, listens = isListening, random = Math.random } = deps;
  const limits = AnswerLimits.parse(config.answers ?? {});
  let localUrl: string | undefined;
  let byDefault = DEMO;
  const known = () => ({ config, environment, localUrl });
  const backends = createBackends({ clock, random, fetch, log }, (key) => {
    if (key === backendKey(byDefault)) deps.onHealthChange?.(health());
  });
  const health = () => backends.health(backendKey(byDefault));
  const demo = createDemoModel({ clock });
  const kept = keepModels((choice) =>
    createUpstreamModel(choice, { clock, random, fetch, post, limits, backend: backends.of(choice) }),
  );
  const { models } = kept;
  const resolve = async (choice: ModelChoice, modelOf = kept.named): Promise<Model> => {
    const { provider } = choice;
    if (provider === 'demo') return demo;
    const model = modelOf({ ...choice, provider });
    const { breaker, onOutcome } = backends.of(choice);
    // If the server is down, the answer itself will fail with the reason.
    if (breaker.state() === 'closed') {
      await model.describe(new AbortController().signal).catch((error: unknown) => {
        const failure = toProviderError(error, choice, 'connect');
        onOutcome(failure);
        log.warn({ provider, kind: failure.kind }, 'the model could not be described');
      });
    }
    return model;
  };
  return {
    async start() {
      const { signal } = new AbortController();
      let choice = chooseDefault({ config, environment, localUrl, wanted: deps.model });
      if (!choice) {
        localUrl = await findLocalServer({ fetch, listens, clock, signal });
        choice = chooseDefault(known());
      }
      byDefault = choice ?? DEMO;
      const wanted = byDefault;
      void backends.check(wanted);
      await within(START_MS, { clock, signal }, () => resolve(wanted)).catch(() =>
        log.info({ provider: wanted.provider }, 'the model is still being described'),
      );
    },
    run: (signal) => backends.run(signal),
    resolve: async (alias) => resolve(alias === undefined ? byDefault : chooseModel(alias, known())),
    open: async (model) => resolve(chooseUnnamed(model, known()), kept.unnamed),
    check: (alias, signal) => checkModel(chooseModel(alias, known()), { fetch, clock, signal }),
    current: () => describe(byDefault, models),
    list() {
      const others = listChoices(known()).filter(({ alias }) => alias !== byDefault.alias);
      return [byDefault, ...others].map((choice) => ({
        ...describe(choice, models),
        contextWindow: windowOf(choice, models),
        ...pricedAs(choice, clock.now()),
        isDefault: choice === byDefault,
      }));
    },
    notices: () => [...noticesOf(byDefault), ...backends.notices()],
    health,
    untilReached: async (alias) => backends.untilReached(alias === undefined ? byDefault : chooseModel(alias, known())),
  };
}

type UpstreamChoice = ModelChoice & { provider: Exclude<ModelChoice['provider'], 'demo'> };

/** The models that were asked for: by their aliases, and the latest one without. */
function keepModels(create: (choice: UpstreamChoice) => UpstreamModel) {
  const models = new Map<string, UpstreamModel>();
  let latest: { key: string; model: UpstreamModel } | undefined;
  return {
    models,
    named(choice: UpstreamChoice): UpstreamModel {
      const model = models.get(choice.alias) ?? create(choice);
      models.set(choice.alias, model);
      return model;
    },
    /** Its settings may change while the daemon runs. */
    unnamed(choice: UpstreamChoice): UpstreamModel {
      const key = JSON.stringify(choice);
      latest = latest?.key === key ? latest : { key, model: create(choice) };
      return latest.model;
    },
  };
}

/** How long an unresponsive server may delay the start. */
const START_MS = 1_000;

function describe({ alias, provider, modelId }: ModelChoice, models: ReadonlyMap<string, UpstreamModel>) {
  return { alias, provider, modelId: models.get(alias)?.modelId ?? modelId ?? '' };
}

function pricedAs(choice: ModelChoice, nowMs: number): { price?: SourcedPrice } {
  const price = sourcedPriceOf(choice, nowMs);
  return price ? { price } : {};
}

/** Tokens; 0 while it is unknown. */
const windowOf = (
  { alias, modelId, settings }: ModelChoice,
  models: ReadonlyMap<string, Pick<UpstreamModel, 'contextWindow'>>,
): number => models.get(alias)?.contextWindow ?? settings.contextWindow ?? knownContextWindow(modelId ?? '');

function noticesOf({ alias, provider, apiKey, keyName }: ModelChoice): Notice[] {
  if (provider === 'demo') {
    return [{ code: 'demo_model', level: 'info', text: DEMO_ANSWERS }];
  }
  if (apiKey !== undefined || provider === 'openai-compatible') return [];
  return [warn('model_key_missing', `The model ${alias} needs a key, but ${keyName} is not set.`)];
}

const DEMO_ANSWERS =
  'The built-in demo model is in use. For a real model, set OPENAI_BASE_URL (any OpenAI-compatible server), ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or name one in config.json.';

function noticeOf({ kind, message }: ProviderError): Notice {
  if (kind === 'unauthorized') return warn('model_key_refused', message);
  return warn(kind === 'refused' ? 'model_unusable' : 'model_unreachable', message);
}

const backendKey = ({ provider, baseUrl }: ModelChoice) => `${provider} ${baseUrl}`;

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
function createBackends(
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
