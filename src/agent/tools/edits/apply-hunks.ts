import { findRuns } from './find-runs.ts';
import type { Hunk, HunkLine } from './parse-patch.ts';

export type PatchedText = { kind: 'patched'; text: string } | { kind: 'conflict'; problems: readonly string[] };

/**
 * Applies the hunks of one file in their order, all or none. Lines are compared exactly; if that finds nothing, without
 * white space at their ends, then without any around them, then with the usual characters for typographic ones. The file's own
 * context lines and line endings stay.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): PatchedText {
  const file = toFileLines(text);
  if (file.lines.length > MOST_LINES) return { kind: 'conflict', problems: [TOO_LONG] };
  const problems: string[] = [];
  const replaced: Replaced[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const found = locate(file, hunk, from);
    if (found.kind === 'missing') {
      problems.push(`Hunk ${index + 1} (line ${hunk.at} of the patch): ${found.why}`);
      if (problems.length === MOST_PROBLEMS) break;
      continue;
    }
    replaced.push({ start: found.at, hunk: found.lines });
    from = found.at + found.lines.filter(({ kind }) => kind !== 'added').length;
  }
  return problems.length > 0 ? { kind: 'conflict', problems } : { kind: 'patched', text: toText(file, replaced) };
}

/** Every hunk is looked for in all lines, in four forms, and nobody else is served meanwhile. */
const MOST_LINES = 200_000;
const TOO_LONG = `it has more than ${MOST_LINES} lines, which are too many for a patch; use edit_file.`;
/** Looking for what a conflict is takes longer than applying a hunk. */
const MOST_PROBLEMS = 20;

interface FileLines {
  /** Without line endings. */
  lines: readonly string[];
  /** The same with their carriage returns, which the last line gets, too, while it may be followed by others. */
  original: readonly string[];
  /** What ends new lines. */
  ending: '' | '\r';
  endsWithNewline: boolean;
  /** The lines in the form of each level, made when it is needed. */
  at(level: number): readonly string[];
}

function toFileLines(text: string): FileLines {
  const original = text.split('\n');
  const endsWithNewline = original.at(-1) === '';
  if (endsWithNewline) original.pop();
  const ending = original[0]?.endsWith('\r') ? '\r' : '';
  const last = original.pop();
  if (last !== undefined) original.push(endsWithNewline ? last : `${last}${ending}`);
  const lines = original.map((line) => line.replace(/\r$/, ''));
  const forms = new Map<number, readonly string[]>([[0, lines]]);
  return {
    lines,
    original,
    ending,
    endsWithNewline,
    at(level) {
      const form = forms.get(level) ?? lines.map(LEVELS[level] ?? exactly);
      forms.set(level, form);
      return form;
    },
  };
}

const exactly = (line: string): string => line;

const LEVELS: readonly ((line: string) => string)[] = [
  exactly,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    line
      .trim()
      .replace(/[\u2010-\u2015\u2212]/g, '-')
      .replace(/[\u2018-\u201b]/g, "'")
      .replace(/[\u201c-\u201f]/g, '"')
      .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '),
];

type Located = { kind: 'found'; at: number; lines: readonly HunkLine[] } | { kind: 'missing'; why: string };

const missing = (why: string): Located => ({ kind: 'missing', why });

function locate(file: FileLines, hunk: Hunk, from: number): Located {
  let start = from;
  for (const header of hunk.headers) {
    const at = findHeader(file, header, start);
    if (at === undefined) return missing(`the line "${toShort(header.trim())}" was not found${after(start)}.`);
    start = at + 1;
  }
  const old = hunk.lines.filter(({ kind }) => kind !== 'added').map(({ text }) => text);
  if (old.length === 0) {
    const isPlaced = hunk.headers.length > 0 && !hunk.isAtEnd;
    return { kind: 'found', at: isPlaced ? start : file.lines.length, lines: hunk.lines };
  }
  const found = search(file, { old, from: start, isAtEnd: hunk.isAtEnd });
  const [at, ...others] = found;
  if (at === undefined) return missing(whyMissing(file, { old, from: start, isAtEnd: hunk.isAtEnd }));
  if (others.length > 0 && hunk.headers.length === 0) {
    const lines = found.slice(0, MOST_LISTED).map((line) => line + 1);
    return missing(
      `its lines are in the file more than once (lines ${lines.join(', ')}${found.length > MOST_LISTED ? ', …' : ''}); add context lines, or name a line before it after @@.`,
    );
  }
  return { kind: 'found', at, lines: hunk.lines };
}

