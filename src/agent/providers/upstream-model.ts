import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../clock.ts';
import { streamAiSdk } from './ai-sdk/ai-sdk.ts';
import { createImageGate } from './ai-sdk/kept-images.ts';
import { type AnswerMeter, createAnswerMeter } from './answer-limits.ts';
import { anthropic } from './anthropic.ts';
import { type CircuitBreaker, throughBreaker } from './circuit-breaker.ts';
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
import type { Fetch, ModelTarget, Provider } from './provider.ts';
import { keyMissing, toProviderError } from './provider-error.ts';
import { withRetries } from './retry.ts';

export interface UpstreamModel extends Model {
  /** Gets the name and context window from the server. Asks once, and again only after a failure. */
  describe(signal: AbortSignal): Promise<void>;
}

interface UpstreamDeps {
  clock: Clock;
  random: () => number;
  fetch: Fetch;
  breaker: CircuitBreaker;
  limits: AnswerLimits;
  /** Called with the error of every failed answer, and with undefined for every complete one. */
  onOutcome: (error: ProviderError | undefined) => void;
  onRetry: (error: ProviderError) => void;
}

/** A chosen model with its breaker, retries and deadlines. */
export function createUpstreamModel(
  choice: ModelChoice & { provider: Exclude<ProviderName, 'demo'> },
  { clock, random, fetch, breaker, limits, onOutcome, onRetry }: UpstreamDeps,
): UpstreamModel {
  const kind = PROVIDERS[choice.provider];
  const images = createImageGate({ takesImages: choice.settings.images ?? true });
  const open = createOpening(kind, choice, fetch);
  let described: Description | undefined;

  const learn = async (signal: AbortSignal): Promise<Description> => {
    described ??= await describeChoice(choice, { fetch, clock, signal });
    return described;
  };
  async function* ask(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const modelId = choice.modelId ?? (await learn(signal)).modelId;
    const deadlines = deadlinesFor(choice.baseUrl, limits);
    const meter = createAnswerMeter(limits, choice);
    const model = await open(modelId, meter);
    yield* streamAiSdk({ model, kind, upstream: choice, attaching: images.attaching(request) }, request, {
      clock,
      signal,
      deadlines,
      onPart: meter.part,
    });
  }
  /**
   * If the server refuses a request with images, retries once without them, so that an image cannot end a conversation.
   */
  async function* attempt(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    let spoke = false;
    try {
      for await (const part of ask(request, signal)) {
        spoke = true;
        yield withWarning(part, images.warning(request));
      }
    } catch (error) {
      if (spoke || !images.mayRetry(error, request)) throw error;
      for await (const part of ask(request, signal)) yield withWarning(part, images.warning(request));
    }
  }
  const onFailure = (error: unknown) => {
    if (!(error instanceof ProviderError)) return;
    onOutcome(error);
    if (error.kind === 'refused') described = undefined; // the server may have another model by now
  };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    if (choice.apiKey === undefined && choice.provider !== 'openai-compatible') throw keyMissing(choice);
    const settings = limitsOf(choice);
    const askOnce = () => attempt({ ...settings, ...request }, signal);
    const askPatiently = () => withRetries(askOnce, { clock, random, signal, onRetry });
    try {
      yield* throughBreaker(breaker, askPatiently, signal);
      onOutcome(undefined);
    } catch (error) {
      onFailure(error);
      throw error;
    }
  }
  return {
    alias: choice.alias,
    provider: choice.provider,
    get modelId() {
      return described?.modelId ?? choice.modelId ?? '';
    },
    get contextWindow() {
      return choice.settings.contextWindow ?? described?.contextWindow ?? knownContextWindow(choice.modelId ?? '');
    },
    describe: async (signal) => void (await learn(signal)),
    stream,
  };
}

type Opened = Pick<LanguageModelV4, 'modelId' | 'doStream'>;

/**
 * Opens the SDK's model once, because opening costs as much as a request. The model has a single `fetch`, so the meter
 * that counts the bytes of an attempt is passed along with the call.
 */
function createOpening(kind: Provider, { baseUrl, apiKey }: Omit<ModelTarget, 'modelId' | 'fetch'>, fetch: Fetch) {
  const meters = new AsyncLocalStorage<AnswerMeter>();
  const metered: Fetch = async (url, init) => {
    const meter = meters.getStore();
    if (meter === undefined) throw new Error('the model was asked outside of an attempt');
    return withMeter(fetch, meter.bytes)(url, init);
  };
  let latest: LanguageModelV4 | undefined;
  return async (modelId: string, meter: AnswerMeter): Promise<Opened> => {
    const opened = latest?.modelId === modelId ? latest : await kind.open({ modelId, baseUrl, apiKey, fetch: metered });
    latest = opened;
    return { modelId, doStream: (options) => meters.run(meter, () => opened.doStream(options)) };
  };
}

const withWarning = (part: ModelPart, warning: string | undefined): ModelPart =>
  part.type === 'finish' && warning !== undefined ? { ...part, warning } : part;

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

/** Asks only openai-compatible servers. A named model is used even if the server does not describe it. */
async function describeChoice(
  choice: ModelChoice,
  { fetch, clock, signal }: { fetch: Fetch; clock: Clock; signal: AbortSignal },
): Promise<Description> {
  const { modelId, provider } = choice;
  const known = { modelId: modelId ?? '', contextWindow: knownContextWindow(modelId ?? '') };
  if (provider !== 'openai-compatible') return known;
  try {
    return await within(DISCOVERY_MS, { clock, signal }, (inTime) => describeModel(choice, { fetch, signal: inTime }));
  } catch (error) {
    signal.throwIfAborted();
    const failure = toProviderError(error, choice, 'connect');
    if (modelId === undefined || failure.kind === 'unauthorized') throw failure;
    return known;
  }
}
