import { forEachChild, parse, type SyntaxNode } from 'unbash';

/** Longer texts are reported as unread anyway. */
const MOST_LENGTH = 20_000;

/** Whether a function of the command starts itself in the background or in a pipe. */
export function isForkBomb(text: string): boolean {
  if (text.length > MOST_LENGTH || !/[|&]/.test(text) || !/\(\s*\)|\bfunction\b/.test(text)) return false;
  try {
    return hasBomb(parse(text));
  } catch {
    return false; // the reading has a gap then
  }
}

function hasBomb(node: SyntaxNode): boolean {
  if (node.type === 'Function' && countCalls(node.body, node.name.text) >= 2) return true;
  let isFound = false;
  forEachChild(node, (child) => {
    isFound ||= hasBomb(child);
  });
  return isFound;
}

function countCalls(node: SyntaxNode, name: string): number {
  let count = node.type === 'Command' && node.name?.text === name ? 1 : 0;
  forEachChild(node, (child) => {
    count += countCalls(child, name);
  });
  return count;
}
