import { z } from 'zod';
import { findTag } from '../guard/tags.ts';
import { applyEdits, type Edit } from './edits/apply-edits.ts';
import { readVersion } from './files/confined-file.ts';
import type { Confinement } from './files/confinement.ts';
import { prepareAt } from './files/file-call.ts';
import { checkSeen } from './files/read-history.ts';
import type { Tool } from './tool.ts';
import { ToolProblem } from './tool-problem.ts';
import { prepareReplacement } from './write-file.ts';

const OldString = z.string().min(1).describe('The text to replace, exactly as in the file, without line numbers');
const NewString = z.string().max(1_000_000).describe('The replacement text');
const ReplaceAll = z.boolean().default(false).describe('Replace all occurrences instead of exactly one');

const MOST_EDITS = 100;

/** Models that began a conversation before `edits` existed give a single edit, without a list. */
const EditFileArguments = z
  .strictObject({
    path: z.string().max(4_096).describe('Path of the file, relative to the working directory or absolute'),
    edits: z
      .array(z.strictObject({ old_string: OldString, new_string: NewString, replace_all: ReplaceAll }))
      .min(1)
      .max(MOST_EDITS)
      .optional()
      .describe('Several replacements at once, instead of old_string and new_string; all of them are made, or none'),
    old_string: OldString.optional(),
    new_string: NewString.optional(),
    replace_all: ReplaceAll,
  })
  .refine(
    ({ edits, old_string, new_string }) =>
      edits === undefined
        ? old_string !== undefined && new_string !== undefined
        : old_string === undefined && new_string === undefined,
    'give either old_string and new_string, or edits',
  );
type EditFileArguments = z.infer<typeof EditFileArguments>;

/** Replaces texts in a file that the model has read, after showing the diff. */
export function createEditFileTool({ confinement }: { confinement: Confinement }): Tool<EditFileArguments> {
  return {
    name: 'edit_file',
    description: [
      'Replaces text in a file that was read before. The text must occur exactly once; include enough of its',
      'surroundings, or set replace_all. For several changes of one file, give edits: each is matched against the file as',
      'it is now, they must not overlap, and if one fails, none is made.',
    ].join(' '),
    parameters: EditFileArguments,
    readOnly: false,
    safeToRepeat: false,
    // If the file itself has a tag, it may be moved and changed.
    newText: (args) =>
      editsOf(args)
        .flatMap(({ old_string, new_string }) => (findTag(old_string) === undefined ? [new_string] : []))
        .join('\n'),
    async prepare(args, context) {
      const call = { tool: 'edit_file', path: args.path, context, confinement };
      return prepareAt(call, async (place) => {
        const old = await readVersion(place);
        if (!old) throw new ToolProblem(`${place.shown}: no such file; write_file creates one.`);
        checkSeen(place, { old, history: context.history, before: 'editing' });
        const apply = (text: string) => applyEdits(text, editsOf(args), place.shown);
        return prepareReplacement(call, { place, old, text: apply(old.text), label: 'edit_file', again: apply });
      });
    },
  };
}

const editsOf = ({ edits, old_string = '', new_string = '', replace_all }: EditFileArguments): readonly Edit[] =>
  edits ?? [{ old_string, new_string, replace_all }];
