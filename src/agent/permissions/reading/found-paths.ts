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
  return { kind: 'paths', within: folders.length > 0 ? folders : ['.'] };
}

/** Without anything that is expanded. */
const isPlain = (text: string): boolean => /^([\w./,:+=!-]|\\[()!]|'[^']*'|"[^"$`\\]*")+$/.test(text);
