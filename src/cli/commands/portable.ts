import type { Surroundings } from '../../home/home-path.ts';
import { resolveFolder } from '../../home/home-path.ts';
import { randomIds } from '../../ids.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import {
  createConversationFiles,
  type ExportFormat,
  type ImportAnswer,
  readConversation,
  writeNewFile,
} from '../conversation-files.ts';
import { locateWorkstream } from '../find-workstream.ts';
import type { NewWorkstreamFlags } from '../new-workstream.ts';
import { toSafeText } from '../terminal/safe-text.ts';

interface Run<F> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export type ExportFlags = TargetFlags & { markdown?: boolean; output?: string };
export type ImportFlags = TargetFlags & Omit<NewWorkstreamFlags, 'ws'> & { name?: string; json?: boolean };

/** Prints a conversation, or writes it to a new file. */
export async function exportConversation(name: string, { flags, around, root }: Run<ExportFlags>): Promise<void> {
  const target = await resolveTarget(flags, around);
  const caller = { target, version: await readVersion(root) };
  const wsId = await withClient(caller, (client) => locateWorkstream(client, name));
  const format: ExportFormat = flags.markdown ? 'markdown' : 'json';
  const bytes = await createConversationFiles(target).download(wsId, format);
  if (flags.output === undefined) process.stdout.write(bytes);
  else await writeNewFile(flags.output, bytes, around);
}

/** Makes a new workstream from an exported conversation. */
export async function importConversation(file: string, { flags, around }: Run<ImportFlags>): Promise<void> {
  const { name, model, workdir } = flags;
  const conversation = await readConversation(file, around);
  const target = await resolveTarget(flags, around);
  const request = {
    ...conversation,
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(workdir !== undefined && { workdir: resolveFolder(workdir, around) }),
  };
  const made = await createConversationFiles(target).upload(request, randomIds.id('key'));
  process.stdout.write(flags.json ? `${JSON.stringify(made, null, 2)}\n` : `${toLine(made)}\n`);
  for (const warning of toWarnings(made)) process.stderr.write(`${toSafeText(warning)}\n`);
}

const toLine = ({ ws_id, name, message_count: count }: ImportAnswer): string =>
  `Imported ${count === 1 ? '1 message' : `${count} messages`} as ${toSafeText(name)}. Continue with: headgate chat --ws ${ws_id}`;

const toWarnings = ({ unknown_model, missing_files = [] }: ImportAnswer): string[] => [
  ...(unknown_model === undefined ? [] : [`Unknown model "${unknown_model}": the default model is used.`]),
  ...(missing_files.length === 0 ? [] : [`Files without content: ${missing_files.join(', ')}`]),
];
