import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ENCODINGS, type StaticText } from '../http/encoding.ts';
import { createSiteFiles } from '../http/site/site-files.ts';
import { StartError } from '../start-error.ts';
import type { Assets } from './daemon-options.ts';

/** The first line of parts.bin: names, and the bytes of the text and of its codings, which follow (scripts/page/pack-parts.js). */
const PartRows = z.array(z.tuple([z.string(), z.int(), z.int(), z.int()]));
const PolicyHashes = z.object({ scripts: z.array(z.string()), styles: z.array(z.string()) });

/**
 * Loads the files that the build put into `dist/` of the package. Synchronously: nothing else happens at this time, and each
 * asynchronous read would take five turns of a thread.
 */
export function loadAssets(root: URL): Assets {
  const dist = new URL('dist/', root);
  try {
    const read = (name: string) => readFileSync(new URL(name, dist), 'utf8');
    const readStatic = (name: string): StaticText => {
      const text = readFileSync(new URL(name, dist));
      const [br, gzip] = ENCODINGS.map((encoding) => readFileSync(new URL(`${name}.${encoding}`, dist)));
      return { text, encoded: { ...(br && { br }), ...(gzip && { gzip }) } };
    };
    const { scripts, styles } = PolicyHashes.parse(JSON.parse(read('ui/csp.json')));
    return {
      pageHtml: readStatic('ui/index.html'),
      pageParts: unpackParts(readFileSync(new URL('ui/parts.bin', dist))),
      licenses: readStatic('ui/licenses.txt'),
      scriptSources: scripts,
      styleSources: styles,
      openapi: readStatic('openapi.json'),
      siteFiles: createSiteFiles(new URL('ui/', dist)),
      pageWorkerUrl: new URL('page-worker.js', dist),
      searchWorkerUrl: new URL('search-worker.js', dist),
      pdfWorkerUrl: new URL('pdf-worker.js', dist),
      snapshotWorkerUrl: new URL('snapshot-worker.js', dist),
      outputWorkerUrl: new URL('output-worker.js', dist),
      checkpointWorkerUrl: new URL('checkpoint-worker.js', dist),
      passwordWorkerUrl: new URL('password-worker.js', dist),
    };
  } catch (error) {
    throw new StartError('The build in dist/ is incomplete; run: npm run build', { cause: error });
  }
}

/** The bytes are those of the file, without copies. */
function unpackParts(file: Buffer): Assets['pageParts'] {
  const listed = file.indexOf('\n') + 1;
  const rows = PartRows.parse(JSON.parse(file.toString('utf8', 0, listed)));
  let at = listed;
  const take = (bytes: number) => {
    at += bytes;
    return file.subarray(at - bytes, at);
  };
  const parts = new Map(
    rows.map(([name, text, br, gzip]) => [name, { text: take(text), encoded: { br: take(br), gzip: take(gzip) } }]),
  );
  if (at !== file.length) throw new Error(`ui/parts.bin has ${file.length} bytes instead of ${at}`);
  return parts;
}
