import { z } from 'zod';
import { openConfined } from './files/confined-file.ts';
import type { AllowedPlace, Confinement } from './files/confinement.ts';
import { asksToRead, executeAt, prepareAt, toFileEffect, toWarnings } from './files/file-call.ts';
import { readLines } from './files/read-lines.ts';
import type { Tool, ToolOutcome, ToolRun } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';

const ReadFileArguments = z.strictObject({
  path: z.string().max(4_096).describe('Path of the file, relative to the working directory or absolute'),
  offset: z.int().min(1).default(1).describe('The first line to show; lines count from 1'),
  limit: z.int().min(1).max(2_000).default(2_000).describe('Maximum number of lines to show'),
});
type ReadFileArguments = z.infer<typeof ReadFileArguments>;

/** Shows a text file with line numbers, and records which version the model has seen. */
export function createReadFileTool({ confinement }: { confinement: Confinement }): Tool<ReadFileArguments> {
  return {
    name: 'read_file',
    description: [
      'Shows a text file with line numbers, at most 2000 lines or 64 KiB at once, less in a small context window; offset and limit show other parts.',
      'A file must have been read before edit_file can change it.',
    ].join(' '),
    parameters: ReadFileArguments,
    readOnly: true,
    safeToRepeat: true,
    async prepare(args, context) {
      const call = { tool: 'read_file', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        if (!place.exists) throw new ToolProblem(`${place.shown}: no such file.`);
        return {
          kind: 'ready',
          subject: place.shown,
          preview: toWarnings(place),
          approvalLabel: 'read_file',
          needsApproval: asksToRead(place),
          reading: toFileEffect('read', place),
          bindTo: place.path,
          execute: (run) => executeAt(call, place, { run, work: () => show(place, args, run) }),
        };
      });
    },
  };
}

const MAX_READ_BYTES = 64 * 1024 * 1024;

async function show(
  place: AllowedPlace,
  { offset, limit }: ReadFileArguments,
  { signal, maxOutputBytes: maxBytes }: ToolRun,
): Promise<ToolOutcome> {
  const { handle, stats } = await openConfined(place);
  try {
    if (stats.size > MAX_READ_BYTES) {
      throw new ToolProblem(`${place.shown} is too large to read (${stats.size} bytes); search finds parts of it.`);
    }
    const read = await readLines(handle, { offset, limit, maxBytes, signal });
    if (read.kind === 'binary') throw new ToolProblem(`${place.shown} is a binary file (${stats.size} bytes).`);
    return { output: read.text, outcome: 'done', files: { [place.path]: read.sha256 } };
  } finally {
    await handle.close();
  }
}
