import { isCommandName } from '../../../protocol/commands.ts';
import type { ProjectCommand } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import {
  COMMAND_LIMITS,
  type ProjectCommands as Files,
  fillIn,
  missingArguments,
  type OddFile,
} from '../../agent/project/project-commands.ts';
import type { Sender } from '../rights.ts';
import type { Runs } from '../runs/runs.ts';
import { readTrust } from '../runs/trust-rows.ts';
import type { Store } from '../store/store.ts';
import type { Workstream } from './workstream.ts';
import type { WorkstreamData } from './workstream-data.ts';

/** Commands that a project keeps in files: each sends a message. */
export interface ProjectCommands {
  /** For lists and completions. The names of Headgate's own commands are not among them. */
  list(data: Pick<WorkstreamData, 'wsId' | 'workdir'>): Promise<ProjectCommand[]>;
  /** Sends the message of a line such as `/review 7`. False if it is no command of the project. */
  send(workstream: Workstream, line: string, by: Sender): Promise<boolean>;
  /** Lists them to the people of a workstream, if there are any. */
  explain(workstream: Workstream): Promise<void>;
}

interface ProjectCommandDeps {
  files: Files;
  runs: Pick<Runs, 'acceptIfIdle'>;
  store: Pick<Store, 'commit' | 'db'>;
}

export function createProjectCommands({ files, runs, store }: ProjectCommandDeps): ProjectCommands {
  const read = async ({ wsId, workdir }: Pick<WorkstreamData, 'wsId' | 'workdir'>) => {
    const { trusted } = await readTrust(store, wsId);
    return (await files.list(workdir, trusted)).filter(({ name }) => !isCommandName(name));
  };
  const say = async ({ data }: Workstream, message: string) => {
    const event: StreamEvent = { type: 'info', message };
    await store.commit({ events: { wsId: data.wsId, events: [event] } });
  };
  const readOthers = async ({ wsId, workdir }: Pick<WorkstreamData, 'wsId' | 'workdir'>) => {
    const { trusted } = await readTrust(store, wsId);
    const { waiting, odd } = await files.others(workdir, trusted);
    return { waiting: waiting.filter(({ name }) => !isCommandName(name)), odd };
  };
  /** False if there is no such command, not even in a folder that nobody trusts. */
  const explainWaiting = async (workstream: Workstream, word: string): Promise<boolean> => {
    const found = (await readOthers(workstream.data)).waiting.find(({ name }) => name === word);
    if (found) await say(workstream, waitingText(found.name, found.folder));
    return found !== undefined;
  };
  return {
    list: async (data) => (await read(data)).map(({ text: _, ...command }) => command),
    async send(workstream, line, by) {
      const [, word = '', given = ''] = /^\/?(\S+)(?:\s+(\S[\s\S]*)?)?$/.exec(line.trim()) ?? [];
      if (isCommandName(word)) return false;
      const command = (await read(workstream.data)).find(({ name }) => name === word);
      if (!command) return explainWaiting(workstream, word);
      const needed = missingArguments(command, given);
      if (needed !== undefined) {
        await say(workstream, tooFewArguments(command, needed));
        return true;
      }
      const message = fillIn(command, given.trim());
      const handle = await runs.acceptIfIdle(workstream, { message, ...by, source: 'person' });
      if (!handle)
        await say(
          workstream,
          `/${word} is not possible while an answer is in progress. Wait for its end, or cancel it.`,
        );
      return true;
    },
    async explain(workstream) {
      const commands = await read(workstream.data);
      const { waiting, odd } = await readOthers(workstream.data);
      const lines = commands.map((command) => `${usageOf(command)}  ${command.summary}`);
      const told = [
        ...(lines.length > 0 ? ['Commands of this project:', ...lines] : []),
        ...waiting.map(({ name, folder }) => waitingText(name, folder)),
        ...odd.map(({ file, why }) => `${toVisibleLine(file)} is no command: ${WHY[why]}.`),
      ];
      if (told.length > 0) await say(workstream, told.join('\n'));
    },
  };
}

const WHY: Record<OddFile['why'], string> = {
  name: 'its name needs 1 to 32 lower-case letters, digits, - and _, beginning with a letter',
  empty: 'it has no text',
  too_long: `it is longer than ${COMMAND_LIMITS.bytes / 1024} KiB`,
  too_many: `a folder can have ${COMMAND_LIMITS.commands}, and this one comes after them`,
  unreadable: 'it is a link, or cannot be read',
};

const usageOf = ({ name, argument }: Pick<ProjectCommand, 'name' | 'argument'>): string =>
  [`/${name}`, argument].filter(Boolean).join(' ');

const tooFewArguments = (command: Pick<ProjectCommand, 'name' | 'argument'>, needed: number): string =>
  `Usage: ${usageOf(command)}. The file of the command uses $${needed}, so it needs at least ${needed} ${needed === 1 ? 'argument' : 'arguments'}.`;

const waitingText = (name: string, folder: string): string =>
  `/${name} waits for trust: it comes from ${toVisibleLine(folder)}, which is not trusted. If the folder has an AGENTS.md, the first message of a conversation asks; otherwise add the folder to agents.trusted in config.json.`;
