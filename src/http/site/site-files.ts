import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { accepts } from '../encoding.ts';
import { type Exchange, everyAnswer, matches, type Respond } from '../exchange.ts';

/** A file of the build, as the answer describes it. It is stored in gzip only. */
export interface SiteFile {
  contentType: string;
  etag: string;
  bytes: { identity: number; gzip: number };
  /** Its Content-Security-Policy, for a document with one of its own. */
  policy?: string | undefined;
  /** Its name contains its hash. */
  isImmutable?: boolean | undefined;
  read(): Readable;
}

/** The files that the daemon serves but does not keep in memory. Only the paths that the build lists exist. */
export interface SiteFiles {
  find(path: string): Promise<SiteFile | undefined>;
}

/** What the build wrote of each served path (scripts/build-site.js). */
const SiteRows = z.record(
  z.string(),
  z.object({
    file: z.string().regex(/^[\w.-]+\.gz$/),
    contentType: z.string(),
    etag: z.string(),
    bytes: z.object({ identity: z.int(), gzip: z.int() }),
    policy: z.string().optional(),
    isImmutable: z.boolean().optional(),
  }),
);

/** `ui`: the folder of the built page. The list is read for each request, so that a new build is served as a whole. */
export const createSiteFiles = (ui: URL): SiteFiles => ({
  async find(path) {
    const rows = SiteRows.parse(JSON.parse(await readFile(new URL('site.json', ui), 'utf8')));
    const row = Object.hasOwn(rows, path) ? rows[path] : undefined;
    if (row === undefined) return undefined;
    const { file, ...described } = row;
    return { ...described, read: () => createReadStream(new URL(`site/${file}`, ui)) };
  },
});

/** For a file whose name contains its hash. */
export const FOREVER = 'public, max-age=31536000, immutable';

/** The service worker is below /static, but the page that it works for is above. It may ask this daemon, and load nothing. */
const WORKER = '/static/sw.js';
const WORKER_HEADERS = {
  'Service-Worker-Allowed': '/',
  'Content-Security-Policy': "default-src 'none';connect-src 'self'",
};

const headersOf = ({ etag, policy, isImmutable }: SiteFile, path: string): Record<string, string> => ({
  'Cache-Control': isImmutable ? FOREVER : 'no-cache',
  ETag: etag,
  Vary: 'Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
  ...(path === WORKER && WORKER_HEADERS),
  ...(policy !== undefined && { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' }),
});

/** Sends a file from the disk, in gzip if the client accepts that. `respond` only counts: the headers are sent here. */
export async function sendSiteFile(exchange: Exchange, file: SiteFile, respond: Respond): Promise<void> {
  const { req, res, path } = exchange;
  const isKnown = matches(req.headers['if-none-match'], file.etag);
  const status = isKnown ? 304 : 200;
  const coding = accepts('gzip', req.headers['accept-encoding']) ? 'gzip' : 'identity';
  try {
    res.writeHead(status, {
      ...everyAnswer(exchange),
      ...headersOf(file, path),
      ...(!isKnown && { 'Content-Type': file.contentType, 'Content-Length': file.bytes[coding] }),
      ...(!isKnown && coding === 'gzip' && { 'Content-Encoding': coding }),
    });
    if (isKnown || req.method === 'HEAD') res.end();
    else if (coding === 'gzip') await pipeline(file.read(), res);
    else await pipeline(file.read(), createGunzip(), res);
  } catch {
    res.destroy(); // the client disconnected, or a new build replaced the file: the response is incomplete
  } finally {
    respond(exchange, { status, body: '' });
  }
}
