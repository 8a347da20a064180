import { join, relative } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { withDeadline } from '../process/deadline.ts';
import { StopReason } from '../stop-reason.ts';
import { openConfined } from './files/confined-file.ts';
import { type AllowedPlace, type Confinement, isInside } from './files/confinement.ts';
import { asksToRead, executeAt, type FileCall, prepareAt, toFileEffect, toWarnings } from './files/file-call.ts';
import type { SearchHit } from './search/search-files.ts';
import { searchWithRipgrep } from './search/search-ripgrep.ts';
import { searchWithWorker } from './search/search-walk.ts';
import { outcomeOf, toStopLine } from './stop-line.ts';
import type { Tool, ToolOutcome, ToolRun } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';

const SearchArguments = z.strictObject({
  query: z.string().min(1).max(1_000).describe('A regular expression, matched line by line'),
  path: z
    .string()
    .max(4_096)
    .default('.')
    .describe('Folder or file to search, relative to the working directory or absolute'),
  glob: z.string().min(1).max(200).optional().describe('Only files that match this pattern, such as *.ts or src/**'),
});
type SearchArguments = z.infer<typeof SearchArguments>;

interface SearchDependencies {
  confinement: Confinement;
  clock: Clock;
  /** The path of the program; without it, the built-in search is used, which is slower. */
  ripgrep: string | undefined;
  /** Where search-worker lies in this build. */
  workerUrl: URL;
}

/** Finds lines in files. Skips files that .gitignore ignores, and never shows files that look like secrets. */
export function createSearchTool(dependencies: SearchDependencies): Tool<SearchArguments> {
  const { confinement } = dependencies;
  return {
    name: 'search',
    description: [
      'Searches files for a regular expression and shows up to 200 matching lines as path:line: text.',
      'Skips files that .gitignore ignores, binary files and files that look like secrets.',
    ].join(' '),
    parameters: SearchArguments,
    readOnly: true,
    safeToRepeat: true,
    async prepare(args, context) {
      const call = { tool: 'search', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        if (!place.exists) throw new ToolProblem(`${place.shown}: no such file or folder.`);
        return {
          kind: 'ready',
          subject: `${args.query}${place.shown === '.' ? '' : ` in ${place.shown}`}`,
          preview: toWarnings(place),
          approvalLabel: 'search',
          needsApproval: asksToRead(place),
          reading: toFileEffect('read', place),
          bindTo: place.path,
          execute: (run) =>
            executeAt(call, place, { run, work: () => search({ args, call, place, dependencies }, run) }),
        };
      });
    },
  };
}

const MAX_MATCHES = 200;
/** A backtracking expression that takes longer is stuck. ripgrep does not backtrack, but it may have much to read. */
const DEADLINE_MS = { walk: 5_000, ripgrep: 20_000 };

interface Search {
  args: SearchArguments;
  call: FileCall;
  place: AllowedPlace;
  dependencies: SearchDependencies;
}

async function search(it: Search, run: ToolRun): Promise<ToolOutcome> {
  const { clock } = it.dependencies;
  const ripgrep = findRipgrep(it);
  const deadlineMs = ripgrep ? DEADLINE_MS.ripgrep : DEADLINE_MS.walk;
  using deadline = withDeadline(run.signal, { clock, ms: deadlineMs });
  const lines: string[] = [];
  const toLine = createLineMaker(it);
  let bytes = 0;
  try {
    for await (const hit of findHits(it, deadline.signal)) {
      const line = await toLine(hit);
      if (line === undefined) continue;
      bytes += Buffer.byteLength(line) + 1;
      if (lines.length === MAX_MATCHES || bytes > run.maxOutputBytes)
        return toOutcome([...lines, `[more than ${lines.length} matches; the rest is left out]`]);
      lines.push(line);
    }
  } catch (error) {
    if (!(error instanceof StopReason)) throw error;
    return { ...toOutcome([...lines, toStopLine(error, deadlineMs / 1_000)]), outcome: outcomeOf(error) };
  }
  return toOutcome(lines);
}

