import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../clock.ts';
import { withWholeCharacters } from '../../content/whole-characters.ts';
import { toDay } from '../../day.ts';
import type { Post } from '../../egress/streamed-post.ts';
import { streamAiSdk } from './ai-sdk/ai-sdk.ts';
import { type GatedImages, gateImages } from './ai-sdk/kept-images.ts';
import { type AnswerMeter, createAnswerMeter } from './answer-limits.ts';
import { anthropic } from './anthropic.ts';
import { type Admit, type CircuitBreaker, throughBreaker } from './circuit-breaker.ts';
import { deadlinesFor } from './deadlines.ts';
import { type Description, describeModel, within } from './discovery.ts';
import { google } from './google.ts';
import { knownContextWindow } from './known-models.ts';
import { withMeter } from './metered-body.ts';
import { type Model, type ModelPart, type ModelRequest, ProviderError } from './model.ts';
import type { ModelChoice } from './model-choice.ts';
import type { AnswerLimits, ProviderName } from './models-config.ts';
import { openai } from './openai.ts';
import { openaiCompatible } from './openai-compatible.ts';
import { listPrice, type SourcedPrice } from './prices/list-prices.ts';
import type { Fetch, ModelTarget, OpenedModel, Provider } from './provider.ts';
import { keyMissing, toProviderError } from './provider-error.ts';
import { askWhileAway, circuitOpen } from './retrying/away.ts';
import { createEffortGate } from './retrying/refused-effort.ts';
import { begun, isAway } from './retrying/retry.ts';

export interface UpstreamModel extends Model {
  /** Gets the name and context window from the server. Asks once, and again only after a failure. */
  describe(signal: AbortSignal): Promise<void>;
}

interface UpstreamDeps {
  clock: Clock;
  random: () => number;
  fetch: Fetch;
  post: Post;
  limits: AnswerLimits;
  backend: UpstreamBackend;
}

interface Asked {
  request: ModelRequest;
  modelId: string;
}

/** What the models of one server share. */
interface UpstreamBackend {
  breaker: CircuitBreaker;
  /** How the last failed request to the server failed. */
  whyDown: () => string | undefined;
  /** Called with the error of every failed answer, and with undefined for every complete one. */
  onOutcome: (error: ProviderError | undefined) => void;
  onRetry: (error: ProviderError) => void;
}

