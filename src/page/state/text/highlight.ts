import { createLowlight } from 'lowlight';
import { GRAMMARS, type Language, WITHIN } from './languages.ts';

/** A stretch of one line in one colour; the class is one of highlight.js. */
export interface Piece {
  text: string;
  className: string | undefined;
}

/** The pieces of one line, without its line end. */
export type Pieces = readonly Piece[];

/** Beyond this code stays plain: it takes about a millisecond per kilobyte, in one go. */
const MAX_CHARS = 20_000;
/** So many coloured texts are kept, the least lately asked for is dropped first. */
const MAX_KEPT = 200;

/** Colours code, line by line; what it has coloured it keeps for a while. */
export interface Highlighter {
  /** At once, and only what is kept. */
  find(text: string, language: Language): readonly Pieces[] | undefined;
  /** Takes time. Undefined for what is too long. */
  highlight(text: string, language: Language): readonly Pieces[] | undefined;
}

export function createHighlighter(): Highlighter {
  const kept = new Map<string, readonly Pieces[]>();
  // Grammars are registered when they are first needed: together they would take as long as a page of code.
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
