/** One of the texts, for its removal. */
export interface JoinedText {
  readonly text: string;
}

/**
 * ASCII texts joined by commas, newest first. All texts stay in one buffer, where adding or removing one moves bytes:
 * joining hundreds of texts after each change costs ten times as much.
 */
export class JoinedTexts {
  /** Each text with a comma behind it, in `#start` to `#end`. */
  #bytes = Buffer.alloc(INITIAL_BYTES);
  #start = INITIAL_BYTES;
  #end = INITIAL_BYTES;
  /** Oldest first. */
  readonly #texts: JoinedText[] = [];

  add(text: string): JoinedText {
    const added = { text };
    this.#texts.push(added);
    this.#makeRoom(text.length + 1);
    this.#start -= text.length + 1;
    this.#bytes.write(text, this.#start, 'latin1');
    this.#bytes[this.#start + text.length] = COMMA;
    return added;
  }

  /** Does nothing for a text that was removed before. */
  remove(removed: JoinedText): void {
    const index = this.#texts[0] === removed ? 0 : this.#texts.lastIndexOf(removed);
    if (index < 0) return;
    const size = removed.text.length + 1;
    const at = this.#positionOf(index);
    // The shorter side moves.
    if (at - this.#start < this.#end - at) {
      this.#bytes.copyWithin(this.#start + size, this.#start, at);
      this.#start += size;
    } else {
      this.#bytes.copyWithin(at, at + size, this.#end);
      this.#end -= size;
    }
    this.#texts.splice(index, 1);
  }

  /** Counts from the nearer end: clients that come and go are the newest, and the one that has to leave is the oldest. */
  #positionOf(index: number): number {
    const count = this.#texts.length;
    if (index + 1 < count / 2) return this.#end - this.#sizeOf(0, index + 1);
    return this.#start + this.#sizeOf(index + 1, count);
  }

  #sizeOf(from: number, to: number): number {
    let size = 0;
    for (let at = from; at < to; at += 1) size += (this.#texts[at]?.text.length ?? 0) + 1;
    return size;
  }

  /** The joined texts. The next change changes these bytes, too. */
  bytes(): Buffer {
    return this.#bytes.subarray(this.#start, Math.max(this.#start, this.#end - 1));
  }

  /** Moves the texts to the end of the buffer, or of a larger one if less than half of it would remain free. */
  #makeRoom(bytes: number): void {
    if (this.#start >= bytes) return;
    const used = this.#end - this.#start;
    const isSmall = 2 * (used + bytes) > this.#bytes.length;
    const target = isSmall ? Buffer.alloc(4 * (used + bytes)) : this.#bytes;
    const start = target.length - used;
    this.#bytes.copy(target, start, this.#start, this.#end);
    this.#bytes = target;
    this.#start = start;
    this.#end = target.length;
  }
}

const INITIAL_BYTES = 4096;
const COMMA = 0x2c;
