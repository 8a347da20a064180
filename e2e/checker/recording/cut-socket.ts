import { Socket } from 'node:net';

/** A TCP connection that breaks after so many bytes from the other side, wherever in a frame that is. */
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

  /** What the kernel hands over goes through here. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) return super.push(null);
    const taken = chunk.subarray(0, this.#leftBytes);
    this.#leftBytes -= taken.length;
    const wantsMore = taken.length > 0 && super.push(taken, encoding);
    // In a turn of its own: what was taken is read first.
    if (this.#leftBytes === 0) setImmediate(() => this.destroy());
    return wantsMore;
  }
}
