import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { withDeadline } from '../process/deadline.ts';
import { StopReason } from '../stop-reason.ts';
import type { AllowedPlace, Confinement } from './confinement.ts';
import { asksToRead, executeAt, type FileCall, prepareAt, toWarnings } from './file-call.ts';
import type { SearchHit } from './search-files.ts';
import { searchWithRipgrep } from './search-ripgrep.ts';
import { searchWithWorker } from './search-walk.ts';
import { toStopLine } from './stop-line.ts';
import type { Tool, ToolContext, ToolOutcome, ToolRun } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';

const SearchArguments = z.strictObject({
  query: z.string().min(1).max(1_000).describe('A regular expression; it is matched line by line'),
  path: z
    .string()
    .max(4_096)
    .default('.')
    .describe('Folder or file to search, relative to the working directory or absolute'),
  glob: z.string().min(1).max(200).optional().describe('Only files that match, such as *.ts or src/**'),
});
type SearchArguments = z.infer<typeof SearchArguments>;

interface SearchDependencies {
  confinement: Confinement;
  clock: Clock;
  /** What `findRipgrep` found; without it we walk ourselves, which is slower. */
  ripgrep: string | undefined;
  /** Where search-worker lies in this build. */
  workerUrl: URL;
}

/** Finds lines in files; ignores what .gitignore ignores and never shows what looks like a secret. */
export function createSearchTool(dependencies: SearchDependencies): Tool<SearchArguments> {
  const { confinement } = dependencies;
  return {
    name: 'search',
    description: [
      'Searches files for a regular expression and shows up to 200 matching lines as path:line: text.',
      'Skips what .gitignore names, binary files and files that look like secrets.',
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
          header: `search: ${args.query}${place.shown === '.' ? '' : ` in ${place.shown}`}`,
          preview: toWarnings(place),
          approvalLabel: 'search',
          needsApproval: asksToRead(place),
          bindTo: place.path,
          execute: (run) =>
            executeAt(call, place, { run, work: () => search({ args, call, place, dependencies }, run) }),
        };
      });
    },
  };
}

const MAX_MATCHES = 200;
/** A backtracking expression is stuck long before; ripgrep's cannot be, it may only have much to read. */
const DEADLINE_MS = { walk: 5_000, ripgrep: 20_000 };

interface Search {
  args: SearchArguments;
  call: FileCall;
  place: AllowedPlace;
  dependencies: SearchDependencies;
}

async function search(it: Search, run: ToolRun): Promise<ToolOutcome> {
  const { clock, ripgrep } = it.dependencies;
  const deadlineMs = ripgrep ? DEADLINE_MS.ripgrep : DEADLINE_MS.walk;
  using deadline = withDeadline(run.signal, { clock, ms: deadlineMs });
  const lines: string[] = [];
  const toLine = createLineMaker(it);
  try {
    for await (const hit of findHits(it, deadline.signal)) {
      const line = await toLine(hit);
      if (line === undefined) continue;
      if (lines.length === MAX_MATCHES)
        return toOutcome([...lines, `[more than ${MAX_MATCHES} matches; the rest is left out]`]);
      lines.push(line);
    }
  } catch (error) {
    if (!(error instanceof StopReason)) throw error;
    return { ...toOutcome([...lines, toStopLine(error, deadlineMs / 1_000)]), isError: true };
  }
  return toOutcome(lines);
}

function findHits({ args, place, call, dependencies }: Search, signal: AbortSignal): AsyncIterable<SearchHit> {
  const request = {
    target: place.path,
    query: args.query,
    glob: args.glob,
    root: place.isOutside ? place.path : call.context.workdir,
    showSecrets: place.isSecret,
  };
  return dependencies.ripgrep
    ? searchWithRipgrep(dependencies.ripgrep, request, signal)
    : searchWithWorker(dependencies.workerUrl, request, signal);
}

/** A file that may not be read without asking may not be read by searching either, unless that was what was asked. */
function createLineMaker({ place, call }: Search): (hit: SearchHit) => Promise<string | undefined> {
  const shownByPath = new Map<string, string | undefined>();
  const find = async (path: string, context: ToolContext) => {
    const found = await call.confinement.locate(path, context.workdir);
    if (found.kind === 'refused' || (found.isSecret && !place.isSecret)) return undefined;
    return found.isOutside && !place.isOutside ? undefined : found.shown;
  };
  return async ({ path, line, text }) => {
    if (!shownByPath.has(path)) shownByPath.set(path, await find(path, call.context));
    const shown = shownByPath.get(path);
    return shown === undefined ? undefined : `${shown}:${line}: ${cut(text)}`;
  };
}

const MAX_TEXT = 500;
const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} [line cut]` : text);

function toOutcome(lines: string[]): ToolOutcome {
  return { output: lines.join('\n') || '[no matches]', isError: false };
}
