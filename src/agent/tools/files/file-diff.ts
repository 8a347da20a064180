import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch } from 'diff';

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
  if (!before || !after) return toOneSided({ from, to, sign: after ? '+' : '-', text: before || after || '' });
  const patch = createTwoFilesPatch(from, to, before, after, '', '', {
    context: 3,
    timeout: MAX_DIFF_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  // For very different files, a diff would take too long to compute; the new text is shown instead.
  return patch ?? `(too different for a diff; the new content in full)\n${after}`;
}

interface OneSided {
  from: string;
  to: string;
  sign: '+' | '-';
  text: string;
}

/** All of a text as added or removed. Nothing has to be compared, so it is a diff at any length and on any machine. */
function toOneSided({ from, to, sign, text }: OneSided): string {
  const lines = text.split('\n');
  const isEnded = lines.at(-1) === '';
  if (isEnded) lines.pop();
  const count = { '+': 0, '-': 0, [sign]: lines.length };
  const shown = [...lines.map((line) => sign + line), ...(isEnded ? [] : ['\\ No newline at end of file'])];
  const hunk = { oldStart: 1, oldLines: count['-'], newStart: 1, newLines: count['+'], lines: shown };
  const names = { oldFileName: from, newFileName: to, oldHeader: '', newHeader: '' };
  return formatPatch({ ...names, hunks: text === '' ? [] : [hunk] }, FILE_HEADERS_ONLY);
}

const NOTHING = '/dev/null';
const MAX_DIFF_MS = 500;
