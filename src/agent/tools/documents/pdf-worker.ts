import { parentPort, workerData } from 'node:worker_threads';
import { getDocument } from 'unpdf/pdfjs';

/** The pages to read, from 1. Reading ends early with the page that exceeds the characters. */
export interface PdfTask {
  bytes: Uint8Array<ArrayBuffer>;
  first: number;
  last: number;
  maxChars: number;
}

export type PdfMessage =
  | { kind: 'pages'; total: number; pages: { number: number; text: string }[] }
  | { kind: 'unreadable'; reason: 'password' | 'invalid' };

type Document = Awaited<ReturnType<typeof getDocument>['promise']>;

async function read({ bytes, first, last, maxChars }: PdfTask): Promise<PdfMessage> {
  const document = await open(bytes);
  if ('kind' in document) return document;
  const pages: { number: number; text: string }[] = [];
  let chars = 0;
  for (let number = first; number <= Math.min(last, document.numPages) && chars <= maxChars; number++) {
    const text = await textOf(document, number);
    chars += text.length;
    pages.push({ number, text: text.slice(0, maxChars) });
  }
  return { kind: 'pages', total: document.numPages, pages };
}

async function open(data: Uint8Array<ArrayBuffer>): Promise<Document | PdfMessage> {
  try {
    // Nothing is drawn, and no code in the file or in its fonts runs.
    return await getDocument({ data, verbosity: 0, disableFontFace: true, useSystemFonts: false }).promise;
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    return { kind: 'unreadable', reason: isLocked ? 'password' : 'invalid' };
  }
}

async function textOf(document: Document, number: number): Promise<string> {
  try {
    const { items } = await (await document.getPage(number)).getTextContent();
    return items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
  } catch {
    return '[this page is damaged]';
  }
}

parentPort?.postMessage(await read(workerData));
