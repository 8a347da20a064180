import type { LocalModelServer, ModelProblem } from '../../../protocol/methods/models.ts';
import type { Notice } from '../../../protocol/notice.ts';
import type { Effort } from '../../../protocol/stream-events.ts';
import type { AttachedContents } from '../attached-content.ts';
import type { AnsweredImages, Message, ToolCall } from '../message.ts';
import type { ModelConfig } from './models-config.ts';
import type { SourcedPrice } from './prices/list-prices.ts';
import type { Price } from './prices/price.ts';
import type { Refusal } from './refusals/refusal.ts';

/** A tool as described to a model. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  system: string;
  messages: readonly Message[];
  /** The ids of calls that the messages may leave out. An answer gets other ones, too. */
  earlierCalls?: ReadonlySet<string>;
  /** What ids of calls end with, because several conversations show them together. */
  callIdSuffix?: string;
  /** The contents of the attachments in the messages; missing ones are not available. */
  attachments?: AttachedContents;
  tools: readonly ToolDefinition[];
  effort: Effort;
  maxOutputTokens?: number;
  temperature?: number;
  /** Whether a person typed the last user message. The demo model runs tools only then. */
  typedByPerson: boolean;
  /** Names the beginning that the requests of a conversation share, for caches of the provider. */
  conversation?: string;
  /** The next request may come after more than five minutes: after an approval, or with the next run of a job. */
  mayPause?: boolean;
  /** Asks the maker for a summary of the messages instead of an answer. Only for models that can (`writesSummaries`). */
  toSummarize?: { instructions: string };
}

export interface Usage {
  promptTokens: number;
  completionTokens: number;
  cacheCreationTokens: number;
  cacheReadTokens: number;
  /** Part of `completionTokens`; absent if the upstream does not count them. */
  reasoningTokens?: number;
}

/** A wait before a request is repeated. */
export interface Pause {
  /** Why the last attempt failed. */
  error: ProviderError;
  untilMs: number;
  /** The number of the attempt that follows, and of the last one. */
  attempt: number;
  attempts: number;
}

/** How a caller waits between attempts. Without it, each wait just takes its time. */
export interface Patience {
  /** Another model may answer instead, so only short waits are worth it. */
  hasFallback: boolean;
  /**
   * Resolves when the next attempt may begin: `now` if a person asks for it before its time. Rejects with the signal's
   * reason.
   */
  wait(pause: Pause, signal: AbortSignal): Promise<'now' | 'in time'>;
}

/** `summary`: the text is the summary that was asked for. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'summary' | 'other';

/** A part of a model's answer. `finish` comes exactly once, at the end. */
export type ModelPart =
  | { type: 'reasoning'; text: string }
  | { type: 'content'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  | {
      type: 'finish';
      reason: FinishReason;
      usage: Usage;
      providerData?: Record<string, unknown>;
      warning?: string;
      /** Absent if there were none but those that earlier answers name. */
      images?: AnsweredImages;
      droppedThoughts?: number;
    };

/** A model that answers, already wrapped in breaker, retries and deadlines. */
export interface Model {
  /** The alias it was chosen by, or `provider/model`. */
  alias: string;
  provider: string;
  modelId: string;
  /** Tokens; 0 when unknown. */
  contextWindow: number;
  /** Tokens; undefined when the configuration sets no limit. */
  maxOutputTokens?: number | undefined;
  /** Undefined when unknown. */
  price?: Price | undefined;
  /** Models of one family can continue each other's runs. */
  family: string;
  /** Aliases of the models that may answer instead, best first. */
  fallback: readonly string[];
  /** Whether its maker summarizes a conversation on request (`toSummarize`). Absent: no. */
  writesSummaries?: boolean;
  /**
   * Streams one answer. Aborting the signal closes the upstream socket and ends the iteration with the signal's reason.
   * Throws `ProviderError` for all upstream failures, even after parts have been delivered.
   */
  stream(request: ModelRequest, signal: AbortSignal, patience?: Patience): AsyncIterable<ModelPart>;
}

/** What is known of a failure beyond its kind. */
export type ProviderErrorDetail =
  | 'away' // the upstream cannot be reached, or the proxy in front of it reports that
  | 'overloaded' // the upstream has too much to do
  | 'no_credit' // the account has nothing left
  | 'no_model'; // the upstream does not have the model

/** An upstream failure, described for people; never contains a key. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ModelProblem;
  /** Whether a retry may succeed, according to the upstream. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Why the request was refused, if the upstream says so. Only for the kind `refused`. */
  readonly refusal: Refusal | undefined;
  readonly detail: ProviderErrorDetail | undefined;

  constructor(
    kind: ModelProblem,
    message: string,
    options: {
      retryable?: boolean;
      retryAfterMs?: number;
      refusal?: Refusal | undefined;
      detail?: ProviderErrorDetail | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.refusal = options.refusal;
    this.detail = options.detail;
  }

  /** The same error, which also says what a person can do. */
  adding(remedy: string): ProviderError {
    const { retryable, retryAfterMs, refusal, detail } = this;
    const later = retryAfterMs === undefined ? {} : { retryAfterMs };
    const said = /[.!?…]$/.test(this.message) ? this.message : `${this.message}.`;
    return new ProviderError(this.kind, `${said} ${remedy}`, { retryable, ...later, refusal, detail, cause: this });
  }
}

export interface BackendHealth {
  status: 'up' | 'down';
  circuitState: 'closed' | 'open' | 'half_open';
}

/** A model as lists show it. */
export interface ListedModel {
  alias: string;
  provider: string;
  modelId: string;
  /** Tokens; 0 when unknown. */
  contextWindow: number;
  /** Absent when unknown. */
  price?: SourcedPrice;
  isDefault: boolean;
}

/** The models that this daemon can use. */
export interface Models {
  /**
   * Finds a model by an alias of config.json or by `provider/model`; without a name, the default one. Throws
   * GatewayError INVALID_REQUEST with the known aliases.
   */
  resolve(alias?: string): Promise<Model>;
  /** A model without an alias. Throws GatewayError INVALID_REQUEST if it has no server. */
  open(model: ModelConfig): Promise<Model>;
  /** The list for `/model`, with the default first. Asks no server. */
  list(): ListedModel[];
  /**
   * Asks the server of a model whether it answers, accepts the key and has the model, and returns the model's name. Uses no
   * tokens. Throws ProviderError, and GatewayError INVALID_REQUEST for an unknown model.
   */
  check(alias: string, signal: AbortSignal): Promise<string>;
  /** The same for a model that is not configured. */
  checkCandidate(model: ModelConfig, signal: AbortSignal): Promise<string>;
  /** The usual servers of this machine that have models. Asks all of them, without a key. */
  discover(signal: AbortSignal): Promise<LocalModelServer[]>;
  /** What is known of the default model without asking its server (for banners, `/health`, metrics). */
  current(): { alias: string; provider: string; modelId: string };
  /** Problems that a person should know: demo model in use, key missing, key rejected. */
  notices(): Notice[];
  health(): BackendHealth;
  /** Resolves when the server of the model answers the next time. Throws like `resolve`. */
  untilReached(alias?: string): Promise<void>;
}
