import { FILE_HEADERS_ONLY, formatPatch } from 'diff';
import { type Block, changedBlocks, type Range } from './line-blocks.ts';
import { countLines, type Differing, findDiffering } from './text-edges.ts';

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
  const oldFileName = before === undefined ? NOTHING : shown;
  const newFileName = after === undefined ? NOTHING : shown;
  const hunks = toHunks(findDiffering(before ?? '', after ?? '', CONTEXT));
  return formatPatch({ oldFileName, newFileName, oldHeader: '', newHeader: '', hunks }, FILE_HEADERS_ONLY);
}

/** Together, of both texts, between their common beginning and end. */
const MOST_LINES = 1_000_000;

function toHunks(differing: Differing) {
  const { skipped, lead, old, now, tail } = differing;
  if (old === '' && now === '') return [];
  const [oldCount, newCount] = [countLines(old), countLines(now)];
  if (old === '' || now === '' || oldCount + newCount > MOST_LINES) return [toReplaced(differing, oldCount, newCount)];
  const [lines, newLines] = [toLines(lead + old + tail), toLines(lead + now + tail)];
  return groupBlocks(changedBlocks(lines, newLines)).map((blocks) => {
    const { oldStart, newStart, ...hunk } = toHunk(blocks, lines, newLines);
    return { ...hunk, oldStart: oldStart + skipped, newStart: newStart + skipped };
  });
}

/** All lines that differ are removed and added. They may be millions, so they are not split. */
function toReplaced({ skipped, lead, old, now, tail }: Differing, oldCount: number, newCount: number) {
  const around = countLines(lead) + countLines(tail);
  return {
    oldStart: skipped + 1,
    oldLines: around + oldCount,
    newStart: skipped + 1,
    newLines: around + newCount,
    lines: [...toMarked(' ', lead), ...toMarked('-', old), ...toMarked('+', now), ...toMarked(' ', tail)],
  };
}

/** Each line with its sign, all in one text. */
function toMarked(sign: string, text: string): string[] {
  if (text === '') return [];
  const isEnded = text.endsWith('\n');
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n'); // with `replaceAll`, it takes three times as long
  return [sign + lines.join(`\n${sign}`), ...(isEnded ? [] : [NO_END])];
}

/** Each with its line break; only the last one may be without. */
function toLines(text: string): string[] {
  const lines: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    lines.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}

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
      else lines.push(sign + line, NO_END);
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
const NO_END = '\\ No newline at end of file';
