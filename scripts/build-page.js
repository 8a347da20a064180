import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { precompress } from './precompress.js';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Builds the page into `outDir`: index.html, which contains everything, licenses.txt, both also compressed, and csp.json with the hashes for its policy. */
export async function buildPage(outDir = `${repository}dist/ui`) {
  await build({ configFile: `${repository}vite.config.ts`, root: `${repository}src/page`, build: { outDir } });
  await precompress(`${outDir}/index.html`);
  await precompress(`${outDir}/licenses.txt`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage();
