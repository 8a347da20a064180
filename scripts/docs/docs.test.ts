import assert from 'node:assert/strict';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parseHTML } from 'linkedom';
import { buildDocs } from './build-docs.js';
import { findAnchors, toHtml, toPages } from './pages.js';
import { findPages } from './search.js';

interface Searched {
  title: string;
  url: string;
  text: string;
}

const MOST_CHARACTERS = 40_000;
/** References, in which people search instead of reading. */
const REFERENCES = /^(CHANGELOG|PROTOCOL|HTTP)/;

interface Built {
  files: ReadonlySet<string>;
  parsed: ReadonlyMap<string, Document>;
}

/** What is wrong with one link or file of a page; undefined if it is there. */
function problemOf(element: Element, url: string, { files, parsed }: Built): string | undefined {
  const target = element.getAttribute('src') ?? element.getAttribute('href') ?? '';
  if (/^[a-z]+:/.test(target)) return element.tagName === 'A' ? undefined : `${url} loads ${target}`;
  const [place = '', anchor] = target.split('#');
  const file = place === '' ? url : path.posix.join(path.posix.dirname(url), place);
  const isThere = files.has(file) && (anchor === undefined || parsed.get(file)?.getElementById(anchor));
  return isThere ? undefined : `${url} → ${target}`;
}

test('the site has each document, short pages, working links, and nothing from elsewhere', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-docs-'));
  const pages = await buildDocs(folder.path);
  const urls = pages.map(({ url }) => url);
  for (const url of ['index.html', 'guide.html', 'guide/after-a-crash.html', 'decisions/README.html'])
    assert.ok(urls.includes(url), url);
  const parsed = new Map<string, Document>();
  for (const url of urls) parsed.set(url, parseHTML(await readFile(path.join(folder.path, url), 'utf8')).document);
  const built = { files: new Set(await readdir(folder.path, { recursive: true })), parsed };
  const wrong = [...parsed].flatMap(([url, document]) => {
    const length = document.querySelector('main')?.textContent?.length ?? 0;
    const isLong = length > MOST_CHARACTERS && !REFERENCES.test(url);
    const links = [...document.querySelectorAll('[src], [href]')].map((each) => problemOf(each, url, built));
    return [...(length === 0 || isLong ? [`${url} has ${length} characters`] : []), ...links.filter(Boolean)];
  });
  assert.deepEqual(wrong, []);

  const index = await readFile(path.join(folder.path, 'search-index.js'), 'utf8');
  const searched: Searched[] = JSON.parse(index.slice('headgateDocs='.length));
  assert.equal(searched.length, pages.length);
  const [first] = findPages(searched, 'backup restore');
  assert.equal(first?.url, 'operating/backup-and-restore.html');
  assert.deepEqual(findPages(searched, 'zebra unicorn'), []);
});

test('a search needs every word or its beginning, and titles count more', () => {
  const pages = [
    { title: 'Other', url: 'a', text: 'a backup of everything' },
    { title: 'Backups', url: 'b', text: 'how to make one' },
    { title: 'Nothing', url: 'c', text: 'nobackup' },
  ];
  const urls = (query: string) => findPages(pages, query).map(({ url }: Searched) => url);
  assert.deepEqual(urls('BACK'), ['b', 'a']);
  assert.deepEqual(urls('backup everything'), ['a']);
  assert.deepEqual(urls('(.*'), []);
});

test('a link to a heading or a file that does not exist is an error', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const render = (text: string) => {
    const pages = toPages('docs/x.md', `# X\n\n${text}\n`);
    const [page] = pages;
    return toHtml(page, { anchors: findAnchors(pages), root, copied: new Set() });
  };
  assert.match(render('## A `b` (c)\n\n[l](#a-b-c)'), /<a href="x\.html#a-b-c">l<\/a>/);
  assert.throws(() => render('[l](#none)'), /links to #none, which has no such heading/);
  assert.throws(() => render('[l](none.png)'), /links to none\.png, which does not exist/);
  assert.match(render('[source](../src/clock.ts)'), /<p>source<\/p>/);
});
