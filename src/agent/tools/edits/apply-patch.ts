import { z } from 'zod';
import { findTag } from '../../guard/tags.ts';
import { type FileVersion, readVersion } from '../files/confined-file.ts';
import type { AllowedPlace, Confinement } from '../files/confinement.ts';
import type { FileCall } from '../files/file-call.ts';
import { checkSeen } from '../files/read-history.ts';
import type { Prepared, Tool, ToolContext } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { applyHunks } from './apply-hunks.ts';
import { type FileChange, prepareChanges, toSubject } from './change-set.ts';
import { type FilePatch, parsePatch } from './parse-patch.ts';
import { whatIsLeft } from './what-is-left.ts';

const ApplyPatchArguments = z.strictObject({
  patch: z
    .string()
    .max(1_000_000)
    .describe(
      [
        'The patch, from "*** Begin Patch" to "*** End Patch". In between, each file begins with',
        '"*** Add File: PATH" (all lines begin with +), "*** Delete File: PATH" or "*** Update File: PATH", after which',
        '"*** Move to: PATH" may follow. An update has hunks: a line "@@" or "@@ LINE", where LINE is a line of the file',
        'above the change such as a function header; then context lines that begin with a space, removed ones with - and',
        'added ones with +. "*** End of File" after a hunk says that it is at the end of the file.',
      ].join(' '),
    ),
});
type ApplyPatchArguments = z.infer<typeof ApplyPatchArguments>;

/** Changes several files by a patch, all or none, after showing the diffs. */
export function createApplyPatchTool({ confinement }: { confinement: Confinement }): Tool<ApplyPatchArguments> {
  return {
    name: 'apply_patch',
    description: [
      'Adds, changes, moves and deletes files by one patch: all of it, or nothing if any part does not fit. Files that it',
      'changes, moves or deletes must have been read before. Give about three context lines around each change.',
    ].join(' '),
    parameters: ApplyPatchArguments,
    readOnly: false,
    safeToRepeat: false,
    newText: ({ patch }) => newTextIn(patch),
    async prepare({ patch }, context) {
      const call: PatchCall = { tool: 'apply_patch', context, confinement };
      let files: FilePatch[] = [];
      try {
        files = parsePatch(patch);
        return await prepareFiles(files, call);
      } catch (error) {
        if (!(error instanceof ToolProblem)) throw error;
        const reason = context.wasInterrupted && files.length > 0 ? await whatIsLeft(files, call) : error.message;
        return { kind: 'refused', subject: toSubject(files.map(({ path }) => path)), reason };
      }
    },
  };
}

/** If a removed line has a tag, the file itself has it, so it may be moved and changed, as with edit_file. */
function newTextIn(patch: string): string {
  const lines = patch.split('\n');
  const removed = lines.filter((line) => /^[- ]/.test(line)).join('\n');
  return findTag(removed) === undefined ? lines.filter((line) => line.startsWith('+')).join('\n') : '';
}

/** What a patch is applied with. */
export type PatchCall = Omit<FileCall, 'path'>;

async function prepareFiles(files: readonly FilePatch[], call: PatchCall): Promise<Prepared> {
  const problems: string[] = [];
  const changes: FileChange[] = [];
  const remarks: string[] = [];
  for (const file of files) {
    try {
      const made = await toChanges(file, call);
      changes.push(...made);
      const [from, to] = made;
      if (from && to) remarks.push(`(moves ${from.place.shown} to ${to.place.shown})`);
    } catch (error) {
      if (!(error instanceof ToolProblem)) throw error;
      problems.push(error.message);
    }
  }
  problems.push(...findRepeated(changes));
  if (problems.length > 0) throw new ToolProblem(['The patch was not applied.', ...problems].join('\n'));
  return prepareChanges(call, { changes, remarks });
}

function findRepeated(changes: readonly FileChange[]): string[] {
  const seen = new Set<string>();
  return changes.flatMap(({ place: { path, shown } }) => {
    if (seen.has(path)) return [`${shown}: the patch names it more than once; put all of its changes into one part.`];
    seen.add(path);
    return [];
  });
}

async function toChanges(file: FilePatch, call: PatchCall): Promise<FileChange[]> {
  const { place, old } = await look(file.path, call);
  const { history } = call.context;
  if (file.kind === 'add') {
    if (old) throw new ToolProblem(`${place.shown}: the file exists already; use "*** Update File".`);
    return [{ place, path: file.path, old, text: file.text }];
  }
  if (!old) throw new ToolProblem(`${place.shown}: no such file.`);
  if (file.kind === 'delete') {
    checkSeen(place, { old, history, before: 'deleting' });
    return [{ place, path: file.path, old, text: undefined }];
  }
  checkSeen(place, { old, history, before: file.hunks.length > 0 ? 'editing' : 'moving' });
  const patched = applyHunks(old.text, file.hunks);
  if (patched.kind === 'conflict')
    throw new ToolProblem(patched.problems.map((problem) => `${place.shown}: ${problem}`).join('\n'));
  const { text } = patched;
  if (file.moveTo === undefined) {
    if (text === old.text) throw new ToolProblem(`${place.shown}: the patch does not change it.`);
    return [{ place, path: file.path, old, text }];
  }
  return toMove({ place, path: file.path, old, text: undefined }, { to: file.moveTo, text, call });
}

async function toMove(
  from: FileChange,
  { to, text, call }: { to: string; text: string; call: PatchCall },
): Promise<FileChange[]> {
  const target = await look(to, call);
  if (target.old) throw new ToolProblem(`${target.place.shown}: the file exists already; nothing can be moved there.`);
  return [from, { place: target.place, path: to, old: undefined, text, like: from.old }];
}

async function look(
  path: string,
  { context, confinement }: { context: ToolContext; confinement: Confinement },
): Promise<{ place: AllowedPlace; old: FileVersion | undefined }> {
  const place = await confinement.locate(path, context.workdir);
  if (place.kind === 'refused') throw new ToolProblem(place.reason);
  return { place, old: await readVersion(place) };
}
