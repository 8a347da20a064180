import { z } from 'zod';
import { findTag } from '../guard/tags.ts';
import { type FileVersion, readVersion } from './files/confined-file.ts';
import type { AllowedPlace, Confinement } from './files/confinement.ts';
import { prepareAt } from './files/file-call.ts';
import { findSeenVersion } from './files/read-history.ts';
import type { Tool, ToolContext } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';
import { prepareReplacement } from './write-file.ts';

const EditFileArguments = z.strictObject({
  path: z.string().max(4_096).describe('Path of the file, relative to the working directory or absolute'),
  old_string: z.string().min(1).describe('The text to replace, exactly as in the file, without line numbers'),
  new_string: z.string().max(1_000_000).describe('The replacement text'),
  replace_all: z.boolean().default(false).describe('Replace all occurrences instead of exactly one'),
});
type EditFileArguments = z.infer<typeof EditFileArguments>;

/** Replaces text in a file that the model has read, after showing the diff. */
export function createEditFileTool({ confinement }: { confinement: Confinement }): Tool<EditFileArguments> {
  return {
    name: 'edit_file',
    description: [
      'Replaces text in a file that was read before. The text must occur exactly once; include enough of its',
      'surroundings, or set replace_all.',
    ].join(' '),
    parameters: EditFileArguments,
    readOnly: false,
    safeToRepeat: false,
    // If the file itself has a tag, it may be moved and changed.
    newText: ({ old_string, new_string }) => (findTag(old_string) === undefined ? new_string : ''),
    async prepare(args, context) {
      const call = { tool: 'edit_file', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        const old = await readVersion(place);
        if (!old) throw new ToolProblem(`${place.shown}: no such file; write_file creates one.`);
        checkSeen(place, { old, context });
        return prepareReplacement(call, {
          place,
          old,
          text: applyEdit(old.text, args, place.shown),
          label: 'edit_file',
        });
      });
    },
  };
}

function checkSeen(place: AllowedPlace, { old, context }: { old: FileVersion; context: ToolContext }): void {
  const seen = findSeenVersion(context.history, place.path);
  if (seen === undefined) throw new ToolProblem(`${place.shown} has not been read yet; read it before editing.`);
  if (seen !== old.sha256) throw new ToolProblem(`${place.shown} has changed since it was read; read it again.`);
}

function applyEdit(text: string, args: EditFileArguments, shown: string): string {
  const { oldText, newText } = toLineEndsOf(text, args);
  if (oldText === newText) throw new ToolProblem('old_string and new_string are the same.');
  const starts = findAll(text, oldText);
  if (starts.length === 0) throw new ToolProblem(`old_string was not found in ${shown}; it must match exactly.`);
  if (starts.length > 1 && !args.replace_all) {
    const lines = starts.slice(0, 20).map((start) => text.slice(0, start).split('\n').length);
    const more = starts.length > lines.length ? ', …' : '';
    throw new ToolProblem(
      `old_string was found ${starts.length} times in ${shown} (lines ${lines.join(', ')}${more}); include more of its surroundings.`,
    );
  }
  return text.split(oldText).join(newText);
}

/** read_file shows lines without their line endings, so a model writes \n even for a file with \r\n. */
function toLineEndsOf(text: string, args: EditFileArguments): { oldText: string; newText: string } {
  const isMeantOtherwise = !text.includes(args.old_string) && text.includes('\r\n');
  const convert = (piece: string) => (isMeantOtherwise ? piece.replace(/\r?\n/g, '\r\n') : piece);
  return { oldText: convert(args.old_string), newText: convert(args.new_string) };
}

function findAll(text: string, piece: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) starts.push(at);
  return starts;
}
