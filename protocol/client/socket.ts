/** What arrives from a socket; which fields are set depends on the kind of event. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

/** The part of a WebSocket that the client uses: the global one of browsers and Node, and `ws`, have it. */
export interface SocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

/** A WebSocket class: that of the browser, of Node, or of the `ws` package. */
export type SocketConstructor = new (url: string) => SocketLike;
