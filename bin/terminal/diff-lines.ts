import type { Paint } from './paint.ts';

/** A unified diff in the colours that people expect. */
export const toDiffLines = (diff: string, paint: Paint): string[] =>
  diff.split('\n').map((line) => {
    if (/^(\+\+\+|---) /.test(line)) return paint('bold', line);
    if (line.startsWith('@@')) return paint('cyan', line);
    if (line.startsWith('+')) return paint('green', line);
    return line.startsWith('-') ? paint('red', line) : line;
  });

/** Whether a preview is a difference and not a command. */
export const isDiff = (preview: string): boolean => /^--- .*\n\+\+\+ /m.test(preview);
