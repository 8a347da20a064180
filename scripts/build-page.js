import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { buildSite } from './build-site.js';
import { readPackages } from './licenses.js';
import { PARTS } from './page/inline-page.js';
import { packParts } from './page/pack-parts.js';
import { precompress } from './precompress.js';

const repository = fileURLToPath(new URL('..', import.meta.url));

/**
 * Builds the page into `outDir`: index.html and licenses.txt, also compressed, parts.bin with its parts, csp.json with the hashes for its policy,
 * and the files of build-site.js. Returns the packages that are in them.
 */
export async function buildPage(outDir = `${repository}dist/ui`) {
  const modules = [];
  await build({
    configFile: `${repository}vite.config.ts`,
    root: `${repository}src/page`,
    build: { outDir },
    plugins: [collectModules(modules)],
  });
  await precompress(`${outDir}/index.html`);
  await precompress(`${outDir}/licenses.txt`);
  await packParts(`${outDir}/${PARTS}`);
  const ofSite = await buildSite(await readFile(`${outDir}/index.html`, 'utf8'), outDir);
  return [...(await readPackages(modules)), ...ofSite];
}

/** Adds the files of the page to `modules`. */
const collectModules = (modules) => ({
  name: 'headgate:modules',
  generateBundle() {
    modules.push(...this.getModuleIds());
  },
});

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage();
