import { COMMANDS, isCommandName, usageOf } from '../../../protocol/commands.ts';

/** Commands of the terminal itself. */
const LOCAL_COMMANDS: Record<string, string> = {
  '/attach': 'a file that goes with the next message: /attach FILE',
  '/output': 'the last call’s output, whole',
  '/thought': 'the last thought, whole',
  '/quit': 'leave; what runs goes on',
};

interface Offered {
  /** As it is typed. */
  name: string;
  /** With what it takes. */
  usage: string;
  summary: string;
}

const OFFERED: readonly Offered[] = [
  ...Object.keys(COMMANDS)
    .filter(isCommandName)
    .map((name) => ({ name: `/${name}`, usage: usageOf(name), summary: COMMANDS[name].summary })),
  ...Object.entries(LOCAL_COMMANDS).map(([name, summary]) => ({ name, usage: name, summary })),
];

/** Whether a line is a command and not a message that begins with a path. */
export const isCommand = (line: string): boolean => /^\/[a-z]+(\s|$)/.test(line);

export const isQuit = (line: string): boolean => line === '/quit' || line === '/exit';

/** The commands that a line may be the beginning of. */
export const findCommands = (line: string): Offered[] =>
  line.startsWith('/') ? OFFERED.filter(({ name }) => name.startsWith(line) && name !== line) : [];
