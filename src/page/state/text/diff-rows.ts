import { diffWordsWithSpace, parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff';

/** One line on one side of a difference. */
export interface DiffLine {
  /** In its file, from 1. */
  number: number;
  text: string;
  /** Where it differs from its counterpart on the other side: character ranges, in order. */
  marks: readonly Range[];
}

export type Range = readonly [from: number, to: number];

/** One row of a difference: the same line on both sides, a changed one, or lines that are left out. */
export type DiffRow =
  | { kind: 'same'; before: DiffLine; after: DiffLine }
  | { kind: 'changed'; before: DiffLine | undefined; after: DiffLine | undefined }
  | { kind: 'gap'; lines: number }
  /** Unchanged lines in the middle of a long unchanged stretch, folded away. */
  | { kind: 'folded'; rows: readonly DiffRow[] };

/** The difference of one file. */
export interface FileDiff {
  /** `undefined`: there is none, it is created or removed. */
  oldName: string | undefined;
  newName: string | undefined;
  rows: readonly DiffRow[];
  added: number;
  removed: number;
}

/** What a tool shows before it changes a file: remarks, then differences. */
export interface Patch {
  /** What stands before the first difference. */
  remarks: string;
  files: readonly FileDiff[];
}

/** Of a longer stretch of unchanged lines only so many are shown at each of its ends. */
const CONTEXT_LINES = 3;
const MIN_FOLDED = 6;
/** Lines longer than this, or more than so many changed pairs, are not compared word by word. */
const MAX_COMPARED_CHARS = 500;
const MAX_COMPARED_PAIRS = 400;

/** Reads a unified difference; undefined when the text is none, or not a whole one. */
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
    return undefined; // a difference that a model made up: shown as the text it is
  }
}

/** Nothing stands in the text that the rows would not show: who approves a change has to see all of it. */
function isWhole(text: string, files: readonly StructuredPatch[]): boolean {
  const lines = text.replace(/\n+$/, '').split('\n');
  const headers = files.flatMap(({ oldFileName, newFileName }) => [oldFileName, newFileName]).filter(Boolean);
  const hunks = files.flatMap((file) => file.hunks);
  const metadata = lines.filter((line) => METADATA.test(line));
  const shown = hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, headers.length + metadata.length);
  return shown === lines.length;
}

/** What git and others write between differences; no line of a difference begins like that. */
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

function fold(rows: readonly DiffRow[]): DiffRow[] {
  const folded: DiffRow[] = [];
  for (let at = 0; at < rows.length; ) {
    const next = rows.findIndex((row, index) => index >= at && row.kind !== 'same');
    const end = next < 0 ? rows.length : next;
    const head = at === 0 ? 0 : CONTEXT_LINES;
    const tail = end === rows.length ? 0 : CONTEXT_LINES;
    const hidden = rows.slice(at + head, Math.max(at + head, end - tail));
    if (hidden.length < MIN_FOLDED) folded.push(...rows.slice(at, end));
    else folded.push(...rows.slice(at, at + head), { kind: 'folded', rows: hidden }, ...rows.slice(end - tail, end));
    const following = rows[end];
    if (following) folded.push(following);
    at = end + 1;
  }
  return folded;
}

type Pair = { before: DiffLine | undefined; after: DiffLine | undefined };
type Compare = (before: DiffLine | undefined, after: DiffLine | undefined) => Pair;

/** Marks the words in which two lines differ, for so many pairs; two lines with little in common are left unmarked. */
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
