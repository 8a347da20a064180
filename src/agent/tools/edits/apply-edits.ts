import { ToolProblem } from '../tool-problem.ts';
import { findText } from './find-text.ts';

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
  const found = findAll(text, edits, shown);
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
/** All edits together may replace so many places: with millions of them, their list would fill the memory. */
const MOST_PLACES = 100_000;
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

type Found = { spans: Span[] } | { problem: string };

function findAll(text: string, edits: readonly Edit[], shown: string): Found[] {
  const isWindows = hasOnlyWindowsEnds(text);
  let most = MOST_PLACES;
  return edits.map((edit) => {
    const found = findSpans(text, isWindows ? withWindowsEnds(edit) : edit, { shown, most });
    if ('spans' in found) most -= found.spans.length;
    return found;
  });
}

function findSpans(text: string, edit: Edit, { shown, most }: { shown: string; most: number }): Found {
  const { old_string: oldText, new_string: newText, starts } = findStarts(text, edit, most + 1);
  if (oldText === newText) return { problem: 'old_string and new_string are the same.' };
  if (starts.length === 0) return { problem: `old_string was not found in ${shown}; it must match exactly.` };
  if (starts.length > 1 && !edit.replace_all) {
    const lines = linesAt(text, starts.slice(0, 20));
    const more = starts.length > lines.length ? ', …' : '';
    const times = starts.length > most ? `more than ${most}` : starts.length;
    return {
      problem: `old_string was found ${times} times in ${shown} (lines ${lines.join(', ')}${more}); include more of its surroundings.`,
    };
  }
  if (starts.length > most) return { problem: `At most ${MOST_PLACES} places of ${shown} can be replaced at once.` };
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

/** The numbers of the lines at these places, which are in order. */
function linesAt(text: string, starts: readonly number[]): number[] {
  let line = 1;
  let next = text.indexOf('\n');
  return starts.map((start) => {
    for (; next >= 0 && next < start; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  });
}

/** read_file shows lines without their line endings, so a model writes \n even for a file with \r\n. */
const withWindowsEnds = (edit: Edit): Edit => ({
  ...edit,
  old_string: edit.old_string.replace(/\r?\n/g, '\r\n'),
  new_string: edit.new_string.replace(/\r?\n/g, '\r\n'),
});

const hasOnlyWindowsEnds = (text: string): boolean => text.includes('\r\n') && !/(?<!\r)\n/.test(text);

/** In a file with line endings of both kinds, a text that is not found as it is may be meant with those of Windows. */
function findStarts(text: string, edit: Edit, most: number): Edit & { starts: number[] } {
  const starts = findText(text, edit.old_string, most);
  if (starts.length > 0 || !text.includes('\r\n')) return { ...edit, starts };
  const other = withWindowsEnds(edit);
  return { ...other, starts: findText(text, other.old_string, most) };
}
