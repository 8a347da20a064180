// `npm run docs`: builds the documentation as a static site with search into site/, which browsers open without a server.
import { globSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { findAnchors, toHtml, toPages, toSearched } from './pages.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** In the order of the navigation. */
const DOCUMENTS = ['docs/README.md', 'docs/guide.md', 'docs/cli.md'];
const LAST = ['HTTP.md', 'PROTOCOL.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md'];

/** Writes the site into `out` and returns its pages. Throws for a link that leads nowhere. */
export async function buildDocs(out) {
  const others = globSync('docs/*.md', { cwd: ROOT }).filter((file) => !DOCUMENTS.includes(file));
  const decisions = globSync('decisions/*.md', { cwd: ROOT });
  const sources = [...DOCUMENTS, ...others.sort(), ...LAST, ...decisions.sort()];
  const texts = await Promise.all(sources.map(async (file) => [file, await readFile(path.join(ROOT, file), 'utf8')]));
  const pages = texts.flatMap(([file, text]) =>
    file === 'README.md' ? toPages('about.md', text) : toPages(file, text),
  );
  const anchors = findAnchors(pages);
  for (const page of pages) if (page.source === 'about.md') anchors.set('README.md', 'about.html');
  const copied = new Set();
  await rm(out, { recursive: true, force: true });
  for (const page of pages) await writePage(page, { out, pages, anchors, copied });
  for (const file of copied) await copyInto(out, file);
  await writeFile(path.join(out, 'search-index.js'), `headgateDocs=${JSON.stringify(pages.map(toSearched))}`);
  await writeFile(path.join(out, 'site.css'), await readFile(new URL('site.css', import.meta.url)));
  await build({
    entryPoints: [fileURLToPath(new URL('browser.js', import.meta.url))],
    outfile: path.join(out, 'site.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    logLevel: 'warning',
  });
  return pages.map(({ url, title }) => ({ url, title }));
}

async function copyInto(out, file) {
  const to = path.join(out, file.replace(/^docs\//, ''));
  await mkdir(path.dirname(to), { recursive: true });
  await copyFile(path.join(ROOT, file), to);
}

async function writePage(page, { out, pages, anchors, copied }) {
  const root = '../'.repeat(page.url.split('/').length - 1);
  const content = toHtml(page, { anchors, root: ROOT, copied });
  const file = path.join(out, page.url);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, toDocument({ page, root, content, navigation: toNavigation(page, { pages, root }) }));
}

function toNavigation(page, { pages, root }) {
  const top = page.parent ?? page;
  const link = (each) =>
    `<a href="${root}${each.url}"${each === page ? ' aria-current="page"' : ''}>${toAttribute(each.title)}</a>`;
  const isListed = ({ parent, source, url }) =>
    parent === undefined && (!source.startsWith('decisions/') || url === 'decisions/README.html');
  const items = pages.filter(isListed).map((each) => {
    const sections = each === top ? pages.filter(({ parent }) => parent === each) : [];
    const inner = sections.length === 0 ? '' : `<ul>${sections.map((one) => `<li>${link(one)}</li>`).join('')}</ul>`;
    return `<li>${link(each)}${inner}</li>`;
  });
  return `<ul>${items.join('\n')}</ul>`;
}

const toAttribute = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const toDocument = ({ page, root, content, navigation }) => `<!doctype html>
<html lang="en" data-root="${root}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${toAttribute(page.title)} – Headgate</title>
<link rel="stylesheet" href="${root}site.css">
<nav><input type="search" placeholder="Search" aria-label="Search the documentation"><div id="results" hidden></div>
${navigation}</nav>
<main>
${content}</main>
<script src="${root}site.js"></script>
</html>
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = path.resolve(process.argv[2] ?? path.join(ROOT, 'site'));
  const pages = await buildDocs(out);
  process.stdout.write(`${pages.length} pages in ${out}; open ${path.join(out, 'index.html')}\n`);
}
