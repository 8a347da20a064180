import { forEachChild, type SyntaxNode } from 'unbash';

/** Whether a function runs itself, such as `:(){ :|:& };:`. */
export function callsItself(name: string, body: SyntaxNode): boolean {
  let isFound = false;
  const visit = (node: SyntaxNode): void => {
    isFound ||= node.type === 'Command' && node.name?.value === name;
    if (!isFound) forEachChild(node, visit);
  };
  visit(body);
  return isFound;
}
