import { COMMANDS, isCommandName, usageOf } from '../../../protocol/commands.ts';

/** Commands of the terminal itself. */
const LOCAL_COMMANDS: Record<string, string> = {
  '/attach': 'Attach a file to the next message: /attach FILE.',
  '/export': 'Write the conversation to a file: /export FILE, with .md as Markdown.',
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
export const isCommand = (line: string): boolean => /^\/[a-z]+(\s|$)/.test(line);

export const isQuit = (line: string): boolean => line === '/quit' || line === '/exit';

/** The commands that begin with this line. */
export const findCommands = (line: string): Offered[] =>
  line.startsWith('/') ? OFFERED.filter(({ name }) => name.startsWith(line) && name !== line) : [];
