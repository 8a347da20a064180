import type { z } from 'zod';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import { type IsListening, isListening } from '../../egress/listening.ts';
import type { Post } from '../../egress/streamed-post.ts';
import type { Log } from '../../log.ts';
import { backendKey, createBackends } from './backends.ts';
import { createDemoModel } from './demo/demo-model.ts';
import { findLocalServer, within } from './discovery.ts';
import { knownContextWindow } from './known-models.ts';
import { findLocalServers } from './local/local-servers.ts';
import type { BackendHealth, Model, Models } from './model.ts';
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
import { toProviderError } from './provider-error.ts';
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
  /** The models of the configuration are other ones now. What runs already goes on with its own. */
  reconfigure(config: Pick<ModelsConfig, 'models' | 'defaultModel'>): void;
  /** Runs the background probes; resolves when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** All models of this daemon, with one circuit breaker per server. */
export function createModels(deps: ModelsDeps): RunningModels {
  const { config, environment, clock, log, fetch, post, listens = isListening, random = Math.random } = deps;
  const limits = AnswerLimits.parse(config.answers ?? {});
  let configured: Pick<z.input<typeof ModelsConfig>, 'models' | 'defaultModel'> = config;
  let localUrl: string | undefined;
  let byDefault = DEMO;
  const known = () => ({ config: configured, environment, localUrl });
  const backends = createBackends({ clock, random, fetch, log }, (key) => {
    if (key === backendKey(byDefault)) deps.onHealthChange?.(health());
  });
  const health = () => backends.health(backendKey(byDefault));
  const kept = keepModels((choice) =>
    createUpstreamModel(choice, { clock, random, fetch, post, limits, backend: backends.of(choice) }),
  );
  const { models } = kept;
  const resolve = resolver({ kept, backends, demo: createDemoModel({ clock }), log });
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
    reconfigure(next) {
      byDefault = chooseDefault({ config: next, environment, localUrl, wanted: deps.model }) ?? DEMO; // may throw
      configured = next;
      backends.forgetProblems();
      void backends.check(byDefault);
    },
    run: (signal) => backends.run(signal),
    resolve: async (alias) => resolve(alias === undefined ? byDefault : chooseModel(alias, known())),
    open: async (model) => resolve(chooseUnnamed(model, known()), kept.unnamed),
    check: (alias, signal) => checkModel(chooseModel(alias, known()), { fetch, clock, signal }),
    checkCandidate: async (model, signal) => checkModel(chooseUnnamed(model, known()), { fetch, clock, signal }),
    discover: (signal) => findLocalServers({ fetch, listens, clock, signal }),
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

interface ResolverDeps {
  kept: ReturnType<typeof keepModels>;
  backends: ReturnType<typeof createBackends>;
  demo: Model;
  log: Log;
}

/** Finds the models of choices. */
const resolver =
  ({ kept, backends, demo, log }: ResolverDeps) =>
  async (choice: ModelChoice, modelOf = kept.named): Promise<Model> => {
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

type UpstreamChoice = ModelChoice & { provider: Exclude<ModelChoice['provider'], 'demo'> };

/** The models that were asked for: by their aliases, and the latest one without. */
function keepModels(create: (choice: UpstreamChoice) => UpstreamModel) {
  const models = new Map<string, UpstreamModel>();
  const keys = new Map<string, string>();
  let latest: { key: string; model: UpstreamModel } | undefined;
  return {
    models,
    named(choice: UpstreamChoice): UpstreamModel {
      const key = JSON.stringify(choice); // its settings may change, too
      const kept = keys.get(choice.alias) === key ? models.get(choice.alias) : undefined;
      const model = kept ?? create(choice);
      models.set(choice.alias, model);
      keys.set(choice.alias, key);
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
