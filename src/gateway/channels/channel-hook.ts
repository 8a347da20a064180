import type { IncomingHttpHeaders } from 'node:http';

/** A request of a chat service to the daemon. */
export interface HookRequest {
  headers: IncomingHttpHeaders;
  /** As it arrived: its signature covers exactly these bytes. */
  body: Buffer;
}

/** How a chat service calls the daemon. */
export interface ChannelHook {
  /** The largest body, in bytes. */
  maxBytes: number;
  /** What a GET of the service expects back; undefined: it is not the service. */
  verify?(query: URLSearchParams): string | undefined;
  /** Resolves when the messages are stored durably. False: the request is not from the service. */
  receive(request: HookRequest): Promise<boolean>;
}

/** The hook of a channel, while it is set up for one. */
export type FindHook = (channel: string) => Promise<ChannelHook | undefined>;
