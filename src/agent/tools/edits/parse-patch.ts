import { ToolProblem } from '../tool-problem.ts';

/** What a patch does to one file. */
export type FilePatch =
  | { kind: 'add'; path: string; text: string }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo?: string; hunks: readonly Hunk[] };

/** A change in one place of a file. */
export interface Hunk {
  /** The line of the patch at which it begins, from 1. */
  at: number;
  /** Lines that come before it in the file, the outermost first. */
  headers: readonly string[];
  lines: readonly HunkLine[];
  /** Its last line is the last one of the file. */
  isAtEnd: boolean;
}

export interface HunkLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

const MOST_FILES = 100;
const MOST_HUNKS = 300;
const MOST_HEADERS = 10;

/**
 * Reads the patch format that begins with `*** Begin Patch`. Throws ToolProblem with the line that is wrong.
 */
export function parsePatch(text: string): FilePatch[] {
  const lines = toLines(text);
  const files: FilePatch[] = [];
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    if (line.trim() === '') continue;
    files.push(readFile(line, lines));
    if (files.length > MOST_FILES) throw new ToolProblem(`The patch changes more than ${MOST_FILES} files.`);
  }
  if (files.length === 0) throw new ToolProblem('The patch changes no file.');
  if (files.flatMap((file) => (file.kind === 'update' ? file.hunks : [])).length > MOST_HUNKS)
    throw new ToolProblem(`The patch has more than ${MOST_HUNKS} hunks.`);
  return files;
}

interface Lines {
  /** The next line; undefined at the end. */
  next(): string | undefined;
  peek(): string | undefined;
  /** The next line that is not empty. */
  peekBeyondBlanks(): string | undefined;
  /** The number of the line that `next` returned last. */
  at(): number;
}

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';

/** The lines between the marks of the beginning and the end. Blank lines and a here-document around them do not count. */
function toLines(text: string): Lines {
  const all = text.split(/\r?\n/);
  const begin = all.findIndex(
    (line) => line.trim() !== '' && !/^(?:apply_patch )?<<-?\s*['"]?\w+['"]?$/.test(line.trim()),
  );
  if (all[begin]?.trim() !== BEGIN) throw new ToolProblem(`The patch must begin with "${BEGIN}".`);
  const end = all.findLastIndex((line) => line.trim() === END);
  const isLast = all.slice(end + 1).every((line) => line.trim() === '' || /^\w+$/.test(line.trim()));
  if (end < begin || !isLast) throw new ToolProblem(`The patch must end with "${END}".`);
  let next = begin + 1;
  let filled = next; // the next line that is not empty, as far as it was looked for
  return {
    next: () => (next < end ? all[next++] : undefined),
    peek: () => (next < end ? all[next] : undefined),
    peekBeyondBlanks() {
      for (filled = Math.max(filled, next); all[filled] === ''; ) filled += 1;
      return filled < end ? all[filled] : undefined;
    },
    at: () => next,
  };
}

const FILE_HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const AT_END = '*** End of File';

function readFile(line: string, lines: Lines): FilePatch {
  const [, kind, name = ''] = FILE_HEADER.exec(line.trimEnd()) ?? [];
  const path = name.trim();
  switch (kind) {
    case 'Add':
      return { kind: 'add', path, text: readAdded(lines) };
    case 'Delete':
      return { kind: 'delete', path };
    case 'Update':
      return readUpdate(path, lines);
    default:
      throw new ToolProblem(
        `Line ${lines.at()} of the patch is "${toShort(line)}"; expected "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH".`,
      );
  }
}

const toShort = (line: string): string => (line.length > 80 ? `${line.slice(0, 80)}…` : line);

/** Another part begins with such a line; a line of a file begins with a sign. */
const isMark = (line: string | undefined): boolean => line === undefined || line.startsWith('*** ');

function readAdded(lines: Lines): string {
  const text: string[] = [];
  while (!isMark(lines.peek())) {
    const line = lines.next() ?? '';
    if (!line.startsWith('+'))
      throw new ToolProblem(`Line ${lines.at()} of the patch must begin with "+": it belongs to a new file.`);
    text.push(line.slice(1));
  }
  return text.map((line) => `${line}\n`).join('');
}

function readUpdate(path: string, lines: Lines): FilePatch {
  const moveTo = MOVE.exec(lines.peek() ?? '')?.[1]?.trim();
  if (moveTo !== undefined) lines.next();
  const hunks: Hunk[] = [];
  while (!isMark(lines.peek())) hunks.push(readHunk(lines, hunks.length + 1));
  if (hunks.length === 0 && moveTo === undefined)
    throw new ToolProblem(`Line ${lines.at()} of the patch: the update of ${path} changes nothing.`);
  return { kind: 'update', path, ...(moveTo !== undefined && { moveTo }), hunks };
}

function readHunk(lines: Lines, number: number): Hunk {
  const at = lines.at() + 1;
  const headers: string[] = [];
  while (lines.peek()?.startsWith('@@')) headers.push(...toHeader(lines.next() ?? ''));
  if (headers.length > MOST_HEADERS)
    throw new ToolProblem(`Line ${at} of the patch: more than ${MOST_HEADERS} lines with @@ in a row.`);
  const { read, isAtEnd } = readHunkLines(lines);
  if (!read.some(({ kind }) => kind !== 'same'))
    throw new ToolProblem(`Line ${at} of the patch: hunk ${number} changes nothing.`);
  return { at, headers, lines: read, isAtEnd };
}

function readHunkLines(lines: Lines): { read: HunkLine[]; isAtEnd: boolean } {
  const read: HunkLine[] = [];
  while (!endsHunk(lines.peek())) {
    const line = lines.next() ?? '';
    // Empty lines at the end of a hunk mostly only separate it from the next part.
    const isSeparator = line === '' && endsHunk(lines.peekBeyondBlanks());
    const parsed = isSeparator ? undefined : toHunkLine(line);
    if (parsed === 'invalid')
      throw new ToolProblem(
        `Line ${lines.at()} of the patch must begin with " ", "+", "-" or "@@": "${toShort(line)}".`,
      );
    if (parsed) read.push(parsed);
  }
  const isAtEnd = lines.peek()?.trimEnd() === AT_END;
  if (isAtEnd) lines.next();
  return { read, isAtEnd };
}

const endsHunk = (line: string | undefined): boolean => isMark(line) || line?.startsWith('@@') === true;

/** The text after `@@`. The numbers of a unified diff are ignored, because models guess them. */
function toHeader(line: string): string[] {
  const header = line
    .slice(2)
    .replace(/^ ?-\d+(,\d+)? \+\d+(,\d+)? @@/, '')
    .replace(/^ /, '');
  return header.trim() === '' ? [] : [header];
}

const KINDS = { ' ': 'same', '-': 'removed', '+': 'added' } as const;

/** An empty line stands for an empty line of the file. Undefined: a remark, such as `\ No newline at end of file`. */
function toHunkLine(line: string): HunkLine | 'invalid' | undefined {
  if (line === '') return { kind: 'same', text: '' };
  if (line.startsWith('\\')) return undefined;
  const [sign] = line;
  return sign === ' ' || sign === '-' || sign === '+' ? { kind: KINDS[sign], text: line.slice(1) } : 'invalid';
}