const MOST_LISTED = 10;

function findHeader(file: FileLines, header: string, from: number): number | undefined {
  for (const [level, toForm] of LEVELS.entries()) {
    const wanted = toForm(header);
    const at = file.at(level).indexOf(wanted, from);
    if (at >= 0) return at;
  }
  return undefined;
}

interface Wanted {
  old: readonly string[];
  from: number;
  isAtEnd: boolean;
}

/** Where the lines are, by the strictest level that finds them. */
function search(file: FileLines, { old, from, isAtEnd }: Wanted): number[] {
  for (const [level, toForm] of LEVELS.entries()) {
    const { starts } = findRuns(file.at(level), old.map(toForm), from);
    const fitting = isAtEnd ? starts.filter((at) => at + old.length === file.lines.length) : starts;
    if (fitting.length > 0) return fitting;
  }
  return [];
}

function whyMissing(file: FileLines, { old, from, isAtEnd }: Wanted): string {
  const earlier = from > 0 ? search(file, { old, from: 0, isAtEnd: false }) : [];
  if (earlier[0] !== undefined && earlier[0] < from)
    return `its lines are at line ${earlier[0] + 1}, before the end of the hunk before it; hunks must be in the order of the file.`;
  if (isAtEnd && search(file, { old, from, isAtEnd: false }).length > 0)
    return 'its lines are in the file, but not at its end.';
  const { longest } = findRuns(
    file.at(2),
    old.map((line) => line.trim()),
    from,
  );
  if (longest.length === 0) return `its first line "${toShort(old[0] ?? '')}" was not found${after(from)}.`;
  const at = longest.start + longest.length;
  const here = file.lines[at];
  return `it fits from line ${longest.start + 1}, but line ${at + 1} ${here === undefined ? 'does not exist' : `is "${toShort(here)}"`} where the patch has "${toShort(old[longest.length] ?? '')}".`;
}

const after = (from: number): string => (from > 0 ? ` after line ${from}` : '');

const toShort = (line: string): string => (line.length > 120 ? `${line.slice(0, 120)}…` : line);

interface Replaced {
  start: number;
  hunk: readonly HunkLine[];
}

function toText(file: FileLines, replaced: readonly Replaced[]): string {
  const lines: string[] = [];
  let next = 0;
  for (const { start, hunk } of replaced) {
    for (const line of file.original.slice(next, start)) lines.push(line);
    for (const line of toNewLines(file, start, hunk)) lines.push(line);
    next = start + hunk.filter(({ kind }) => kind !== 'added').length;
  }
  for (const line of file.original.slice(next)) lines.push(line);
  return joined(file, lines);
}

/** The lines that a hunk leaves; those it does not change are the file's own. */
function toNewLines({ original, ending }: FileLines, start: number, hunk: readonly HunkLine[]): string[] {
  let at = start;
  return hunk.flatMap(({ kind, text }) => {
    if (kind === 'added') return [`${text}${ending}`];
    const own = original[at++] ?? '';
    return kind === 'same' ? [own] : [];
  });
}

function joined({ ending, endsWithNewline }: FileLines, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const text = lines.join('\n');
  if (endsWithNewline) return `${text}\n`;
  // The last line was given the ending; another one that is last now may have none.
  return ending !== '' && text.endsWith(ending) ? text.slice(0, -ending.length) : text;
}
