import type { Duplex } from 'node:stream';
import type { Log } from '../../log.ts';

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
  /** The client violated the protocol; `onClose` follows. */
  onViolation(error: Error): void;
  /** Always the last call. */
  onClose(): void;
}

const NOTHING = Buffer.alloc(0);

/** The part of a WebSocket of `ws` that a wire uses. */
interface FrameSocket {
  readonly readyState: number;
  readonly OPEN: number;
  close(code: number, reason: string): void;
  terminate(): void;
  ping(): void;
  pause(): void;
  resume(): void;
}

/** A class because there are many instances, which share its methods. */
export class SocketWire implements Wire {
  readonly #webSocket: FrameSocket;
  readonly #socket: Duplex;
  readonly #log: Log;

  constructor(webSocket: FrameSocket, socket: Duplex, log: Log) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#log = log;
  }

  write(chunk: Buffer, onWritten: () => void): void {
    if (this.#isOpen()) this.#socket.write(chunk, onWritten);
  }

  writeTogether(pieces: readonly Buffer[], onWritten: () => void): void {
    if (!this.#isOpen()) return;
    this.#socket.cork();
    for (const piece of pieces.slice(0, -1)) this.#socket.write(piece);
    this.#socket.write(pieces.at(-1) ?? NOTHING, onWritten);
    this.#socket.uncork();
  }

  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  close(code: number, reason: string): void {
    this.#webSocket.close(code, reason);
    this.#webSocket.resume(); // a paused socket would not read the client's close frame
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  ping(): void {
    if (this.#isOpen()) this.#webSocket.ping();
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  setMaxPayload(bytes: number): void {
    // ws sets the limit when it creates the socket and reads it for every frame. It has no public way to raise it
    // (decision 22).
    const receiver: unknown = Reflect.get(this.#webSocket, '_receiver');
    const isKnown = typeof receiver === 'object' && receiver !== null && '_maxPayload' in receiver;
    if (isKnown) receiver._maxPayload = bytes;
    else this.#log.error({}, 'unsupported version of ws: the frame limit stays at its value before connect');
  }

  #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }
}
