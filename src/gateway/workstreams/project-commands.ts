import { isCommandName } from '../../../protocol/commands.ts';
import type { ProjectCommand } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { type ProjectCommands as Files, fillIn } from '../../agent/project/project-commands.ts';
import type { Rights } from '../rights.ts';
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
  send(workstream: Workstream, line: string, by: { principal: string; rights: Rights }): Promise<boolean>;
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
  return {
    list: async (data) => (await read(data)).map(({ text: _, ...command }) => command),
    async send(workstream, line, by) {
      const [, word = '', given = ''] = /^\/?(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
      if (isCommandName(word)) return false;
      const command = (await read(workstream.data)).find(({ name }) => name === word);
      if (!command) return false;
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
      if (commands.length === 0) return;
      const lines = commands.map(
        ({ name, argument, summary }) => `${[`/${name}`, argument].filter(Boolean).join(' ')}  ${summary}`,
      );
      await say(workstream, ['Commands of this project:', ...lines].join('\n'));
    },
  };
}
