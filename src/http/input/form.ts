import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { tooLarge } from '../../content/content-check.ts';
import { tooManyForOne } from '../../gateway/attachments/attachment-errors.ts';
import type { StagedFiles } from '../../gateway/attachments/staged-files.ts';
import type { Principal } from '../../gateway/auth/principal.ts';
import type { BodyDeadlines } from '../body-deadlines.ts';
import { toObject, UNREADABLE } from './body.ts';
import { cutOff, dropRest, readingOf } from './upload.ts';

/** A form that was read: its JSON, and the ids of its files, in its order. */
export interface ReadForm {
  input: Record<string, unknown>;
  fileIds: string[];
}

/** Reads a form and calls `work` with it. Files that the work has not taken are removed afterwards. */
export type WithForm = (req: IncomingMessage, caller: Principal, work: (form: ReadForm) => unknown) => Promise<unknown>;

interface FormDeps {
  attachments: { staged: Pick<StagedFiles, 'stage' | 'release'> };
  bodies: Pick<BodyDeadlines, 'mayTakeLong'>;
}

/** The field with the JSON, and the one with a file; it may be repeated. */
const META = 'meta';
const FILE = 'file';
const MOST_FILES = LIMITS.attachmentsPerMessage;
/** For the JSON, boundaries and headers. */
const MOST_REST = LIMITS.maxPayloadBytes + 64 * 1024;

export const createForms =
  ({ attachments, bodies }: FormDeps): WithForm =>
  async (req, { id: principal }, work) => {
    const staged: Promise<{ attachment_id: string }>[] = [];
    bodies.mayTakeLong(req);
    try {
      const input = await readForm(req, (file) => {
        const stored = attachments.staged.stage(principal, file);
        staged.push(stored);
        return stored;
      });
      const files = await Promise.all(staged);
      return await work({ input, fileIds: files.map(({ attachment_id }) => attachment_id) });
    } finally {
      const ended = await Promise.allSettled(staged);
      const ids = ended.flatMap((file) => (file.status === 'fulfilled' ? [file.value.attachment_id] : []));
      await attachments.staged.release(ids);
    }
  };

type Receive = (file: { fileName: string | undefined; bytes: AsyncIterable<Uint8Array> }) => Promise<unknown>;

/** Streams the files of a form to `receive`, at the speed at which it reads; returns the JSON of `meta`. */
function readForm(req: IncomingMessage, receive: Receive): Promise<Record<string, unknown>> {
  if (Number(req.headers['content-length'] ?? 0) > MOST_FILES * LIMITS.attachmentBytes + MOST_REST)
    return Promise.reject(tooLarge('file'));
  const parser = createParser(req);
  if (!parser) return Promise.reject(noMeta());
  return new Promise((resolve, reject) => {
    const received: Promise<unknown>[] = [];
    const open = new Set<{ destroy(): void }>();
    let meta: string | undefined;
    const stop = (error: unknown) => {
      dropRest(req, parser);
      for (const file of open) file.destroy();
      reject(error);
    };
    // biome-ignore lint/complexity/useMaxParams: the parser calls it with four.
    parser.on('field', (name, value, _isNameCut, isCut) => {
      if (name !== META) return;
      if (isCut) stop(new GatewayError('PAYLOAD_TOO_LARGE', 'Request body too large'));
      else meta = value;
    });
    parser.on('file', (name, stream, fileName) => {
      stream.on('error', () => undefined); // its reader gets the error; without a reader, the form ends with one
      if (name !== FILE) return void stream.resume();
      if (received.length >= MOST_FILES) return stop(tooManyForOne());
      open.add(stream);
      stream.once('close', () => open.delete(stream));
      const stored = receive({ fileName: fileName || undefined, bytes: readingOf(stream) });
      received.push(stored);
      stored.catch(stop);
    });
    parser.once('error', () => stop(cutOff()));
    parser.once('finish', () =>
      Promise.all(received)
        .then(() => resolve(toFields(meta)), reject)
        .catch(reject),
    );
    req.once('close', () => {
      if (!req.complete) stop(cutOff());
    });
    req.pipe(parser);
  });
}

function createParser(req: IncomingMessage): BusboyInstance | undefined {
  const { 'content-type': type = '' } = req.headers;
  const limits = { parts: MOST_FILES + 8, fieldSize: LIMITS.maxPayloadBytes, headerPairs: 32, headerSize: 8_192 };
  try {
    return new Busboy({
      headers: { ...req.headers, 'content-type': type },
      limits: { ...limits, fileSize: LIMITS.attachmentBytes + 1 }, // one more byte shows a file that is too large
    });
  } catch {
    return undefined; // the caller reports the invalid form
  }
}

function toFields(meta: string | undefined): Record<string, unknown> {
  if (meta === undefined) throw noMeta();
  const fields = toObject(Buffer.from(meta));
  if (fields === UNREADABLE) throw new GatewayError('INVALID_REQUEST', 'meta: must be a JSON object');
  return fields;
}

const noMeta = () => new GatewayError('INVALID_REQUEST', 'Missing form field: meta');
