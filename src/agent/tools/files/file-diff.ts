import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** A unified diff for a person; undefined `before` is a new file. Plain text, whole: nothing is cut. */
export function toDiff({ shown, before, after }: { shown: string; before: string | undefined; after: string }): string {
  const from = before === undefined ? '/dev/null' : shown;
  const patch = createTwoFilesPatch(from, shown, before ?? '', after, '', '', {
    context: 3,
    timeout: MAX_DIFF_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  // Two very different files: comparing them further would take too long, and the new text says what will be there.
  return patch ?? `(too different for a diff; the new content in full)\n${after}`;
}

const MAX_DIFF_MS = 500;
