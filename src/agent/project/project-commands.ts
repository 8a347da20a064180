import path from 'node:path';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { createLooks, type FileLooks } from '../tools/files/file-looks.ts';
import { type InstructionFolders, trustOf } from './instructions.ts';
import { findProjectFolders } from './project-folders.ts';
import { COMMAND_FOLDER } from './project-places.ts';

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
  /** What is not among them, with the reason. */
  others(workdir: string, agreed: readonly string[]): Promise<OtherFiles>;
}

/** Files in folders for commands that are no commands. */
export interface OtherFiles {
  /** Commands of folders that nobody trusts. */
  waiting: { name: string; folder: string }[];
  /** Of trusted folders; at most ten. */
  odd: OddFile[];
}

/** A file in a folder for commands that is no command. */
export interface OddFile {
  file: string;
  /** `too_many`: the folder has more commands than are read. `unreadable`: a link, or no permission. */
  why: 'name' | 'empty' | 'too_long' | 'too_many' | 'unreadable';
}

export const COMMAND_LIMITS = {
  bytes: 64 * 1024,
  /** Per folder. */
  commands: 100,
};

export const createProjectCommands = (folders: InstructionFolders): ProjectCommands => {
  const places = createLooks();
  const find = async (workdir: string, agreed: readonly string[]) => {
    const looks = await places.at(workdir);
    const project = await findProjectFolders(workdir, looks);
    const all = await Promise.all(project.folders.map((folder) => listFiles(folder, looks)));
    const used = all.filter(({ files }) => files.length > 0); // most projects have none
    const isTrusted = used.length > 0 ? await trustOf(folders, agreed) : () => false;
    return { used, isTrusted, looks };
  };
  return {
    async list(workdir, agreed) {
      const { used, isTrusted, looks } = await find(workdir, agreed);
      const trusted = used.filter(({ folder }) => isTrusted(folder));
      const found = await Promise.all(trusted.map((files) => readCommands(files, looks)));
      const byName = new Map(
        found.toReversed().flatMap(({ commands }) => commands.map((each) => [each.name, each] as const)),
      );
      return [...byName.values()].sort((a, b) => inOrder(a.name, b.name));
    },
    async others(workdir, agreed) {
      const { used, isTrusted, looks } = await find(workdir, agreed);
      const untrusted = used.filter(({ folder }) => !isTrusted(folder));
      const waiting = untrusted.flatMap(({ folder, files }) =>
        files.flatMap((file) => toName(file) ?? []).map((name) => ({ name, folder })),
      );
      const trusted = used.filter(({ folder }) => isTrusted(folder));
      const odd = (await Promise.all(trusted.map((files) => readCommands(files, looks)))).flatMap((found) => found.odd);
      return { waiting, odd: odd.slice(0, MOST_ODD) };
    },
  };
};

const MOST_ODD = 10;

interface CommandFiles {
  /** Of the project. */
  folder: string;
  /** Names of Markdown files in its folder for commands. */
  files: string[];
}

const listFiles = async (folder: string, looks: FileLooks): Promise<CommandFiles> => {
  const names = await looks.namesIn(path.join(folder, COMMAND_FOLDER), MOST_NAMES);
  return { folder, files: names.filter((name) => name.endsWith('.md')).sort(inOrder) };
};

/** A folder may belong to anyone; more names than this are not read. */
const MOST_NAMES = 10 * COMMAND_LIMITS.commands;

/** The name of the command; undefined if the file cannot be one. */
const toName = (file: string): string | undefined => /^([a-z][a-z0-9_-]{0,31})\.md$/.exec(file)?.[1];

interface ReadFolder {
  commands: ProjectCommand[];
  odd: OddFile[];
}

/** The order of code units, which every machine has. */
const inOrder = (a: string, b: string): number => (a < b ? -1 : 1);

async function readCommands({ folder, files }: CommandFiles, looks: FileLooks): Promise<ReadFolder> {
  const named = files.map((file) => ({ file: path.join(folder, COMMAND_FOLDER, file), name: toName(file) }));
  const possible = named.flatMap(({ file, name }) => (name === undefined ? [] : { file, name }));
  const firstOnes = possible.slice(0, COMMAND_LIMITS.commands);
  const read = await Promise.all(firstOnes.map((each) => readCommand(each, looks)));
  return {
    commands: read.flatMap((found) => ('why' in found ? [] : found)),
    odd: [
      ...named.flatMap(({ file, name }) => (name === undefined ? { file, why: 'name' as const } : [])),
      ...read.flatMap((found) => ('why' in found ? found : [])),
      ...possible.slice(COMMAND_LIMITS.commands).map(({ file }) => ({ file, why: 'too_many' as const })),
    ],
  };
}

async function readCommand(
  { file, name }: { file: string; name: string },
  looks: FileLooks,
): Promise<ProjectCommand | OddFile> {
  const start = await looks.readStart(file, COMMAND_LIMITS.bytes + 1);
  if (!start) return { file, why: 'unreadable' };
  if (start.size > COMMAND_LIMITS.bytes) return { file, why: 'too_long' };
  return toCommand(name, start.bytes.toString('utf8')) ?? { file, why: 'empty' };
}

/** A file may begin with `---` lines around a `description` and an `argument-hint`. */
function toCommand(name: string, file: string): ProjectCommand | undefined {
  const [, head = '', body = file] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(file) ?? [];
  const text = body.trim();
  if (text === '') return undefined;
  const field = (key: string) =>
    new RegExp(`^${key}:[ \\t]*(.+)$`, 'm')
      .exec(head)?.[1]
      ?.trim()
      .replace(/^["']|["']$/g, '');
  const argument = field('argument-hint') ?? (/\$(ARGUMENTS|[1-9])/.test(text) ? '[ARGUMENTS]' : undefined);
  const summary = field('description') ?? text.replace(/^#+\s*/, '').split('\n', 1)[0] ?? '';
  return { name, ...(argument !== undefined && { argument: short(argument) }), summary: short(summary), text };
}

function short(text: string): string {
  const line = toVisibleLine(text);
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}

/** How many single arguments a line must have at least, if the command has fewer. */
export function missingArguments({ text }: Pick<ProjectCommand, 'text'>, given: string): number | undefined {
  const places = [...text.matchAll(/\$([1-9])(?![0-9A-Za-z_])/g)].map(([, place]) => Number(place));
  const needed = Math.max(0, ...places);
  return wordsOf(given).length < needed ? needed : undefined;
}

const wordsOf = (given: string): string[] =>
  [...given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');

/**
 * The message of a command with its arguments: all of them for `$ARGUMENTS`, single ones for `$1` to `$9`. Without a place
 * for them, they follow the text.
 */
export function fillIn({ text }: Pick<ProjectCommand, 'text'>, given: string): string {
  const words = wordsOf(given);
  let isUsed = false;
  const filled = text.replace(/\$(ARGUMENTS|[1-9])(?![0-9A-Za-z_])/g, (_, place: string) => {
    isUsed = true;
    return place === 'ARGUMENTS' ? given : (words[Number(place) - 1] ?? '');
  });
  return isUsed || given === '' ? filled : `${filled}\n\n${given}`;
}
