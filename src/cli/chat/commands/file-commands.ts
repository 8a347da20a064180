import { UsageError } from '../../../start-error.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import type { TalkCommand } from './talk-command.ts';

/** `/attach FILE`: attaches a file to the next message. */
export const attach: TalkCommand = async (argument, { talk }) => {
  const { filename, mime_type, size_bytes } = await talk.attach(toFileName('/attach', argument));
  talk.transcript.print([
    `+ ${toSafeText(filename)} (${mime_type}, ${size_bytes} bytes) is attached to the next message`,
  ]);
};

/** `/export FILE`: writes the conversation to a new file; to one that ends in `.md`, as Markdown. */
export const exportTo: TalkCommand = async (argument, { talk }) => {
  const name = toFileName('/export', argument);
  await talk.exportTo(name);
  talk.transcript.print([`The conversation was written to ${toSafeText(name)}`]);
};

/** `/import FILE`: makes a new workstream from an exported conversation. The chat stays in its own. */
export const importFrom: TalkCommand = async (argument, { talk }) => {
  const imported = await talk.importFrom(toFileName('/import', argument));
  const { toImportLines } = await import('../../conversation-files.ts'); // rarely used, and slow to load
  talk.transcript.print(toImportLines(imported));
};

/** Quotes around the name are removed. */
function toFileName(command: string, argument: string): string {
  const name = argument.replace(/^(["'])(.*)\1$/, '$2');
  if (name === '') throw new UsageError(`Usage: ${command} FILE`);
  return name;
}
