import type { AuditHead, AuditHeadFile } from './audit-head.ts';

/** Remembers the signed head of the trail in a second place. */
export interface AuditMark {
  read(): Promise<AuditHead | undefined>;
  write(head: AuditHead): Promise<void>;
}

/**
 * Where the trail was signed last. `unsigned`: nothing ever was. `missing`: the file is gone. `older`: the file is an
 * earlier version of itself. `head` is always the latest that is known.
 */
export type SignedEndState =
  | { kind: 'unsigned' }
  | { kind: 'invalid'; known: AuditHead | undefined }
  | { kind: 'signed' | 'missing' | 'older'; head: AuditHead };

/** Finds a head that was removed or taken back, because the mark and this process remember the latest one, too. */
export class SignedEnd {
  readonly #file: AuditHeadFile;
  readonly #mark: AuditMark;
  #known: AuditHead | undefined;
  #isLoaded = false;

  constructor({ file, mark }: { file: AuditHeadFile; mark: AuditMark }) {
    this.#file = file;
    this.#mark = mark;
  }

  async read(): Promise<SignedEndState> {
    const known = await this.#latest(); // before the file, which is written first and so is never behind
    const head = await this.#file.read();
    if (head === 'invalid') return { kind: 'invalid', known };
    if (head === undefined) return known === undefined ? { kind: 'unsigned' } : { kind: 'missing', head: known };
    return known !== undefined && isBehind(head, known) ? { kind: 'older', head: known } : { kind: 'signed', head };
  }

  async write(head: AuditHead): Promise<void> {
    await this.#file.write(head);
    await this.remember(head);
  }

  /** Recognizes a text again without telling it. */
  digestOf(text: string): string {
    return this.#file.digestOf(text);
  }

  /** Writes the mark alone: a home of an earlier version has none yet, and a kill may have left it behind. */
  async remember(head: AuditHead): Promise<void> {
    const known = await this.#latest();
    if (known?.seq === head.seq && known.firstSeq === head.firstSeq) return;
    await this.#mark.write(head);
    this.#known = head;
  }

  async #latest(): Promise<AuditHead | undefined> {
    if (!this.#isLoaded) this.#known = await this.#mark.read();
    this.#isLoaded = true;
    return this.#known;
  }
}

const isBehind = (head: AuditHead, known: AuditHead): boolean => head.seq < known.seq || head.firstSeq < known.firstSeq;
