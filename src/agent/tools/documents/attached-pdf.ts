import { SHOWN_PDF_BYTES } from '../../attached-content.ts';
import { ToolProblem } from '../tool-problem.ts';
import { type PdfReader, readPdf, toPageRange } from './read-pdf.ts';

/** The text of a PDF that belongs to a message, or why there is none. Does not throw: a bad file ends no conversation. */
export type ReadPdfText = (file: { name: string; bytes: Buffer }) => Promise<string>;

/** Of its first pages: nobody can ask for further ones. */
export function createPdfText(reader: PdfReader): ReadPdfText {
  return async ({ name, bytes }) => {
    const file = { bytes, shown: name, range: toPageRange(undefined), isAttached: true };
    try {
      return await readPdf(file, reader, { signal: NEVER, maxOutputBytes: SHOWN_PDF_BYTES });
    } catch (error) {
      return `[${error instanceof ToolProblem ? error.message : `${name} could not be read.`}]`;
    }
  };
}

/** The text is kept for later requests, so the end of one request does not stop the reading. */
const NEVER = new AbortController().signal;
