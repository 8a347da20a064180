import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelRequest } from './model.ts';

/** What is known of one provider: how its SDK package is opened and which options a request needs. */
export interface Provider {
  /** Imports the SDK package, which a plain start must not pay for. */
  open(target: ModelTarget): Promise<LanguageModelV4>;
  options(request: ModelRequest, modelId: string): ProviderOptions;
  /** Unsigned reasoning of the running turn is sent back as text; elsewhere only signed reasoning is. */
  sendsPlainReasoning: boolean;
}

export type ProviderOptions = Pick<LanguageModelV4CallOptions, 'reasoning' | 'providerOptions'>;

export interface ModelTarget {
  modelId: string;
  /** Always given: the SDK packages would otherwise read it from the process environment. */
  baseUrl: string;
  apiKey?: string;
  fetch: Fetch;
}

/** `globalThis.fetch`, as far as providers use it. */
export type Fetch = typeof globalThis.fetch;
