import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { chooseEncoding, type Encoding } from '../encoding.ts';
import { type Exchange, everyAnswer, matches, type Respond } from '../exchange.ts';

/** A file of the build, as the answer describes it. */
export interface SiteFile {
  contentType: string;
  etag: string;
  /** The length in each content coding. */
  bytes: Record<Encoding | 'identity', number>;
  read(coding: Encoding | undefined): Readable;
}

/** The files that the daemon serves but does not keep in memory. Only the paths that the build lists exist. */
export interface SiteFiles {
  find(path: string): Promise<SiteFile | undefined>;
}

/** What the build wrote of each served path (scripts/build-site.js). */
const SiteRows = z.record(
  z.string(),
  z.object({
    file: z.string().regex(/^[\w-]+\.\w+$/),
    contentType: z.string(),
    etag: z.string(),
    bytes: z.object({ identity: z.int(), br: z.int(), gzip: z.int() }),
  }),
);

/** `ui`: the folder of the built page. The list is read for each request, so that a new build is served as a whole. */
export const createSiteFiles = (ui: URL): SiteFiles => ({
  async find(path) {
    const rows = SiteRows.parse(JSON.parse(await readFile(new URL('site.json', ui), 'utf8')));
    const row = Object.hasOwn(rows, path) ? rows[path] : undefined;
    if (row === undefined) return undefined;
    const { file, contentType, etag, bytes } = row;
    const read = (coding: Encoding | undefined) =>
      createReadStream(new URL(`site/${file}${coding === undefined ? '' : `.${coding}`}`, ui));
    return { contentType, etag, bytes, read };
  },
});

/** Sends a file from the disk, in the coding that the client prefers. `respond` only counts: the headers are sent here. */
export async function sendSiteFile(exchange: Exchange, file: SiteFile, respond: Respond): Promise<void> {
  const { req, res } = exchange;
  const isKnown = matches(req.headers['if-none-match'], file.etag);
  const status = isKnown ? 304 : 200;
  const coding = chooseEncoding(req.headers['accept-encoding']);
  const described = {
    'Content-Type': file.contentType,
    'Content-Length': file.bytes[coding ?? 'identity'],
    ...(coding && { 'Content-Encoding': coding }),
  };
  try {
    res.writeHead(status, {
      ...everyAnswer(exchange),
      'Cache-Control': 'no-cache',
      ETag: file.etag,
      Vary: 'Accept-Encoding',
      'X-Content-Type-Options': 'nosniff',
      ...(!isKnown && described),
    });
    if (isKnown || req.method === 'HEAD') res.end();
    else await pipeline(file.read(coding), res);
  } catch {
    res.destroy(); // the client disconnected, or a new build replaced the file: the response is incomplete
  } finally {
    respond(exchange, { status, body: '' });
  }
}
