import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { buildSite } from './build-site.js';
import { PARTS } from './page/inline-page.js';
import { precompress } from './precompress.js';

const repository = fileURLToPath(new URL('..', import.meta.url));

/**
 * Builds the page into `outDir`: index.html, its parts and licenses.txt, all also compressed, parts.json with the names of the parts, csp.json
 * with the hashes for its policy, and the files of build-site.js.
 */
export async function buildPage(outDir = `${repository}dist/ui`) {
  await build({ configFile: `${repository}vite.config.ts`, root: `${repository}src/page`, build: { outDir } });
  await precompress(`${outDir}/index.html`);
  await precompress(`${outDir}/licenses.txt`);
  await listParts(outDir);
  await buildSite(await readFile(`${outDir}/index.html`, 'utf8'), outDir);
}

/** Compresses the parts and writes their list, which comes last. */
export async function listParts(outDir) {
  const parts = (await readdir(`${outDir}/${PARTS}`)).filter((name) => name.endsWith('.js')).sort();
  await Promise.all(parts.map((name) => precompress(`${outDir}/${PARTS}/${name}`)));
  await writeFile(`${outDir}/${PARTS}.json`, `${JSON.stringify(parts)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage();
