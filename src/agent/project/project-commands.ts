import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { patientLooks } from '../tools/files/file-looks.ts';
import { type InstructionFolders, trustOf } from './instructions.ts';
import { findProjectFolders } from './project-folders.ts';

/** A message that the project's people keep in a file; `/name` sends it. */
export interface ProjectCommand {
  name: string;
  /** Its argument, as its author describes it. */
  argument?: string;
  summary: string;
  /** The message, with places for arguments. */
  text: string;
}

/** Finds the commands of the trusted folders of a project. */
export interface ProjectCommands {
  /** By name; the nearest folder wins. `agreed`: folders that people trust in the conversation, too. */
  list(workdir: string, agreed: readonly string[]): Promise<ProjectCommand[]>;
}

const FOLDER = path.join('.headgate', 'commands');
const MAX_BYTES = 64 * 1024;
/** Per folder. */
const MAX_COMMANDS = 100;

export const createProjectCommands = (folders: InstructionFolders): ProjectCommands => ({
  async list(workdir, agreed) {
    const [project, isTrusted] = await Promise.all([
      findProjectFolders(workdir, patientLooks),
      trustOf(folders, agreed),
    ]);
    const found = await Promise.all(
      project.folders.filter(isTrusted).map((folder) => readCommands(path.join(folder, FOLDER))),
    );
    const byName = new Map(
      found.toReversed().flatMap((commands) => commands.map((each) => [each.name, each] as const)),
    );
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  },
});

async function readCommands(folder: string): Promise<ProjectCommand[]> {
  const entries = await readdir(folder).catch(() => []); // most projects have none
  const names = entries.flatMap((entry) => /^([a-z][a-z0-9_-]{0,31})\.md$/.exec(entry)?.[1] ?? []);
  const commands = await Promise.all(
    names.slice(0, MAX_COMMANDS).map(async (name) => {
      const start = await patientLooks.readStart(path.join(folder, `${name}.md`), MAX_BYTES + 1);
      return start && start.size <= MAX_BYTES ? toCommand(name, start.bytes.toString('utf8')) : [];
    }),
  );
  return commands.flat();
}

/** A file may begin with `---` lines around a `description` and an `argument-hint`. */
function toCommand(name: string, file: string): ProjectCommand[] {
  const [, head = '', body = file] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(file) ?? [];
  const text = body.trim();
  if (text === '') return [];
  const field = (key: string) =>
    new RegExp(`^${key}:[ \\t]*(.+)$`, 'm')
      .exec(head)?.[1]
      ?.trim()
      .replace(/^["']|["']$/g, '');
  const argument = field('argument-hint') ?? (/\$(ARGUMENTS|[1-9])/.test(text) ? '[ARGUMENTS]' : undefined);
  const summary = field('description') ?? text.replace(/^#+\s*/, '').split('\n', 1)[0] ?? '';
  return [{ name, ...(argument !== undefined && { argument: short(argument) }), summary: short(summary), text }];
}

function short(text: string): string {
  const line = toVisibleLine(text);
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}

/**
 * The message of a command with its arguments: all of them for `$ARGUMENTS`, single ones for `$1` to `$9`. Without a place
 * for them, they follow the text.
 */
export function fillIn({ text }: Pick<ProjectCommand, 'text'>, given: string): string {
  const words = [...given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  let isUsed = false;
  const filled = text.replace(/\$(ARGUMENTS|[1-9])(?![0-9A-Za-z_])/g, (_, place: string) => {
    isUsed = true;
    return place === 'ARGUMENTS' ? given : (words[Number(place) - 1] ?? '');
  });
  return isUsed || given === '' ? filled : `${filled}\n\n${given}`;
}
