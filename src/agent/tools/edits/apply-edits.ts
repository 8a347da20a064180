import { ToolProblem } from '../tool-problem.ts';

/** A text to replace, exactly as in the file, and the new one. */
export interface Edit {
  old_string: string;
  new_string: string;
  replace_all: boolean;
}

/**
 * Applies all edits or none. Each is looked for in the text as it is, not in the result of the others, so their order does
 * not matter. A problem names each edit that failed.
 */
export function applyEdits(text: string, edits: readonly Edit[], shown: string): string {
  const found = edits.map((edit) => findSpans(text, edit, shown));
  const problems = found.flatMap((each, index) =>
    'problem' in each ? [edits.length === 1 ? each.problem : `Edit ${index + 1}: ${each.problem}`] : [],
  );
  const spans = found
    .flatMap((each, index) => ('spans' in each ? each.spans.map((span) => ({ ...span, index })) : []))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  problems.push(...findOverlaps(spans, { text, shown }));
  if (problems.length > 0) throw new ToolProblem(edits.length === 1 ? problems.join(' ') : toList(problems, shown));
  const chars = spans.reduce((sum, { start, end, newText }) => sum + newText.length - (end - start), text.length);
  if (chars > MAX_CHARS) throw new ToolProblem(`${shown} would become too large (${chars} characters).`);
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, newText } of spans) {
    pieces.push(text.slice(from, start), newText);
    from = end;
  }
  return [...pieces, text.slice(from)].join('');
}

/** Replacing all of many occurrences by a long text would fill the memory. */
const MAX_CHARS = 16 * 1024 * 1024;
const MOST_PROBLEMS = 20;

function toList(problems: readonly string[], shown: string): string {
  const more = problems.length > MOST_PROBLEMS ? [`… and ${problems.length - MOST_PROBLEMS} more problems.`] : [];
  return [`Nothing in ${shown} was changed.`, ...problems.slice(0, MOST_PROBLEMS), ...more].join('\n');
}

interface Span {
  start: number;
  end: number;
  newText: string;
}

function findSpans(text: string, edit: Edit, shown: string): { spans: Span[] } | { problem: string } {
  const { oldText, newText } = toLineEndsOf(text, edit);
  if (oldText === newText) return { problem: 'old_string and new_string are the same.' };
  const starts = findAll(text, oldText);
  if (starts.length === 0) return { problem: `old_string was not found in ${shown}; it must match exactly.` };
  if (starts.length > 1 && !edit.replace_all) {
    const lines = linesAt(text, starts.slice(0, 20));
    const more = starts.length > lines.length ? ', …' : '';
    return {
      problem: `old_string was found ${starts.length} times in ${shown} (lines ${lines.join(', ')}${more}); include more of its surroundings.`,
    };
  }
  return { spans: starts.map((start) => ({ start, end: start + oldText.length, newText })) };
}

function findOverlaps(
  spans: readonly (Span & { index: number })[],
  { text, shown }: { text: string; shown: string },
): string[] {
  const overlaps = new Map<string, number>();
  for (const [at, span] of spans.entries()) {
    const before = spans[at - 1];
    if (!before || before.end <= span.start) continue;
    const pair = [before.index + 1, span.index + 1].sort((a, b) => a - b).join(' and ');
    if (!overlaps.has(pair)) overlaps.set(pair, span.start);
  }
  return [...overlaps].map(
    ([pair, start]) => `Edits ${pair} overlap in ${shown} (line ${linesAt(text, [start])[0]}); join them into one.`,
  );
}

const linesAt = (text: string, starts: readonly number[]): number[] =>
  starts.map((start) => text.slice(0, start).split('\n').length);

/** read_file shows lines without their line endings, so a model writes \n even for a file with \r\n. */
function toLineEndsOf(text: string, { old_string, new_string }: Edit): { oldText: string; newText: string } {
  const isMeantOtherwise = !text.includes(old_string) && text.includes('\r\n');
  const convert = (piece: string) => (isMeantOtherwise ? piece.replace(/\r?\n/g, '\r\n') : piece);
  return { oldText: convert(old_string), newText: convert(new_string) };
}

function findAll(text: string, piece: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) starts.push(at);
  return starts;
}
