import type { Attachment } from '../../../protocol/stream-events.ts';
import type { ReadPdfText } from '../../agent/tools/documents/attached-pdf.ts';
import type { WholeFiles } from './whole-files.ts';

/** A request names few PDFs, and each of its turns reads them again. The oldest one is forgotten first. */
const KEPT = 16;

/** The texts of PDFs as models read them. The latest are kept, because every request of a conversation has them again. */
export class PdfTexts {
  readonly #deps: { whole: Pick<WholeFiles, 'read'>; pdfText: ReadPdfText };
  readonly #kept = new Map<string, Promise<Buffer | undefined>>();

  constructor(deps: { whole: Pick<WholeFiles, 'read'>; pdfText: ReadPdfText }) {
    this.#deps = deps;
  }

  /** Undefined when the file is gone or damaged. */
  read(attachment: Attachment): Promise<Buffer | undefined> {
    const { attachment_id: id } = attachment;
    const text = this.#kept.get(id) ?? this.#readNow(attachment);
    this.#kept.delete(id);
    this.#kept.set(id, text);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    return text;
  }

  async #readNow(attachment: Attachment): Promise<Buffer | undefined> {
    const { whole, pdfText } = this.#deps;
    const bytes = await whole.read(attachment);
    if (bytes !== undefined) return Buffer.from(await pdfText({ name: attachment.filename, bytes }));
    this.#kept.delete(attachment.attachment_id); // it may be back later
    return undefined;
  }
}
