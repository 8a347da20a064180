import { Socket } from 'node:net';

/** A TCP connection that breaks after a number of received bytes, even within a frame. */
export function connectCut(address: { host: string; port: number }, cutAfterBytes: number): Socket {
  return new CutSocket(cutAfterBytes).connect(address);
}

class CutSocket extends Socket {
  #leftBytes: number;

  constructor(cutAfterBytes: number) {
    super();
    this.#leftBytes = cutAfterBytes;
    this.setNoDelay(true);
  }

  /** All received data passes through here. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) return super.push(null);
    const taken = chunk.subarray(0, this.#leftBytes);
    this.#leftBytes -= taken.length;
    const wantsMore = taken.length > 0 && super.push(taken, encoding);
    // In a separate turn of the event loop, so that the received data is read first.
    if (this.#leftBytes === 0) setImmediate(() => this.destroy());
    return wantsMore;
  }
}
