import type { SyntaxNode } from 'unbash';
import type { Stdin } from '../programs/program.ts';

/** Prints something else than paths, or runs something. */
const OTHER_OUTPUT = /^-(exec|ok|print$|printf|ls|fprint|fls|files0|version|help|L|follow)/;

/** What `find … -print0` writes into a pipe: paths below its folders. */
export function toFoundPaths(node: SyntaxNode | undefined): Stdin {
  if (node?.type !== 'Command' || node.name?.text !== 'find' || node.redirects.length > 0) return { kind: 'unknown' };
  const words = node.suffix.map((word) => (word.type === 'Word' && isPlain(word.text) ? word.value : undefined));
  const from = words.findIndex((word) => word === undefined || /^[-(!),]/.test(word));
  const tests = words.slice(from);
  const isOther =
    from < 0 ||
    tests.some((word, index) => word === undefined || (OTHER_OUTPUT.test(word) && tests[index - 1] !== '-name'));
  if (isOther || tests.at(-1) !== '-print0') return { kind: 'unknown' };
  const folders = words.slice(0, from).flatMap((word) => word ?? []);
  const mayBeLinks = !findsNoLinks(words);
  return { kind: 'paths', within: folders.length > 0 ? folders : ['.'], mayBeLinks };
}

/**
 * Whether the tests of find let nothing pass but files and folders: all of them must hold, and one before the first action names
 * these types.
 */
export function findsNoLinks(words: readonly (string | undefined)[]): boolean {
  if (words.some((word) => word === undefined || /^(-o|-or|-not|!|,)$/.test(word))) return false;
  const action = words.findIndex((word) => word !== undefined && /^-(exec|ok|print)/.test(word));
  const tests = words.slice(0, action < 0 ? undefined : action);
  return tests.some((word, index) => tests[index - 1] === '-type' && /^[fd](,[fd])*$/.test(word ?? ''));
}

/** Without anything that is expanded. */
const isPlain = (text: string): boolean => /^([\w./,:+=!-]|\\[()!]|'[^']*'|"[^"$`\\]*")+$/.test(text);
