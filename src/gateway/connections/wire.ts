/** A WebSocket as a connection sees it; a test gives it an array. Every call on a closed one does nothing. */
export interface Wire {
  /** Writes whole frames to the raw socket, past ws, so they must never meet a fragmented send. */
  write(chunk: Buffer, onWritten: () => void): void;
  /** Bytes that were written and that the system has not taken. */
  readonly pendingBytes: number;
  /** A close frame, and the end a moment later whether it is answered or not. */
  close(code: number, reason: string): void;
  terminate(): void;
  ping(): void;
  /** Stop and go on reading; frames that were read already may still arrive. */
  pause(): void;
  resume(): void;
  setMaxPayload(bytes: number): void;
}

/** What happens on a wire. */
export interface WireListener {
  /** One text message, or undefined for a binary one. */
  onMessage(text: string | undefined): void;
  onPong(): void;
  /** The last call. */
  onClose(): void;
}
