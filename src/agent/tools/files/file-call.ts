import { StopReason } from '../../stop-reason.ts';
import { outcomeOf, toStopLine } from '../stop-line.ts';
import type { Prepared, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { checkUnmoved } from './confined-file.ts';
import type { AllowedPlace, Confinement } from './confinement.ts';

/** One call of a file tool: its name, the path as the model wrote it, and where it is made. */
export interface FileCall {
  tool: string;
  path: string;
  context: ToolContext;
  confinement: Confinement;
}

/** Finds the place and lets `prepare` go on there; what cannot be reached, or what it finds wrong, is a refusal. */
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

/** Does the work if the path still leads to the same place; a problem with the file becomes an outcome the model reads. */
export async function executeAt(
  call: FileCall,
  place: AllowedPlace,
  { run, work }: { run: ToolRun; work(): Promise<ToolOutcome> },
): Promise<ToolOutcome> {
  try {
    run.signal.throwIfAborted();
    await checkUnmoved(place, { path: call.path, workdir: call.context.workdir, confinement: call.confinement });
    return await work();
  } catch (error) {
    if (error instanceof ToolProblem) return { output: error.message, outcome: 'failed' };
    if (error instanceof StopReason) return { output: toStopLine(error, 0), outcome: outcomeOf(error) };
    throw error;
  }
}

function refuse(call: Pick<FileCall, 'tool' | 'path'>, reason: string): Prepared {
  return { kind: 'refused', header: `${call.tool}: ${call.path}`, reason };
}

/** What a person should know about a place before anything else; each a line at the head of a preview. */
export function toWarnings(place: AllowedPlace): string {
  const outside = place.isOutside ? `(outside the working directory: ${place.path})\n` : '';
  if (place.isHardLink) return `${outside}(this file is a hard link: it may be a secret under another name)\n`;
  return place.isSecret ? `${outside}(this file looks like it holds a secret)\n` : outside;
}

/** Reading asks only outside the workstream's folders and for files that look like secrets. */
export function asksToRead(place: AllowedPlace): boolean {
  return place.base === undefined || place.isSecret;
}
