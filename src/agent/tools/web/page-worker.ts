import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { decodeText } from './page-bytes.ts';

/** What the worker is given. */
export interface PageRequest {
  bytes: Uint8Array;
  contentType: string | undefined;
  isHtml: boolean;
  /** The page goes on after these bytes. */
  isCut: boolean;
  address: string;
}

/** Messages of the worker, the head first; its exit marks the end. */
export type PageMessage =
  | { kind: 'head'; title: string; digest: string; isCut: boolean }
  | { kind: 'piece'; text: string };

/** Text for a model; more than this is not passed on. */
const MAX_CHARACTERS = 1_000_000;
/** The daemon reads a piece at a time, so that nothing else waits for long. */
const PIECE = 32 * 1024;

async function* read({ bytes, contentType, isHtml, isCut: isPart, address }: PageRequest): AsyncGenerator<PageMessage> {
  const whole = decodeText({ bytes, contentType, isCut: isPart });
  const { title, text, isCut } = isHtml
    ? (await import('./read-page.ts')).readPage(whole, address)
    : { title: '', text: whole, isCut: false };
  const digest = createHash('sha256').update(bytes).digest('hex');
  yield { kind: 'head', title, digest, isCut: isPart || isCut || text.length > MAX_CHARACTERS };
  const end = Math.min(text.length, MAX_CHARACTERS);
  for (let at = 0; at < end; at += PIECE) yield { kind: 'piece', text: text.slice(at, Math.min(at + PIECE, end)) };
}

for await (const message of read(workerData)) parentPort?.postMessage(message);
