import { createLowlight } from 'lowlight';
import { GRAMMARS, WITHIN } from './grammars.ts';
import type { Language } from './languages.ts';

/** A piece of a line in one colour, as a class of highlight.js. */
export interface Piece {
  text: string;
  className: string | undefined;
}

/** The pieces of one line, without its line end. */
export type Pieces = readonly Piece[];

/** Longer code stays plain: highlighting blocks for about a millisecond per kilobyte. */
const MAX_CHARS = 20_000;
/** Maximum number of cached texts; the least recently used is dropped first. */
const MAX_KEPT = 200;

/** Highlights code line by line and caches the result. */
export interface Highlighter {
  /** Returns a cached result without highlighting. */
  find(text: string, language: Language): readonly Pieces[] | undefined;
  /** Slow. Undefined if the text is too long. */
  highlight(text: string, language: Language): readonly Pieces[] | undefined;
}

export function createHighlighter(): Highlighter {
  const kept = new Map<string, readonly Pieces[]>();
  // Grammars are registered on first use: registering all takes as long as highlighting a page of code.
  const lowlight = createLowlight();
  const register = (language: Language) => {
    for (const needed of [language, ...(WITHIN[language] ?? [])]) {
      if (!lowlight.registered(needed)) lowlight.register(needed, GRAMMARS[needed]);
    }
  };
  const find = (text: string, language: Language) => {
    const key = `${language} ${text}`;
    const found = kept.get(key);
    if (found) kept.delete(key);
    if (found) kept.set(key, found);
    return found;
  };
  return {
    find,
    highlight(text, language) {
      if (text.length > MAX_CHARS) return undefined;
      const found = find(text, language);
      if (found) return found;
      register(language);
      const lines = toLines(lowlight.highlight(language, text).children);
      kept.set(`${language} ${text}`, lines);
      const oldest = kept.keys().next().value;
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return lines;
    },
  };
}

/** Shared by all code on the page, so that code scrolled back into view is highlighted at once. */
export const highlighter = createHighlighter();

type Node = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'][number];

function toLines(nodes: readonly Node[]): readonly Pieces[] {
  const lines: Piece[][] = [[]];
  const add = (text: string, className: string | undefined) => {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, className });
    }
  };
  const walk = (children: readonly Node[], outer: string | undefined) => {
    for (const node of children) {
      if (node.type === 'text') add(node.value, outer);
      else if (node.type === 'element') walk(node.children, toClass(node.properties.className) ?? outer);
    }
  };
  walk(nodes, undefined);
  return lines;
}

const toClass = (className: unknown): string | undefined =>
  Array.isArray(className) ? className.join(' ') : undefined;
