import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ENCODINGS, type StaticText } from '../http/encoding.ts';
import { createSiteFiles } from '../http/site/site-files.ts';
import { StartError } from '../start-error.ts';
import type { Assets } from './daemon-options.ts';

const PartNames = z.array(z.string().regex(/^[\w.-]+\.js$/));
const PolicyHashes = z.object({ scripts: z.array(z.string()), styles: z.array(z.string()) });

/**
 * Loads the files that the build put into `dist/` of the package. Synchronously: nothing else happens at this time, and sixty
 * asynchronous reads would take five turns of a thread each.
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
    const names = PartNames.parse(JSON.parse(read('ui/parts.json')));
    const { scripts, styles } = PolicyHashes.parse(JSON.parse(read('ui/csp.json')));
    return {
      pageHtml: readStatic('ui/index.html'),
      pageParts: new Map(names.map((name) => [name, readStatic(`ui/parts/${name}`)] as const)),
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
