/**
 * Limits the cumulative text of an event. Without it, a client would exceed its budget after two events, however fast
 * it reads, and the daemon would send gigabytes for an answer of megabytes.
 */
const MAX_CHARS = 128 * 1024;
const GOES_ON = '\n[The text continues; chat.history has all of it.]';

/** A growing text that is sent in samples. */
export class GrowingText {
  #text = '';
  #sent = 0;
  #isCut = false;

  get text(): string {
    return this.#text;
  }

  /** Whether it has grown since the last sample. */
  get isDirty(): boolean {
    return this.#text.length > this.#sent;
  }

  add(piece: string): void {
    if (this.#isCut) return;
    this.#isCut = this.#text.length + piece.length > MAX_CHARS;
    if (this.#isCut) this.#text += `${piece.slice(0, MAX_CHARS - this.#text.length).toWellFormed()}${GOES_ON}`;
    else this.#text += piece;
  }

  sample(): { text: string; delta: string } {
    const delta = this.#text.slice(this.#sent);
    this.#sent = this.#text.length;
    return { text: this.#text, delta };
  }

  forget(): void {
    this.#text = '';
    this.#sent = 0;
    this.#isCut = false;
  }
}