/** Returns ripgrep unless a command could have replaced it. */
function findRipgrep({ call, dependencies: { ripgrep } }: Search): string | undefined {
  return ripgrep === undefined || isInside(call.context.workdir.folder.path, ripgrep) ? undefined : ripgrep;
}

/** Searches in the held folder itself; hits are reported with its path. */
async function* findHits(it: Search, signal: AbortSignal): AsyncIterable<SearchHit> {
  const { args, place, dependencies } = it;
  const { path, base } = place;
  const [root, named] = base ? [base.way, base.path] : [path, path];
  const target = join(root, relative(named, path));
  const request = { target, query: args.query, glob: args.glob, root, showSecrets: place.isSecret };
  const ripgrep = findRipgrep(it);
  const hits = ripgrep
    ? searchWithRipgrep(ripgrep, request, signal)
    : searchWithWorker(dependencies.workerUrl, request, signal);
  for await (const hit of hits) yield { ...hit, path: join(named, relative(root, hit.path)) };
}

/**
 * Builds the lines to show. A file that needs approval for reading may not be read by searching either, unless the
 * search was approved. A search follows names that may be replaced meanwhile, so each line is compared with the opened
 * file.
 */
function createLineMaker({ place, call }: Search): (hit: SearchHit) => Promise<string | undefined> {
  let latest: { path: string; file: ReadableFile | undefined } | undefined; // hits are grouped by file
  const find = async (path: string): Promise<ReadableFile | undefined> => {
    const found = await call.confinement.locate(path, call.context.workdir);
    if (found.kind === 'refused' || (found.isSecret && !place.isSecret)) return undefined;
    if (found.base === undefined && place.base !== undefined) return undefined;
    const lines = await readWhole(found);
    return lines && { shown: found.shown, lines };
  };
  return async (hit) => {
    if (latest?.path !== hit.path) latest = { path: hit.path, file: await find(hit.path) };
    const { file } = latest;
    const text = file?.lines[hit.line - 1];
    return file && text !== undefined && isSameLine(text, hit.text)
      ? `${file.shown}:${hit.line}: ${cut(text)}`
      : undefined;
  };
}

interface ReadableFile {
  shown: string;
  lines: readonly string[];
}

const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Undefined for a file that cannot be read any more, or that may no longer be searched. */
async function readWhole(place: AllowedPlace): Promise<string[] | undefined> {
  const file = await openConfined(place).catch((error: unknown) => {
    if (error instanceof ToolProblem) return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    return file.stats.size > MAX_FILE_BYTES ? undefined : decode(await file.handle.readFile()).split(/\r?\n/);
  } finally {
    await file.handle.close();
  }
}

/** ripgrep also reads UTF-16, by its byte order mark. */
function decode(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder().decode(bytes);
}

/** What ripgrep appends to a cut line: `[... 2 more matches]`. */
const OMISSION = ' [... ';

function isSameLine(text: string, hit: string): boolean {
  const [own, found] = [toComparable(text), toComparable(hit)];
  if (own === found) return true;
  const end = found.lastIndexOf(OMISSION);
  return end >= 0 && own.startsWith(found.slice(0, end).replace(/\uFFFD$/, '')); // a character may have been cut
}

/** Normalises a line: readers differ in what ends a line, and in how they show invalid UTF-8. */
function toComparable(text: string): string {
  const [first = ''] = text.replace(/^\uFEFF/, '').split(/[\r\u2028\u2029]/, 1);
  return first.slice(0, 1_000).replace(/\uFFFD+/g, '\uFFFD');
}

const MAX_TEXT = 500;
const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} [line cut]` : text);

function toOutcome(lines: string[]): ToolOutcome {
  return { output: lines.join('\n') || '[no matches]', outcome: 'done' };
}
