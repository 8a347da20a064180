/**
 * Each event about a text repeats it whole, so it is told up to a limit: with a longer one a client would be over its
 * budget by two events, however well it reads, and a daemon would send gigabytes of an answer of megabytes.
 */
const MAX_CHARS = 128 * 1024;
const GOES_ON = '\n[The text goes on; chat.history has it whole.]';

/** A text that grows by pieces and is told in samples. */
export class GrowingText {
  #text = '';
  #sent = 0;
  #isCut = false;

  get text(): string {
    return this.#text;
  }

  /** It has grown since the last sample. */
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
