import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Clock } from '../../clock.ts';
import type { Post } from '../../egress/streamed-post.ts';
import type { ModelRequest } from './model.ts';

/** A provider: how to open its SDK package, and the options that a request needs. */
export interface Provider {
  /** Imports the SDK package lazily, to keep startup fast. */
  open(target: ModelTarget): Promise<OpenedModel>;
  options(request: ModelRequest, modelId: string): ProviderOptions;
  /** Whether unsigned reasoning that led to tool calls is sent back as text. Otherwise only signed reasoning is. */
  sendsPlainReasoning: boolean;
  /** Whether a model binds its reasoning to everything before it, and refuses the reasoning after another beginning. */
  bindsReasoning?(modelId: string): boolean;
  /** Whether a model takes requests with `toSummarize`. */
  writesSummaries?(modelId: string): boolean;
}

/** A model of the SDK, or one of ours that is used in the same way. */
export interface OpenedModel {
  modelId: string;
  doStream(options: LanguageModelV4CallOptions, around?: Around): PromiseLike<{ stream: { getReader(): PartReader } }>;
}

/** What a request has besides the options of the SDK. */
export interface Around {
  look?: Look | undefined;
  /** An object that lives as long as the conversation, for what is kept from one request to the next. */
  conversation?: object | undefined;
}

/** Called with the bytes of a successful answer before they are read. An error from it ends the answer. */
export type Look = (bytes: Uint8Array) => void;

export type PartReader = Pick<ReadableStreamDefaultReader<LanguageModelV4StreamPart>, 'read' | 'cancel'>;

export type ProviderOptions = Pick<LanguageModelV4CallOptions, 'reasoning' | 'providerOptions'>;

export interface ModelTarget {
  modelId: string;
  /** Always given: the SDK packages would otherwise read it from the environment. */
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: Fetch;
  post: Post;
  clock: Clock;
}

/** `globalThis.fetch`, as far as providers use it. */
export type Fetch = typeof globalThis.fetch;
