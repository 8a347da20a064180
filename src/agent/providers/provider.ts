import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelRequest } from './model.ts';

/** A provider: how to open its SDK package, and the options that a request needs. */
export interface Provider {
  /** Imports the SDK package lazily, to keep startup fast. */
  open(target: ModelTarget): Promise<LanguageModelV4>;
  options(request: ModelRequest, modelId: string): ProviderOptions;
  /** Whether unsigned reasoning of the running turn is sent back as text. Otherwise only signed reasoning is. */
  sendsPlainReasoning: boolean;
}

export type ProviderOptions = Pick<LanguageModelV4CallOptions, 'reasoning' | 'providerOptions'>;

export interface ModelTarget {
  modelId: string;
  /** Always given: the SDK packages would otherwise read it from the environment. */
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: Fetch;
}

/** `globalThis.fetch`, as far as providers use it. */
export type Fetch = typeof globalThis.fetch;
