import type { Notice } from '../../../protocol/notice.ts';
import type { AttachedContents } from '../attached-content.ts';
import type { Message, ToolCall } from '../message.ts';

export type Effort = 'low' | 'medium' | 'high';

/** A tool as a model is told about it. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  system: string;
  messages: readonly Message[];
  /** What the attachments that messages name hold; what is missing cannot be had. */
  attachments?: AttachedContents;
  tools: readonly ToolDefinition[];
  effort: Effort;
  maxOutputTokens?: number;
  temperature?: number;
  /** A person typed the last user message (the demo model runs tools only then). */
  typedByPerson: boolean;
}

export interface Usage {
  promptTokens: number;
  completionTokens: number;
  cacheCreationTokens: number;
  cacheReadTokens: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other';

/** One piece of a model's answer. `finish` comes exactly once and last. */
export type ModelPart =
  | { type: 'reasoning'; text: string }
  | { type: 'content'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  | { type: 'finish'; reason: FinishReason; usage: Usage; providerData?: Record<string, unknown>; warning?: string };

/** A model that answers; breaker, retries and deadlines are already around it. */
export interface Model {
  /** The alias it was asked for by, or `provider/model`. */
  alias: string;
  provider: string;
  modelId: string;
  /** Tokens; 0 when unknown. */
  contextWindow: number;
  /**
   * Streams one answer. Aborting the signal closes the upstream socket and ends the iteration with the signal's reason.
   * Throws `ProviderError` for everything that goes wrong upstream, also after parts have been delivered.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export type ProviderErrorKind =
  | 'unauthorized' // no key, or the upstream refused it
  | 'rate_limited'
  | 'unreachable' // nothing answered
  | 'timeout' // connected, then silent beyond the deadline
  | 'interrupted' // the stream broke after its first part
  | 'over_limit' // the answer is longer than one may be here
  | 'circuit_open'
  | 'refused'; // the upstream says that the request is wrong

/** What went wrong upstream, in words for a person; never contains a key. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** A further attempt may succeed, as far as the upstream said. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: { retryable?: boolean; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export interface BackendHealth {
  status: 'up' | 'down';
  circuitState: 'closed' | 'open' | 'half_open';
}

/** The models this daemon can use. */
export interface Models {
  /** The model of an alias of config.json, of `provider/model`, or the default one. Throws GatewayError INVALID_REQUEST naming the known aliases. */
  resolve(alias?: string): Promise<Model>;
  /** What `/model` lists: aliases first the default, without probing anything. */
  list(): { alias: string; provider: string; modelId: string; isDefault: boolean }[];
  /** Known without waiting: the default alias and what is known of its model (for banners, `/health`, metrics). */
  current(): { alias: string; provider: string; modelId: string };
  /** Things a person should know: demo model in use, key missing, upstream refused the key. */
  notices(): Notice[];
  health(): BackendHealth;
}
