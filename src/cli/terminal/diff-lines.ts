import type { Paint, Style } from './paint.ts';

/** A unified diff in the usual colours. */
export const toDiffLines = (diff: string, paint: Paint): string[] =>
  diff.split('\n').map((line) => {
    const style = toDiffStyle(line);
    return style === undefined ? line : paint(style, line);
  });

/** The style of one line of a diff. */
export function toDiffStyle(line: string): Style | undefined {
  if (/^(\+\+\+|---) /.test(line)) return 'bold';
  if (line.startsWith('@@')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}
