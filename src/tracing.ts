/** A W3C traceparent: names a span, in this process or in that of a caller. */
export type Traceparent = string;

export type SpanAttributes = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface SpanStart {
  name: string;
  kind: 'server' | 'client' | 'internal';
  /** The span that caused this one; without it, a new trace begins. Ignored if it is not well-formed. */
  parent?: Traceparent | undefined;
  /** Never content of conversations, and never a credential. */
  attributes: SpanAttributes;
}

/** Something that takes time, as operators see it in their tracing system. */
export interface Span {
  readonly traceparent: Traceparent;
  /** `error`: a code, for a span that failed. Call it once. */
  end(ended?: { attributes?: SpanAttributes; error?: string | undefined }): void;
}

/** Reports spans. Never throws and never waits, whatever happens to its receiver. */
export interface Tracing {
  start(span: SpanStart): Span;
  /** Runs work whose `current` span, also in what it awaits, is this one. */
  within<T>(span: Span, work: () => T): T;
  /** The span of the work in progress. */
  current(): Traceparent | undefined;
}

/** Tracing that has a receiver. */
export interface OpenTracing extends Tracing {
  /** Sends what is left, for a second at most. */
  close(): Promise<void>;
}
