import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { tooLarge } from '../../content/content-check.ts';
import type { ReceivedFile } from '../../gateway/attachments/staged-files.ts';

/**
 * Streams the multipart field `file` to `receive`, at the speed at which it reads. Rejects as soon as the request or
 * the file is known to be invalid; `bytes` then ends with an error, as when the client disconnects. `bytes` ends only
 * with the whole form, so that nothing of a refused form is stored.
 */
export function readUpload<T>(req: IncomingMessage, receive: (file: ReceivedFile) => Promise<T>): Promise<T> {
  const type = req.headers['content-type'] ?? '';
  if (!/^\s*multipart\/form-data\s*;/i.test(type)) return Promise.reject(notMultipart());
  if (Number(req.headers['content-length'] ?? 0) > LIMITS.attachmentBytes + FORM_BYTES)
    return Promise.reject(tooLarge('file'));
  const parser = createParser(req, type);
  if (!parser) return Promise.reject(notMultipart());
  return new Promise((resolve, reject) => {
    let file: BusboyFileStream | undefined;
    let received: Promise<T> | undefined;
    const form = Promise.withResolvers<void>();
    form.promise.catch(() => undefined); // `reject` reports it, too
    const stop = (error: unknown) => {
      dropRest(req, parser);
      file?.destroy();
      form.reject(error);
      reject(error);
    };
    parser.on('file', (field, stream, fileName) => {
      stream.on('error', () => undefined); // its reader gets the error; without a reader, the form ends with one
      if (field !== 'file' || file) return void stream.resume();
      file = stream;
      received = receive({ fileName: fileName || undefined, bytes: readingOf(stream, form.promise) });
      received.catch(stop);
    });
    parser.once('error', () => stop(cutOff()));
    parser.once('finish', () => {
      form.resolve();
      if (received === undefined) reject(noFile());
      else received.then(resolve, reject);
    });
    req.once('close', () => {
      if (!req.complete) stop(cutOff());
    });
    req.pipe(parser);
  });
}

/** Reads the rest of a body and drops it: the connection's next request comes behind it. */
export function dropRest(req: IncomingMessage, parser: BusboyInstance): void {
  req.unpipe(parser);
  req.resume();
}

/** For everything around the file: boundaries, headers, other fields. */
const FORM_BYTES = 64 * 1024;

function createParser(req: IncomingMessage, type: string): BusboyInstance | undefined {
  const limits = { parts: 8, fieldSize: 1_024, headerPairs: 32, headerSize: 8_192 };
  try {
    return new Busboy({
      headers: { ...req.headers, 'content-type': type },
      limits: { ...limits, fileSize: LIMITS.attachmentBytes + 1 }, // one more byte shows a file that is too large
    });
  } catch {
    return undefined; // the caller reports the invalid form
  }
}

/** The bytes of a file, which end when `form` is read, too. A file that breaks off is the client's error. */
export async function* readingOf(stream: BusboyFileStream, form?: Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
    await form;
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : cutOff(cause);
  }
}

const notMultipart = () => new GatewayError('INVALID_REQUEST', 'Send multipart/form-data with a field named file');
const noFile = () => new GatewayError('INVALID_REQUEST', 'Missing form field: file');
export const cutOff = (cause?: unknown) =>
  new GatewayError('INVALID_REQUEST', 'The request body ended early', { cause });
