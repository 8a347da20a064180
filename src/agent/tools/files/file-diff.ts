import { FILE_HEADERS_ONLY, formatPatch } from 'diff';
import { type Block, changedBlocks, type Range } from './line-blocks.ts';

/** What a diff compares. */
interface Compared {
  shown: string;
  /** Undefined: the file is new. */
  before: string | undefined;
  /** Undefined: the file is deleted. */
  after: string | undefined;
}

/** A complete unified diff in plain text, for people. It depends on the two texts alone, not on how fast the machine is. */
export function toDiff({ shown, before, after }: Compared): string {
  const [old, now] = [toLines(before ?? ''), toLines(after ?? '')];
  const hunks = groupBlocks(changedBlocks(old, now)).map((blocks) => toHunk(blocks, old, now));
  const oldFileName = before === undefined ? NOTHING : shown;
  const newFileName = after === undefined ? NOTHING : shown;
  return formatPatch({ oldFileName, newFileName, oldHeader: '', newHeader: '', hunks }, FILE_HEADERS_ONLY);
}

/** Each with its line break; only the last one may be without. */
const toLines = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/));

/** Blocks that are so near to each other that one hunk has them. */
function groupBlocks(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const block of blocks) {
    if (block.old.start - end <= CONTEXT * 2) groups.at(-1)?.push(block);
    else groups.push([block]);
    end = block.old.end;
  }
  return groups;
}

function toHunk(blocks: readonly Block[], old: readonly string[], now: readonly string[]) {
  const lines: string[] = [];
  const add = (sign: string, from: readonly string[], { start, end }: Range) => {
    for (let index = start; index < end; index += 1) {
      const line = from[index] ?? '';
      if (line.endsWith('\n')) lines.push(sign + line.slice(0, -1));
      else lines.push(sign + line, '\\ No newline at end of file');
    }
  };
  const [first, last] = [blocks[0], blocks.at(-1)];
  const before = Math.min(CONTEXT, first?.old.start ?? 0);
  const after = Math.min(CONTEXT, old.length - (last?.old.end ?? 0));
  const [oldFrom, newFrom] = [(first?.old.start ?? 0) - before, (first?.new.start ?? 0) - before];
  let place = oldFrom;
  for (const block of blocks) {
    add(' ', old, { start: place, end: block.old.start });
    add('-', old, block.old);
    add('+', now, block.new);
    place = block.old.end;
  }
  add(' ', old, { start: place, end: place + after });
  return {
    oldStart: oldFrom + 1,
    oldLines: place + after - oldFrom,
    newStart: newFrom + 1,
    newLines: (last?.new.end ?? 0) + after - newFrom,
    lines,
  };
}

/** Lines around a change that stay. */
const CONTEXT = 3;
const NOTHING = '/dev/null';
