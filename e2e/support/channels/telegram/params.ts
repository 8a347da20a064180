import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { badRequest } from './bot-failure.ts';

/** A file of a form. */
export interface ReceivedFile {
  fileName: string;
  contentType: string;
  bytes: Buffer;
}

/** The parameters of a call: JSON, a form or a query. Numbers and objects may come as text, as in Telegram. */
export class Params {
  readonly values: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, ReceivedFile>;

  constructor(values: Record<string, unknown>, files: ReadonlyMap<string, ReceivedFile> = new Map()) {
    this.values = values;
    this.files = files;
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? value : String(value);
  }

  integer(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!Number.isInteger(value)) throw badRequest(`parameter ${name} must be an integer`);
    return value;
  }

  flag(name: string): boolean {
    return ['true', '1'].includes(this.text(name) ?? '');
  }

  /** An object or array, perhaps JSON in a text. */
  json(name: string): unknown {
    const value = this.values[name];
    if (typeof value !== 'string') return value ?? undefined;
    try {
      return JSON.parse(value);
    } catch {
      throw badRequest(`can't parse ${name} JSON object`);
    }
  }

  /** A file that came with the form, or the id or address of one. */
  file(name: string): ReceivedFile | string | undefined {
    const text = this.text(name);
    return this.files.get(text?.startsWith('attach://') ? text.slice('attach://'.length) : name) ?? text;
  }
}

/** Reads the parameters of a request. */
export async function readParams(request: IncomingMessage): Promise<Params> {
  const query = Object.fromEntries(new URL(request.url ?? '/', 'http://bot').searchParams);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return readForm(request, query);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (type.startsWith('application/x-www-form-urlencoded'))
    return new Params({ ...query, ...Object.fromEntries(new URLSearchParams(text)) });
  return new Params({ ...query, ...(text === '' ? {} : JSON.parse(text)) });
}

function readForm(request: IncomingMessage, query: Record<string, string>): Promise<Params> {
  const values: Record<string, unknown> = { ...query };
  const files = new Map<string, ReceivedFile>();
  const contentType = request.headers['content-type'] ?? '';
  const parser = new Busboy({ headers: { ...request.headers, 'content-type': contentType } });
  return new Promise((resolve, reject) => {
    parser.on('field', (name, value) => {
      values[name] = value;
    });
    // biome-ignore lint/complexity/useMaxParams: the parser calls it.
    parser.on('file', (name, stream, fileName, _encoding, mimeType) => {
      const chunks: Uint8Array[] = [];
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      stream.on('end', () => {
        files.set(name, { fileName: fileName ?? '', contentType: mimeType, bytes: Buffer.concat(chunks) });
      });
    });
    parser.on('finish', () => resolve(new Params(values, files)));
    parser.on('error', reject);
    request.once('error', reject);
    request.pipe(parser);
  });
}
