/**
 * Carries messages between the daemons of a database. It keeps the order of what one daemon sends to another, and may lose
 * messages while it is not connected: `Link` notices that.
 */
export interface Transport {
  /** Sends a message to the daemon with this process id. Throws if it is not connected. */
  send(to: string, message: Uint8Array): void;
  readonly isConnected: boolean;
  /** Calls back when it is connected, and when it is not any more. */
  onState(listener: (isConnected: boolean) => void): void;
  close(): Promise<void>;
}

/** Opens a transport that hands the messages for one process to the listener. */
export interface TransportDeps {
  /** The process id of this daemon. */
  own: string;
  onMessage(message: Uint8Array): void;
}
