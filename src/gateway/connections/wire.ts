/** A WebSocket as a connection uses it; tests replace it with an array. Calls on a closed one have no effect. */
export interface Wire {
  /** Writes whole frames directly to the socket and not through ws, so they must never mix with a fragmented send. */
  write(chunk: Buffer, onWritten: () => void): void;
  /** Writes several pieces without copying them. */
  writeTogether(pieces: readonly Buffer[], onWritten: () => void): void;
  /** Bytes written that the system has not taken yet. */
  readonly pendingBytes: number;
  /** Sends a close frame, and closes the socket a moment later even without an answer. */
  close(code: number, reason: string): void;
  terminate(): void;
  ping(): void;
  /** Pause and resume reading. Frames that were already read may still arrive. */
  pause(): void;
  resume(): void;
  setMaxPayload(bytes: number): void;
}

/** Receives what happens on a wire. */
export interface WireListener {
  /** One text message, or undefined for a binary one. */
  onMessage(text: string | undefined): void;
  onPong(): void;
  /** Always the last call. */
  onClose(): void;
}
