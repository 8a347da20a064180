import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { COMMANDS, isCommandName, usageOf } from '../../../protocol/commands.ts';
import type { ProjectCommand } from '../../../protocol/methods/workstream.ts';

/** Commands of the terminal itself. */
const LOCAL_COMMANDS: Record<string, string> = {
  '/attach': 'Attach a file to the next message: /attach FILE.',
  '/export': 'Write the conversation to a file: /export FILE, with .md as Markdown.',
  '/queue': 'List the messages that wait; /queue edit, move and remove change them.',
  '/output': 'Print the last call’s output in full.',
  '/thought': 'Print the last thought in full.',
  '/quit': 'Leave; a run in progress continues.',
};

interface Offered {
  /** As it is typed. */
  name: string;
  /** The name with its arguments. */
  usage: string;
  summary: string;
}

const OFFERED: readonly Offered[] = [
  ...Object.keys(COMMANDS)
    .filter(isCommandName)
    .map((name) => ({ name: `/${name}`, usage: usageOf(name), summary: COMMANDS[name].summary })),
  ...Object.entries(LOCAL_COMMANDS).map(([name, summary]) => ({ name, usage: name, summary })),
];

/** Whether a line is a command, rather than a message that begins with a path. */
export const isCommand = (line: string): boolean => /^\/[a-z][a-z0-9_-]*(\s|$)/.test(line);

export const isQuit = (line: string): boolean => line === '/quit' || line === '/exit';

/** Finds the commands that begin with a line. */
export interface CommandFinder {
  find(line: string): Offered[];
}

interface CommandFinderDeps {
  client: Pick<GatewayClient, 'call'>;
  wsId: string;
  /** The commands of the project are known now. */
  onChange(): void;
}

/** Reads the commands of the project when a line is only a slash. */
export function createCommandFinder({ client, wsId, onChange }: CommandFinderDeps): CommandFinder {
  let further: readonly Offered[] = [];
  let isRead = false;
  const read = async () => {
    isRead = true;
    const { commands } = await client.call('workstream.commands', { wsId });
    further = commands.map(toOffered);
    onChange();
  };
  return {
    find(line) {
      if (line !== '/') isRead = isRead && line !== '';
      else if (!isRead) void read().catch(() => undefined); // without an answer there is nothing to offer
      if (!line.startsWith('/')) return [];
      return [...OFFERED, ...further].filter(({ name }) => name.startsWith(line) && name !== line);
    },
  };
}

const toOffered = ({ name, argument, summary }: ProjectCommand): Offered => ({
  name: `/${name}`,
  usage: [`/${name}`, argument].filter(Boolean).join(' '),
  summary,
});
