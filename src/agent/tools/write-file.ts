import { z } from 'zod';
import { type FileVersion, readVersion, toSha256 } from './files/confined-file.ts';
import type { AllowedPlace, Confinement } from './files/confinement.ts';
import { executeAt, type FileCall, prepareAt, toFileEffect, toWarnings } from './files/file-call.ts';
import { toDiff } from './files/file-diff.ts';
import { whileAlone } from './files/one-at-a-time.ts';
import { hasChangedItself, noteChange } from './files/own-changes.ts';
import { findSeenVersion } from './files/read-history.ts';
import { replaceFile } from './files/staged-file.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome } from './tool.ts';

const WriteFileArguments = z.strictObject({
  path: z.string().max(4_096).describe('Path of the file, relative to the working directory or absolute'),
  content: z.string().max(1_000_000).describe('The whole new content'),
});
type WriteFileArguments = z.infer<typeof WriteFileArguments>;

/** Writes a whole file, after showing the diff. */
export function createWriteFileTool({ confinement }: { confinement: Confinement }): Tool<WriteFileArguments> {
  return {
    name: 'write_file',
    description:
      'Creates a file, or replaces it completely; missing folders are created. To change a part of a file, use edit_file.',
    parameters: WriteFileArguments,
    readOnly: false,
    safeToRepeat: false,
    async prepare({ path, content }, context) {
      const call = { tool: 'write_file', path, context, confinement };
      return prepareAt(call, async (place) => {
        const old = await readVersion(place);
        const isUnread = old !== undefined && findSeenVersion(context.history, place.path) === undefined;
        return prepareReplacement(call, {
          place,
          old,
          text: content,
          label: isUnread ? 'overwrite_file' : 'write_file',
        });
      });
    },
  };
}

/** The new content and its place; `label` is the name in the approval prompt. */
interface Replacement {
  place: AllowedPlace;
  old: FileVersion | undefined;
  text: string;
  label: string;
  /** The new content if the file was changed meanwhile, by calls of the same conversation only; absent: nothing is written then. */
  again?(text: string): string;
}

/**
 * The last step of every tool that changes a file: shows the diff, binds the approval to this version, and replaces the
 * file.
 */
export function prepareReplacement(call: FileCall, replacement: Replacement): Prepared {
  const { place, old, text, label } = replacement;
  const diff = toDiff({ shown: place.shown, before: old?.text, after: text });
  return {
    kind: 'ready',
    subject: place.shown,
    preview: `${toWarnings(place)}${diff}`,
    previewType: 'diff',
    approvalLabel: label,
    needsApproval: true,
    reading: toFileEffect('write', place),
    // Includes the real path: a link created since would lead to another file, perhaps with the same content.
    bindTo: `${old?.sha256 ?? 'absent'} ${place.path}`,
    execute: (run) =>
      whileAlone([place.path], () => executeAt(call, place, { run, work: () => replace(replacement, call.context) })),
  };
}

async function replace(replacement: Replacement, { wsId }: Pick<ToolContext, 'wsId'>): Promise<ToolOutcome> {
  const { place, old } = replacement;
  const now = await readVersion(place);
  const text = now?.sha256 === old?.sha256 ? replacement.text : textAgain(replacement, { now, wsId });
  if (text === undefined) {
    return {
      output: `${place.shown} has changed since the call was prepared; nothing was written. Read it again.`,
      outcome: 'failed',
    };
  }
  const remark = await replaceFile(place, { text, old: now });
  if (now) noteChange(place.path, { wsId, from: now.sha256, to: toSha256(text) });
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return {
    output: [`${old ? 'Replaced' : 'Created'} ${place.shown} (${lines} ${lines === 1 ? 'line' : 'lines'}).`, remark]
      .filter((text) => text !== undefined)
      .join('\n'),
    outcome: 'done',
    files: { [place.path]: toSha256(text) },
  };
}

/** Undefined if somebody else has changed the file, or the call was meant for its whole content. */
function textAgain(
  { place, old, again }: Replacement,
  { now, wsId }: { now: FileVersion | undefined; wsId: string },
): string | undefined {
  if (!now || !old || !again) return undefined;
  return hasChangedItself(place.path, { wsId, from: old.sha256, to: now.sha256 }) ? again(now.text) : undefined;
}
