import type { CommandReading } from '../../permissions/command-reading.ts';
import { StopReason } from '../../stop-reason.ts';
import { outcomeOf, toStopLine } from '../stop-line.ts';
import type { Prepared, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { checkUnmoved } from './confined-file.ts';
import type { AllowedPlace, Confinement } from './confinement.ts';

/** One call of a file tool: the tool's name, the path as the model wrote it, and the working directory. */
export interface FileCall {
  tool: string;
  path: string;
  context: ToolContext;
  confinement: Confinement;
}

/**
 * Resolves the path and continues with `prepare`. An unreachable path, or a problem found by `prepare`, becomes a
 * refusal.
 */
export async function prepareAt(
  call: FileCall,
  prepare: (place: AllowedPlace) => Promise<Prepared>,
): Promise<Prepared> {
  const place = await call.confinement.locate(call.path, call.context.workdir);
  if (place.kind === 'refused') return refuse(call, place.reason);
  try {
    return await prepare(place);
  } catch (error) {
    if (error instanceof ToolProblem) return refuse(call, error.message);
    throw error;
  }
}

/** Executes if the path still leads to the same place. A problem with the file becomes an outcome for the model. */
export async function executeAt(
  call: FileCall,
  place: AllowedPlace,
  { run, work }: { run: ToolRun; work(): Promise<ToolOutcome> },
): Promise<ToolOutcome> {
  try {
    run.signal.throwIfAborted();
    await checkPlace({ call, path: call.path, place });
    return await work();
  } catch (error) {
    if (error instanceof ToolProblem) return { output: error.message, outcome: 'failed' };
    if (error instanceof StopReason) return { output: toStopLine(error, 0), outcome: outcomeOf(error) };
    throw error;
  }
}

/** Throws if the path leads elsewhere than when the call was prepared. */
export const checkPlace = (it: { call: Omit<FileCall, 'path'>; path: string; place: AllowedPlace }): Promise<void> =>
  checkUnmoved(it.place, { path: it.path, workdir: it.call.context.workdir, confinement: it.call.confinement });

function refuse(call: Pick<FileCall, 'tool' | 'path'>, reason: string): Prepared {
  return { kind: 'refused', subject: call.path, reason };
}

/** The effect of a tool that reads or writes one file or folder, or lists a folder: names are no content. */
export const toFileEffect = (kind: 'read' | 'write' | 'list', { shown, path }: AllowedPlace): CommandReading => ({
  commands: [],
  effects: [
    kind === 'list'
      ? { kind: 'read', target: shown, path, certain: true, isListing: true }
      : { kind, target: shown, path, certain: true },
  ],
  gaps: [],
});

/** Warnings about a place, one per line, for the top of a preview. */
export function toWarnings(place: AllowedPlace): string {
  const outside = place.isOutside ? `(outside the working directory: ${place.path})\n` : '';
  if (place.isHardLink) return `${outside}(this file is a hard link: it may be a secret under another name)\n`;
  return place.isSecret ? `${outside}(this file looks like it holds a secret)\n` : outside;
}

/** Reading needs approval only outside the workstream's folders and for files that look like secrets. */
export function asksToRead(place: AllowedPlace): boolean {
  return place.base === undefined || place.isSecret;
}
