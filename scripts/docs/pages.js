import { statSync } from 'node:fs';
import path from 'node:path';
import { Marked } from 'marked';

/** A document with more lines becomes a page for each of its sections, so that every page is short. */
const MOST_LINES = 120;

/** The id of a heading, as GitHub makes it, so that the same links work there. */
const toSlug = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Plain text of tokens, for titles and the search. */
function textOf(token) {
  if (token.type === 'table') return [token.header, ...token.rows].flat().map(textOf).join(' ');
  const inner = token.tokens ?? token.items;
  if (inner !== undefined) return inner.map(textOf).join(token.type === 'list' ? ' ' : '');
  return token.text ?? token.raw ?? '';
}

/**
 * The pages of a document: `{ url, title, source, tokens, parent }`. `source` is the path in the repository. Sections of long documents
 * have the first page as their parent.
 */
export function toPages(source, text) {
  const tokens = new Marked().lexer(text);
  const name = source.replace(/^docs\//, '').replace(/\.md$/, '');
  const base = name === 'README' ? 'index' : name;
  const heading = tokens.find(({ type, depth }) => type === 'heading' && depth === 1);
  const first = { url: `${base}.html`, title: textOf(heading), source, tokens: [], parent: undefined };
  const pages = [first];
  const isLong = text.split('\n').length > MOST_LINES;
  for (const token of tokens) {
    if (isLong && token.type === 'heading' && token.depth === 2) {
      const title = textOf(token);
      pages.push({ url: `${base}/${toSlug(title)}.html`, title, source, tokens: [], parent: first });
    }
    pages.at(-1).tokens.push(token);
  }
  return pages;
}

/** Where each heading of each document is: `docs/guide.md#modes` → `guide/modes.html#modes`. */
export function findAnchors(pages) {
  const anchors = new Map();
  const add = (name, place) => anchors.has(name) || anchors.set(name, place);
  for (const page of pages) {
    add(page.source, page.url);
    for (const id of giveIds(page.tokens)) add(`${page.source}#${id}`, `${page.url}#${id}`);
  }
  return anchors;
}

/** Gives each heading an id that is unique on its page, and returns the ids. */
function giveIds(tokens) {
  const times = new Map();
  return tokens
    .filter(({ type }) => type === 'heading')
    .map((token) => {
      const slug = toSlug(textOf(token));
      const before = times.get(slug) ?? 0;
      times.set(slug, before + 1);
      token.id = before === 0 ? slug : `${slug}-${before}`;
      return token.id;
    });
}

/**
 * The HTML of a page's content. Links to documents lead to their pages, and those to other files of the repository become text.
 * `copied` collects the files that the page needs. Throws for a link that leads nowhere.
 */
export function toHtml(page, { anchors, root, copied }) {
  const renderer = {
    heading({ tokens, depth, id }) {
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const target = resolve(href, { page, anchors, root, copied });
      return target === undefined ? text : `<a href="${target}">${text}</a>`;
    },
    image({ href, text }) {
      return `<img src="${resolve(href, { page, anchors, root, copied })}" alt="${text.replaceAll('"', '&quot;')}">`;
    },
  };
  return new Marked({ renderer }).parser(page.tokens);
}

const isCopied = (file) => file.startsWith('docs/') && !file.endsWith('.md');

function resolve(href, { page, anchors, root, copied }) {
  if (/^[a-z]+:/.test(href)) return href;
  const [file, anchor] = href.split('#');
  const source =
    file === '' ? page.source : path.posix.normalize(path.posix.join(path.posix.dirname(page.source), file));
  const target = anchors.get(anchor === undefined ? source : `${source}#${anchor}`);
  if (target !== undefined) return path.posix.relative(path.posix.dirname(page.url), target);
  if (source.endsWith('.md') && anchors.has(source))
    throw new Error(`${page.source} links to ${href}, which has no such heading`);
  const found = statSync(path.join(root, source), { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`${page.source} links to ${href}, which does not exist`);
  if (!found.isFile() || !isCopied(source)) return undefined;
  copied.add(source);
  return path.posix.relative(path.posix.dirname(page.url), source.replace(/^docs\//, ''));
}

/** What the search finds a page by. */
export const toSearched = ({ title, url, tokens, parent }) => ({
  title: parent === undefined ? title : `${title} – ${parent.title}`,
  url,
  text: tokens.map(textOf).join(' ').replaceAll(/\s+/g, ' '),
});
