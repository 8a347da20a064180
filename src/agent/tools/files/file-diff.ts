import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** A complete unified diff in plain text, for people. An undefined `before` means a new file. */
export function toDiff({ shown, before, after }: { shown: string; before: string | undefined; after: string }): string {
  const from = before === undefined ? '/dev/null' : shown;
  const patch = createTwoFilesPatch(from, shown, before ?? '', after, '', '', {
    context: 3,
    timeout: MAX_DIFF_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  // For very different files, a diff would take too long to compute; the new text is shown instead.
  return patch ?? `(too different for a diff; the new content in full)\n${after}`;
}

const MAX_DIFF_MS = 500;
