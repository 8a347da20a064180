import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ENCODINGS, type StaticText } from '../http/encoding.ts';
import { createSiteFiles } from '../http/site/site-files.ts';
import { StartError } from '../start-error.ts';
import type { Assets } from './daemon-options.ts';

const PartNames = z.array(z.string().regex(/^[\w.-]+\.js$/));
const PolicyHashes = z.object({ scripts: z.array(z.string()), styles: z.array(z.string()) });

/** Loads the files that the build put into `dist/` of the package. */
export async function loadAssets(root: URL): Promise<Assets> {
  const dist = new URL('dist/', root);
  try {
    const read = (name: string) => readFile(new URL(name, dist), 'utf8');
    const readStatic = async (name: string): Promise<StaticText> => {
      const encoded = ENCODINGS.map((encoding) => readFile(new URL(`${name}.${encoding}`, dist)));
      const [text, br, gzip] = await Promise.all([readFile(new URL(name, dist)), ...encoded]);
      return { text, encoded: { ...(br && { br }), ...(gzip && { gzip }) } };
    };
    const readParts = async () => {
      const names = PartNames.parse(JSON.parse(await read('ui/parts.json')));
      return new Map(
        await Promise.all(names.map(async (name) => [name, await readStatic(`ui/parts/${name}`)] as const)),
      );
    };
    const [pageHtml, parts, licenses, hashes, openapi] = await Promise.all([
      readStatic('ui/index.html'),
      readParts(),
      readStatic('ui/licenses.txt'),
      read('ui/csp.json'),
      readStatic('openapi.json'),
    ]);
    const { scripts, styles } = PolicyHashes.parse(JSON.parse(hashes));
    return {
      pageHtml,
      pageParts: parts,
      licenses,
      scriptSources: scripts,
      styleSources: styles,
      openapi,
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
