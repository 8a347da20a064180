import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { toMarkdown } from './to-markdown.ts';

/** What a page says, as Markdown. */
interface ReadPage {
  title: string;
  text: string;
  /** The page goes on. */
  isCut: boolean;
}

/** The time of the libraries grows with more than the size of a page. */
const MAX_CHARACTERS = 2_000_000;
const MAX_ELEMENTS = 30_000;
/** What is left of an overview is often one of its entries. An article is at least this part of its page. */
const MIN_SHARE = 1 / 3;
const MAX_TITLE = 300;

/** Reads a page: its article if it has one, otherwise all of it. Some pages take long, so it belongs into a worker. */
export function readPage(html: string, address: string): ReadPage {
  const page = html.slice(0, MAX_CHARACTERS);
  const document = parse(page);
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', address)?.href ?? address;
  const title = oneLine(document.querySelector('title')?.textContent);
  const size = sizeOf(document.body);
  const article = findArticle(document);
  // Readability takes the page apart.
  const content = article && sizeOf(article) >= size * MIN_SHARE ? article : parse(page).body;
  return { title, text: toMarkdown(content, base), isCut: html.length > page.length };
}

const NO_CONTENT = 'script, style, noscript, template, svg, iframe, object, embed, [hidden]';

function parse(html: string): Document {
  const { document } = parseHTML(/<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  for (const gone of document.querySelectorAll(NO_CONTENT)) gone.remove();
  return document;
}

function findArticle(document: Document): HTMLElement | undefined {
  if (document.querySelectorAll('*').length > MAX_ELEMENTS) return undefined;
  return new Readability<HTMLElement>(document, { serializer: toElement }).parse()?.content ?? undefined;
}

/** Its content is an element; the types say any node. */
function toElement(node: Node): HTMLElement {
  if (!isElement(node)) throw new TypeError('Readability found no element');
  return node;
}

/** By a method, because the classes of linkedom are none of the browser's. */
const isElement = (node: Node): node is HTMLElement => 'querySelectorAll' in node;

const sizeOf = ({ textContent }: Element): number => textContent.replaceAll(/\s+/g, ' ').length;
const oneLine = (text = ''): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
