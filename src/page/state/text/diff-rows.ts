import { diffWordsWithSpace, parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';

/** One line on one side of a difference. */
export interface DiffLine {
  /** In its file, from 1. */
  number: number;
  text: string;
  /** Character ranges that differ from the line on the other side, in order. */
  marks: readonly Range[];
}

export type Range = readonly [from: number, to: number];

/** One row of a diff: an unchanged line, a changed line, or omitted lines. */
export type DiffRow =
  | { kind: 'same'; before: DiffLine; after: DiffLine }
  | { kind: 'changed'; before: DiffLine | undefined; after: DiffLine | undefined }
  | { kind: 'gap'; lines: number }
  /** Unchanged lines in the middle of a long unchanged stretch, folded away. */
  | { kind: 'folded'; rows: readonly DiffRow[] };

/** The difference of one file. */
export interface FileDiff {
  /** Undefined if the file is created or removed. */
  oldName: string | undefined;
  newName: string | undefined;
  rows: readonly DiffRow[];
  added: number;
  removed: number;
}

/** A tool's preview of a file change: remarks, then diffs. */
export interface Patch {
  /** The text before the first diff. */
  remarks: string;
  files: readonly FileDiff[];
}

/** Unchanged lines shown before and after a change; longer stretches are folded. */
const CONTEXT_LINES = 3;
const MIN_FOLDED = 6;
/** Limits of the word-by-word comparison: characters per line, and changed pairs of lines. */
const MAX_COMPARED_CHARS = 500;
const MAX_COMPARED_PAIRS = 400;

/** Parses a unified diff; undefined if the text is not a complete one. */
export function parseDiff(text: string): Patch | undefined {
  const start = /^(?:diff |Index: |--- (?=.*\n\+\+\+ )|@@ -\d)/m.exec(text)?.index;
  if (start === undefined) return undefined;
  try {
    const files = parsePatch(text.slice(start)).filter(({ hunks }) => hunks.length > 0);
    if (files.length === 0 || !isWhole(text.slice(start), files)) return undefined;
    const compare = createComparison();
    return {
      remarks: text.slice(0, start).trim(),
      files: files.map(({ oldFileName, newFileName, hunks }) => ({
        oldName: toName(oldFileName),
        newName: toName(newFileName),
        rows: toRows(hunks, compare),
        added: countLines(hunks, '+'),
        removed: countLines(hunks, '-'),
      })),
    };
  } catch {
    return undefined; // an invalid diff, for example written by a model: shown as plain text
  }
}

/** Whether the rows show every line of the text: an approver has to see all of a change. */
function isWhole(text: string, files: readonly StructuredPatch[]): boolean {
  const lines = trimEndOf(text, '\n').split('\n');
  const headers = files.flatMap(({ oldFileName, newFileName }) => [oldFileName, newFileName]).filter(Boolean);
  const hunks = files.flatMap((file) => file.hunks);
  const metadata = lines.filter((line) => METADATA.test(line));
  const shown = hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, headers.length + metadata.length);
  return shown === lines.length;
}

/** Lines that git and other tools write between diffs; no line of a diff begins like this. */
const METADATA =
  /^(?:diff |index |Index: |={20}|new file mode|deleted file mode|old mode|new mode|similarity |rename )/;

const toName = (name: string | undefined) =>
  name === undefined || name === '/dev/null' || name === '' ? undefined : name;

const countLines = (hunks: readonly StructuredPatchHunk[], sign: '+' | '-') =>
  hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;

function toRows(hunks: readonly StructuredPatchHunk[], compare: Compare): readonly DiffRow[] {
  let nextLine = 1;
  return hunks.flatMap((hunk): DiffRow[] => {
    const left = hunk.oldStart - nextLine;
    nextLine = hunk.oldStart + hunk.oldLines;
    const rows = fold(toHunkRows(hunk, compare));
    return left > 0 ? [{ kind: 'gap', lines: left }, ...rows] : rows;
  });
}

function toHunkRows(hunk: StructuredPatchHunk, compare: Compare): DiffRow[] {
  const rows: DiffRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      rows.push({ kind: 'changed', ...compare(removed[index], added[index]) });
    }
    removed = [];
    added = [];
  };
  for (const line of hunk.lines) {
    const text = line.slice(1);
    if (line.startsWith('-')) removed.push({ number: oldNumber++, text, marks: [] });
    else if (line.startsWith('+')) added.push({ number: newNumber++, text, marks: [] });
    else if (!line.startsWith('\\')) {
      flush();
      const before = { number: oldNumber++, text, marks: [] };
      rows.push({ kind: 'same', before, after: { ...before, number: newNumber++ } });
    }
  }
  flush();
  return rows;
}

/** In one pass: a new file of 30,000 lines is as many changed rows. */
function fold(rows: readonly DiffRow[]): DiffRow[] {
  const folded: DiffRow[] = [];
  let start = 0;
  const end = (at: number) => {
    const head = start === 0 ? 0 : CONTEXT_LINES;
    const tail = at === rows.length ? 0 : CONTEXT_LINES;
    const hidden = rows.slice(start + head, Math.max(start + head, at - tail));
    if (hidden.length < MIN_FOLDED) folded.push(...rows.slice(start, at));
    else
      folded.push(...rows.slice(start, start + head), { kind: 'folded', rows: hidden }, ...rows.slice(at - tail, at));
  };
  for (const [at, row] of rows.entries()) {
    if (row.kind === 'same') continue;
    end(at);
    folded.push(row);
    start = at + 1;
  }
  end(rows.length);
  return folded;
}

type Pair = { before: DiffLine | undefined; after: DiffLine | undefined };
type Compare = (before: DiffLine | undefined, after: DiffLine | undefined) => Pair;

/**
 * Marks the words that differ between two lines, up to MAX_COMPARED_PAIRS pairs. Very different lines stay unmarked.
 */
function createComparison(): Compare {
  let pairs = 0;
  return (before, after) => {
    if (!before || !after || Math.max(before.text.length, after.text.length) > MAX_COMPARED_CHARS)
      return { before, after };
    pairs += 1;
    if (pairs > MAX_COMPARED_PAIRS) return { before, after };
    const parts = diffWordsWithSpace(before.text, after.text);
    const common = parts.filter(({ added, removed }) => !added && !removed).map(({ value }) => value.trim().length);
    const shared = common.reduce((sum, length) => sum + length, 0);
    if (shared * 4 < Math.max(before.text.trim().length, after.text.trim().length)) return { before, after };
    return {
      before: {
        ...before,
        marks: toMarks(parts.filter(({ added }) => !added).map(({ removed, value }) => [removed, value])),
      },
      after: {
        ...after,
        marks: toMarks(parts.filter(({ removed }) => !removed).map(({ added, value }) => [added, value])),
      },
    };
  };
}

function toMarks(parts: readonly (readonly [isMarked: boolean, text: string])[]): Range[] {
  const marks: Range[] = [];
  let at = 0;
  for (const [isMarked, { length }] of parts) {
    const last = marks.at(-1);
    if (isMarked && last?.[1] === at) marks[marks.length - 1] = [last[0], at + length];
    else if (isMarked) marks.push([at, at + length]);
    at += length;
  }
  return marks;
}
