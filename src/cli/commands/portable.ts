import type { Surroundings } from '../../home/home-path.ts';
import { resolveFolder } from '../../home/home-path.ts';
import { randomIds } from '../../ids.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import {
  createConversationFiles,
  type ExportFormat,
  readConversation,
  toImportLines,
  writeNewFile,
} from '../conversation-files.ts';
import { locateWorkstream } from '../find-workstream.ts';
import type { NewWorkstreamFlags } from '../new-workstream.ts';
import { toSafeJsonText, toSafeText } from '../terminal/safe-text.ts';

interface Run<F> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export type ExportFlags = TargetFlags & { markdown?: boolean; output?: string };
export type ImportFlags = TargetFlags &
  Omit<NewWorkstreamFlags, 'ws' | 'machineLabel'> & { name?: string; json?: boolean };

/** Prints a conversation, or writes it to a new file. */
export async function exportConversation(name: string, { flags, around, root }: Run<ExportFlags>): Promise<void> {
  const target = await resolveTarget(flags, around);
  const caller = { target, version: await readVersion(root) };
  const wsId = await withClient(caller, (client) => locateWorkstream(client, name));
  const format: ExportFormat = flags.markdown ? 'markdown' : 'json';
  const bytes = await createConversationFiles(target).download(wsId, format);
  if (flags.output !== undefined) await writeNewFile(flags.output, bytes, around);
  else process.stdout.write(process.stdout.isTTY ? toTerminal(bytes, format) : bytes);
}

/** A conversation has what tools and models have written, which must not control the terminal. */
function toTerminal(bytes: Uint8Array, format: ExportFormat): string {
  const text = new TextDecoder().decode(bytes);
  return format === 'json' ? toSafeJsonText(text) : toSafeText(text);
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
  const [line, ...warnings] = toImportLines(made);
  process.stdout.write(flags.json ? `${JSON.stringify(made, null, 2)}\n` : `${line}\n`);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
}
