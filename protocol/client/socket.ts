/** An event of a socket; which fields are set depends on its type. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

/** The part of a WebSocket that the client uses. The global WebSocket of browsers and Node has it, and so does `ws`. */
export interface SocketLike {
  /** 2 and 3: it closes, or is closed. */
  readonly readyState?: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

/** A WebSocket class of the browser, of Node, or of the `ws` package. */
export type SocketConstructor = new (url: string) => SocketLike;
