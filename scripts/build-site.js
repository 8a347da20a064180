// Builds the files below /static, /shared and /docs: the explorer of the interface, the script and the styles of the page as files of their own, and
// what makes an app of the page: its service worker, manifest and icon; and the frame that draws diagrams.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPackages, toLicenseText } from './licenses.js';
import { buildDiagrams } from './page/build-diagrams.js';
import { toGzip } from './precompress.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SWAGGER = path.join(ROOT, 'node_modules/swagger-ui-dist');

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** The served path of each file that is copied, and its source. */
const COPIED = {
  '/docs': path.join(ROOT, 'src/page/docs/docs.html'),
  '/static/docs.js': path.join(ROOT, 'src/page/docs/docs.js'),
  '/static/swagger-ui-bundle.js': path.join(SWAGGER, 'swagger-ui-bundle.js'),
  '/static/swagger-ui.css': path.join(SWAGGER, 'swagger-ui.css'),
  '/static/app.webmanifest': path.join(ROOT, 'src/page/app/app.webmanifest'),
  '/static/icon.svg': path.join(ROOT, 'src/page/app/icon.svg'),
};

/**
 * Writes the files into `outDir`, in gzip only because they are large and rarely asked for, and site.json: what the daemon has to
 * know of each file to answer without reading it. `html` is the finished page. Returns the packages that are in the files, but not in the page.
 */
export async function buildSite(html, outDir) {
  const folder = path.join(outDir, 'site');
  await mkdir(folder, { recursive: true });
  const swagger = await readPackages([path.join(SWAGGER, 'swagger-ui-bundle.js')]);
  const texts = {
    '/static/app.js': textOf(html, 'script', /type="module"/),
    '/static/style.css': textOf(html, 'style'),
    '/static/swagger-ui-licenses.txt': await swaggerLicenses(swagger),
    '/static/sw.js': await serviceWorker(),
    '/shared/base.css': await baseStyles(),
  };
  for (const [served, source] of Object.entries(COPIED)) texts[served] = await readFile(source);
  const diagrams = await buildDiagrams();
  Object.assign(texts, diagrams.texts, { '/static/diagram-licenses.txt': toLicenseText(diagrams.packages) });
  const rows = await Promise.all(Object.entries(texts).map(([served, text]) => write(folder, served, text)));
  Object.assign(Object.fromEntries(rows)['/static/diagram.html'], { policy: diagrams.policy });
  await writeFile(path.join(outDir, 'site.json'), `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
  return [...swagger, ...diagrams.packages];
}

/** Adds files to those that buildSite wrote into `outDir`. */
export async function addSiteFiles(outDir, texts) {
  const list = path.join(outDir, 'site.json');
  const rows = await Promise.all(
    Object.entries(texts).map(([served, text]) => write(path.join(outDir, 'site'), served, text)),
  );
  const known = JSON.parse(await readFile(list, 'utf8'));
  await writeFile(list, `${JSON.stringify({ ...known, ...Object.fromEntries(rows) }, null, 2)}\n`);
}

async function write(folder, served, text) {
  const file = `${served.slice(1).replaceAll('/', '-')}.gz`;
  const coded = await toGzip(text);
  await writeFile(path.join(folder, file), coded);
  const etag = `W/"${createHash('sha1').update(text).digest('base64url')}"`;
  const bytes = { identity: Buffer.byteLength(text), gzip: coded.length };
  const contentType = TYPES[path.extname(served) || '.html'];
  return [served, { file, contentType, etag, bytes, ...(HASHED.test(served) && { isImmutable: true }) }];
}

/** The name contains the hash. */
const HASHED = /-[0-9a-f]{12}\.js$/;

/** The design, and what holds for every element. */
async function baseStyles() {
  const read = (name) => readFile(path.join(ROOT, 'src/page/styles', name), 'utf8');
  return `${await read('tokens.css')}\n${await read('base.css')}`;
}

/** One small script without imports. */
async function serviceWorker() {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/page/worker/sw.ts'],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles[0].text;
}

/** The text of the only element of its kind with these attributes. Read from the start, because a script may contain `<style`. */
function textOf(html, tag, attributes = /^/) {
  const elements = [...html.matchAll(/<(script|style)\b([^>]*)>([\s\S]*?)<\/\1>/g)];
  const texts = elements
    .filter(([, name, given]) => name === tag && attributes.test(given))
    .map(([, , , text]) => text);
  if (texts.length !== 1) throw new Error(`the page has ${texts.length} elements ${tag} instead of one`);
  return texts[0];
}

/** Swagger UI's bundle contains packages whose licences it lists in a file of its own. */
async function swaggerLicenses(swagger) {
  return `${toLicenseText(swagger)}\n${await readFile(path.join(SWAGGER, 'swagger-ui-bundle.js.LICENSE.txt'), 'utf8')}`;
}
