import TurndownService from 'turndown';
import { joinLines } from '../../../../protocol/text/trimmed-text.ts';

/** Converts the content of a page. Links and images get complete addresses; pictures in the page itself are left out. */
export function toMarkdown(content: HTMLElement, base: string): string {
  complete(content, base);
  return createService()
    .turndown(content)
    .replaceAll(/\n{3,}/g, '\n\n');
}

function complete(content: Element, base: string): void {
  for (const [selector, name] of ADDRESSES) {
    for (const element of content.querySelectorAll(selector)) {
      const url = URL.parse(element.getAttribute(name) ?? '', base);
      if (url === null || !/^(https?|mailto):$/.test(url.protocol)) element.removeAttribute(name);
      else element.setAttribute(name, url.href);
    }
  }
}

const ADDRESSES = [
  ['a[href]', 'href'],
  ['img[src]', 'src'],
] as const;

function createService(): TurndownService {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.addRule('cell', { filter: ['th', 'td'], replacement: (content, node) => toCell(content, node) });
  service.addRule('row', { filter: 'tr', replacement: (content, node) => toRow(content, node) });
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  return service;
}

function toCell(content: string, node: HTMLElement): string {
  if (isLayout(node)) return `\n\n${content.trim()}\n\n`;
  return `| ${joinLines(content.trim()).replaceAll('|', '\\|')} `;
}

/** Markdown has no table without a head, so the first row is one. */
function toRow(content: string, node: HTMLElement): string {
  if (isLayout(node)) return content;
  const isFirst = node.closest('table')?.querySelector('tr') === node;
  const cells = node.querySelectorAll('th, td').length;
  return `\n${content}|${isFirst ? `\n${'| --- '.repeat(cells)}|` : ''}`;
}

const LAYOUTS = new WeakMap<Element, boolean>();

/** Whether a table only places its content, so that its cells are no more than paragraphs. */
function isLayout(inside: Element): boolean {
  const table = inside.closest('table');
  if (table === null) return true;
  const known = LAYOUTS.get(table);
  if (known !== undefined) return known;
  const columns = table.querySelector('tr')?.querySelectorAll('th, td').length ?? 0;
  const found = columns < 2 || table.querySelector('table, pre, h1, h2, h3') !== null;
  LAYOUTS.set(table, found);
  return found;
}