/** A chosen model with its breaker, retries and deadlines. */
export function createUpstreamModel(
  choice: ModelChoice & { provider: Exclude<ProviderName, 'demo'> },
  { clock, random, fetch, post, limits, backend: { breaker, whyDown, onOutcome, onRetry } }: UpstreamDeps,
): UpstreamModel {
  const kind = PROVIDERS[choice.provider];
  const takesImages = choice.settings.images ?? true;
  const { baseUrl, apiKey } = choice;
  const open = createOpening(kind, { baseUrl, apiKey, fetch, post, clock });
  const withEffort = createEffortGate(kind);
  const described = createDescriptions(choice, { fetch, clock });
  const nameModel = async (signal: AbortSignal) => choice.modelId ?? (await described.learn(signal)).modelId;
  const ask = async (
    { request, modelId, images }: Asked & { images: GatedImages },
    signal: AbortSignal,
  ): Promise<AsyncIterable<ModelPart>> => {
    const deadlines = deadlinesFor(choice.baseUrl, limits);
    const meter = createAnswerMeter(limits, choice);
    const model = await open(modelId, meter);
    const { attaching, warning, answered } = images;
    const asked = { model, kind, upstream: choice, attaching };
    const around = { clock, signal, deadlines, onPart: meter.part, warning, images: answered };
    return begun(streamAiSdk(asked, request, around));
  };
  /**
   * If the server refuses a request with new images for an unknown reason or because of them, retries without them, so
   * that an image cannot end a conversation. If that is refused, too, the new images were not the reason.
   */
  const askWithImages = async ({ request, modelId }: Asked, signal: AbortSignal): Promise<AsyncIterable<ModelPart>> => {
    const gate = gateImages(request, { modelId, takesImages });
    const askWithout = (more?: readonly string[]) => ask({ request, modelId, images: gate.opening(more) }, signal);
    return askWithout().catch((error: unknown) => retryWithout(gate.suspectsOf(error), { error, askWithout }));
  };
  const attempt = async (request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<ModelPart>> => {
    const modelId = await nameModel(signal);
    return withEffort({ request, modelId }, (asked) => askWithImages({ request: asked, modelId }, signal));
  };
  const onEnd = (error: unknown) => {
    if (error !== undefined && !(error instanceof ProviderError)) return;
    onOutcome(isAway(error) && error.cause instanceof ProviderError ? error.cause : error); // without the remedy
    if (error?.kind === 'refused') described.outdate(); // the server may have another model by now
  };
  const stream: Model['stream'] = (request, signal, patience) => {
    if (choice.apiKey === undefined && choice.provider !== 'openai-compatible') throw keyMissing(choice);
    const settings = limitsOf(choice);
    const maxWaitMs = limits.retrySecs * 1000;
    const askPatiently = (admit: Admit) => {
      const askOnce = (isAsked: boolean) => {
        admit(isAsked);
        return attempt({ ...settings, ...request }, signal);
      };
      return askWhileAway(choice, askOnce, { clock, random, signal, maxWaitMs, patience, onRetry });
    };
    return throughBreaker(breaker, askPatiently, { signal, onEnd, refusal: () => circuitOpen(choice, whyDown()) });
  };
  return {
    alias: choice.alias,
    provider: choice.provider,
    family: familyOf(choice),
    fallback: choice.settings.fallback ?? [],
    writesSummaries: kind.writesSummaries?.(choice.modelId ?? '') ?? false,
    get modelId() {
      return described.latest()?.modelId ?? choice.modelId ?? '';
    },
    get contextWindow() {
      return (
        choice.settings.contextWindow ?? described.latest()?.contextWindow ?? knownContextWindow(choice.modelId ?? '')
      );
    },
    maxOutputTokens: choice.settings.maxOutputTokens,
    get price() {
      return sourcedPriceOf(choice, clock.now())?.price;
    },
    describe: async (signal) => void (await described.learn(signal)),
    stream,
  };
}

/** The price of config.json, or the list price of a hosted model. */
export function sourcedPriceOf(
  { provider, modelId, settings }: Pick<ModelChoice, 'provider' | 'modelId' | 'settings'>,
  nowMs: number,
): SourcedPrice | undefined {
  if (settings.price) return { price: settings.price, source: 'config.json' };
  return provider === 'openai-compatible' ? undefined : listPrice(modelId ?? '', toDay(nowMs));
}

/** Rejects with the refusal if no image is suspected. */
function retryWithout<T>(
  suspects: readonly string[],
  { error, askWithout }: { error: unknown; askWithout(more: readonly string[]): Promise<T> },
): Promise<T> {
  if (suspects.length === 0) throw error;
  return askWithout(suspects);
}

/** A hosted provider understands the reasoning of all its models. Of other servers only the same one does. */
const familyOf = ({ provider, baseUrl }: ModelChoice): string =>
  provider === 'openai-compatible' ? `${provider} ${baseUrl}` : provider;

/**
 * Opens the model once, because opening costs as much as a request. A model of the SDK has a single `fetch`, so the
 * meter that counts the bytes of an attempt is passed along with the call.
 */
function createOpening(kind: Provider, { baseUrl, apiKey, fetch, post, clock }: Omit<ModelTarget, 'modelId'>) {
  const meters = new AsyncLocalStorage<AnswerMeter>();
  const metered: Fetch = async (url, init) => {
    const meter = meters.getStore();
    if (meter === undefined) throw new Error('the model was asked outside of an attempt');
    const body = typeof init?.body === 'string' ? { body: withWholeCharacters(init.body) } : {};
    return withMeter(fetch, meter.bytes)(url, { ...init, ...body });
  };
  let latest: OpenedModel | undefined;
  return async (modelId: string, meter: AnswerMeter): Promise<OpenedModel> => {
    const target = { modelId, baseUrl, apiKey, fetch: metered, post, clock };
    const opened = latest?.modelId === modelId ? latest : await kind.open(target);
    latest = opened;
    const look = meter.bytes;
    const doStream: OpenedModel['doStream'] = (options, { conversation } = {}) =>
      meters.run(meter, () => opened.doStream(options, { look, conversation }));
    return { modelId, doStream };
  };
}

function limitsOf({ settings }: ModelChoice): Pick<ModelRequest, 'maxOutputTokens' | 'temperature'> {
  const { maxOutputTokens, temperature } = settings;
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

const PROVIDERS: Record<Exclude<ProviderName, 'demo'>, Provider> = {
  'openai-compatible': openaiCompatible,
  openai,
  anthropic,
  google,
};

const DISCOVERY_MS = 5_000;
/** How long a server that did not answer is not asked about its model: it may hang, and each turn would wait for it. */
const SILENCE_MS = 60_000;

/** What the server says about a model. */
function createDescriptions(choice: ModelChoice, { fetch, clock }: Pick<UpstreamDeps, 'fetch' | 'clock'>) {
  let latest: Description | undefined;
  let isOutdated = true;
  let silentUntilMs = 0;
  return {
    latest: () => latest,
    /** Asks again before the next request. Until then, the old description counts. */
    outdate(): void {
      isOutdated = true;
      silentUntilMs = 0;
    },
    /** Asks only once if the server has answered, and else once a minute. */
    async learn(signal: AbortSignal): Promise<Description> {
      if (latest && (!isOutdated || clock.monotonic() < silentUntilMs)) return latest;
      const described = await describeChoice(choice, { fetch, clock, signal });
      isOutdated = described === 'not answered';
      if (isOutdated) silentUntilMs = clock.monotonic() + SILENCE_MS;
      latest = described === 'not answered' ? (latest ?? knownOf(choice)) : described;
      return latest;
    },
  };
}

/** Asks only openai-compatible servers. A named model is used even if the server does not describe it. */
async function describeChoice(
  choice: ModelChoice,
  { fetch, clock, signal }: { fetch: Fetch; clock: Clock; signal: AbortSignal },
): Promise<Description | 'not answered'> {
  if (choice.provider !== 'openai-compatible') return knownOf(choice);
  try {
    return await within(DISCOVERY_MS, { clock, signal }, (inTime) => describeModel(choice, { fetch, signal: inTime }));
  } catch (error) {
    signal.throwIfAborted();
    const failure = toProviderError(error, choice, 'connect');
    if (choice.modelId === undefined || failure.kind === 'unauthorized') throw failure;
    return failure.kind === 'refused' ? knownOf(choice) : 'not answered';
  }
}

const knownOf = ({ modelId = '' }: ModelChoice): Description => ({
  modelId,
  contextWindow: knownContextWindow(modelId),
});
