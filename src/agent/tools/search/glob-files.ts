import { lstat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Clock } from '../../../clock.ts';
import { withDeadline } from '../../process/deadline.ts';
import { StopReason } from '../../stop-reason.ts';
import type { AllowedPlace, Confinement } from '../files/confinement.ts';
import { executeAt, type FileCall, prepareAt, toFileEffect, toWarnings } from '../files/file-call.ts';
import { outcomeOf, toStopLine } from '../stop-line.ts';
import type { Tool, ToolOutcome, ToolRun } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { expandBraces } from './expand-braces.ts';
import { type FoundName, MAX_NAMES } from './find-names.ts';
import { findWithWorker } from './search-walk.ts';

const GlobArguments = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(500)
    .describe(
      'A pattern for the path below the folder, such as src/**/*.{ts,tsx}; without a slash, it matches names in all folders: *.ts',
    ),
  path: z.string().max(4_096).default('.').describe('The folder, relative to the working directory or absolute'),
});
type GlobArguments = z.infer<typeof GlobArguments>;

interface GlobDependencies {
  confinement: Confinement;
  clock: Clock;
  /** Where search-worker lies in this build. */
  workerUrl: URL;
}

/** Finds files by a pattern, the newest first, because those are most likely the ones that the work is about. */
export function createGlobTool(dependencies: GlobDependencies): Tool<GlobArguments> {
  const { confinement } = dependencies;
  return {
    name: 'glob',
    description: [
      'Finds files by a pattern for their paths and lists up to 200, the most recently changed first.',
      'Skips files that .gitignore ignores, and does not follow links.',
    ].join(' '),
    parameters: GlobArguments,
    readOnly: true,
    safeToRepeat: true,
    async prepare(args, context) {
      const call = { tool: 'glob', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        if (!place.exists) throw new ToolProblem(`${place.shown}: no such folder.`);
        if (!(await lstat(place.path)).isDirectory()) throw new ToolProblem(`${place.shown} is not a folder.`);
        const patterns = toPatterns(args.pattern, place);
        return {
          kind: 'ready',
          subject: `${args.pattern}${place.shown === '.' ? '' : ` in ${place.shown}`}`,
          preview: toWarnings(place),
          approvalLabel: 'glob',
          needsApproval: place.base === undefined,
          reading: toFileEffect('list', place),
          bindTo: place.path,
          execute: (run) =>
            executeAt(call, place, { run, work: () => find({ call, place, patterns, dependencies }, run) }),
        };
      });
    },
  };
}

function toPatterns(pattern: string, { path }: AllowedPlace): string[] {
  const below = pattern.startsWith(`${path}/`) ? pattern.slice(path.length + 1) : pattern.replace(/^(\.\/)+/, '');
  if (below.split('/').includes('..'))
    throw new ToolProblem('The pattern must not contain ".."; give another folder as path.');
  const patterns = expandBraces(below);
  if (!patterns) throw new ToolProblem('The braces of the pattern stand for too many patterns.');
  // These characters would negate the pattern, or make it a comment.
  return patterns.map((each) => each.replace(/^[!#]/, '\\$&'));
}

const MAX_SHOWN = 200;
const DEADLINE_MS = 10_000;

interface Find {
  call: FileCall;
  place: AllowedPlace;
  patterns: readonly string[];
  dependencies: GlobDependencies;
}

async function find(it: Find, run: ToolRun): Promise<ToolOutcome> {
  const { path, base } = it.place;
  const [root, named] = base ? [base.way, base.path] : [path, path];
  const request = { target: join(root, relative(named, path)), root, patterns: it.patterns };
  using deadline = withDeadline(run.signal, { clock: it.dependencies.clock, ms: DEADLINE_MS });
  const names: FoundName[] = [];
  let stopped: StopReason | undefined;
  try {
    for await (const found of findWithWorker(it.dependencies.workerUrl, request, deadline.signal)) names.push(...found);
  } catch (error) {
    if (!(error instanceof StopReason)) throw error;
    stopped = error;
  }
  const lines = await toLines(it, { names, root, named }, run.maxOutputBytes);
  if (stopped) lines.push(toStopLine(stopped, DEADLINE_MS / 1_000));
  return { output: lines.join('\n') || '[no files]', outcome: stopped ? outcomeOf(stopped) : 'done' };
}

async function toLines(
  { call, place }: Find,
  { names, root, named }: { names: FoundName[]; root: string; named: string },
  maxBytes: number,
): Promise<string[]> {
  names.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1));
  const lines: string[] = [];
  let bytes = 0;
  for (const { path } of names) {
    // A folder may have been replaced by a link while it was walked.
    const found = await call.confinement.locate(join(named, relative(root, path)), call.context.workdir);
    if (found.kind === 'refused' || (found.base === undefined && place.base !== undefined)) continue;
    const line = toVisibleLine(found.shown);
    bytes += Buffer.byteLength(line) + 1;
    if (lines.length === MAX_SHOWN || (bytes > maxBytes && lines.length > 0)) {
      const total = names.length === MAX_NAMES ? `at least ${MAX_NAMES}` : `${names.length}`;
      return [...lines, `[${lines.length} of ${total} files; a narrower pattern shows others]`];
    }
    lines.push(line);
  }
  return lines;
}
