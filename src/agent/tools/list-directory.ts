import type { Dirent } from 'node:fs';
import { lstat, opendir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { openConfinedFolder } from './files/confined-file.ts';
import type { AllowedPlace, Confinement } from './files/confinement.ts';
import { executeAt, prepareAt, toFileEffect, toWarnings } from './files/file-call.ts';
import type { Tool, ToolOutcome } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';

const ListDirectoryArguments = z.strictObject({
  path: z.string().max(4_096).default('.').describe('The folder, relative to the working directory or absolute'),
});
type ListDirectoryArguments = z.infer<typeof ListDirectoryArguments>;

/** Lists the names and sizes of the entries of a folder. */
export function createListDirectoryTool({ confinement }: { confinement: Confinement }): Tool<ListDirectoryArguments> {
  return {
    name: 'list_directory',
    description:
      'Lists a folder: folders first (with a slash at the end), then files with their sizes; at most 500 entries.',
    parameters: ListDirectoryArguments,
    readOnly: true,
    safeToRepeat: true,
    async prepare({ path }, context) {
      const call = { tool: 'list_directory', path, context, confinement };
      return prepareAt(call, async (place) => {
        if (!place.exists) throw new ToolProblem(`${place.shown}: no such folder.`);
        if (!(await lstat(place.path)).isDirectory()) throw new ToolProblem(`${place.shown} is not a folder.`);
        return {
          kind: 'ready',
          subject: place.shown,
          preview: toWarnings(place),
          approvalLabel: 'list_directory',
          needsApproval: place.base === undefined,
          reading: toFileEffect('list', place),
          bindTo: place.path,
          execute: (run) => executeAt(call, place, { run, work: () => list(place, run.maxOutputBytes) }),
        };
      });
    },
  };
}

const MAX_SHOWN = 500;
/** Sorting needs all names in memory. Larger folders are cut off here. */
const MAX_READ = 20_000;

async function list(place: AllowedPlace, maxBytes: number): Promise<ToolOutcome> {
  const folder = await openConfinedFolder(place, { make: false });
  try {
    return await listAt(folder.way, maxBytes);
  } finally {
    await folder.handle.close();
  }
}

async function listAt(path: string, maxBytes: number): Promise<ToolOutcome> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(path)) {
    entries.push(entry);
    if (entries.length === MAX_READ) break;
  }
  entries.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1));
  const lines = firstWithin(
    await Promise.all(entries.slice(0, MAX_SHOWN).map((entry) => toLine(path, entry))),
    maxBytes,
  );
  const total = entries.length === MAX_READ ? `at least ${MAX_READ}` : `${entries.length}`;
  if (entries.length > lines.length) lines.push(`[${lines.length} of ${total} entries]`);
  return { output: lines.join('\n') || '[the folder is empty]', outcome: 'done' };
}

function firstWithin(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const beyond = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return lines.slice(0, beyond < 0 ? undefined : Math.max(1, beyond));
}

async function toLine(folder: string, entry: Dirent): Promise<string> {
  const name = toVisibleLine(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  const path = join(folder, entry.name);
  if (entry.isSymbolicLink()) return `${name} -> ${toVisibleLine(await readlink(path).catch(() => '?'))}`;
  const stats = await lstat(path).catch(() => undefined); // removed meanwhile
  return stats ? `${name}  ${stats.size} bytes` : name;
}
