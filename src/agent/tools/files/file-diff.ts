import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** What a diff compares. */
interface Compared {
  shown: string;
  /** Undefined: the file is new. */
  before: string | undefined;
  /** Undefined: the file is deleted. */
  after: string | undefined;
}

/** A complete unified diff in plain text, for people. */
export function toDiff({ shown, before, after }: Compared): string {
  const from = before === undefined ? NOTHING : shown;
  const to = after === undefined ? NOTHING : shown;
  const patch = createTwoFilesPatch(from, to, before ?? '', after ?? '', '', '', {
    context: 3,
    timeout: MAX_DIFF_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  // For very different files, a diff would take too long to compute; the new text is shown instead.
  return patch ?? `(too different for a diff; the new content in full)\n${after ?? ''}`;
}

const NOTHING = '/dev/null';
const MAX_DIFF_MS = 500;
