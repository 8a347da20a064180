import type { Paint, Style } from './paint.ts';

/** A unified diff in the colours that people expect. */
export const toDiffLines = (diff: string, paint: Paint): string[] =>
  diff.split('\n').map((line) => {
    const style = toDiffStyle(line);
    return style === undefined ? line : paint(style, line);
  });

/** The colour of a line that begins like this. */
export function toDiffStyle(line: string): Style | undefined {
  if (/^(\+\+\+|---) /.test(line)) return 'bold';
  if (line.startsWith('@@')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}

/** Whether a preview is a difference and not a command. */
export const isDiff = (preview: string): boolean => /^--- .*\n\+\+\+ /m.test(preview);
