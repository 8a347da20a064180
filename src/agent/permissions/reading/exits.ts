import type { SyntaxNode } from 'unbash';
import type { Findings } from './findings.ts';

/**
 * Whether the command certainly ends the script: with two arguments, or if it cannot be redirected, `exit` fails; a
 * function may have replaced it.
 */
export function isExitCommand(node: SyntaxNode, { functions }: Findings): boolean {
  if (node.type !== 'Command' || node.name?.text !== 'exit' || functions.has('exit')) return false;
  const [status, ...more] = node.suffix;
  const isPlain = status === undefined || (status.type === 'Word' && /^\d+$/.test(status.text));
  return isPlain && more.length === 0 && node.prefix.length === 0;
}

/** `cd x || exit`, perhaps with more commands between: behind it, the folder has changed. */
export function endsOnFailure(node: SyntaxNode, findings: Findings): boolean {
  if (node.type !== 'AndOr') return false;
  const [last, ...others] = [...node.operators].reverse();
  const end = node.commands.at(-1);
  return last === '||' && others.every((each) => each === '&&') && end !== undefined && isExitCommand(end, findings);
}
