import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { COMMANDS, EFFORTS, isCommandName, usageOf } from '../../../../protocol/commands.ts';
import { MODES } from '../../../../protocol/events/modes.ts';
import type { ModelRow } from '../../../../protocol/methods/models.ts';
import type { ProjectCommand } from '../../../../protocol/methods/workstream.ts';
import { MODE_WORDS } from '../../../../protocol/text/mode-words.ts';

/** Commands of the terminal itself. */
const LOCAL_COMMANDS: Record<string, string> = {
  '/messages': 'List your last messages with their numbers: /messages [N].',
  '/copy': 'Copy the last answer as Markdown, or the Nth from the end: /copy [N].',
  '/attach': 'Attach a file to the next message: /attach FILE.',
  '/export': 'Write the conversation to a file: /export FILE, with .md as Markdown.',
  '/import': 'Make a new workstream from an exported file: /import FILE.',
  '/queue': 'List the messages that wait; /queue edit, move and remove change them.',
  '/summary': 'Print the summary that the model reads in place of earlier messages.',
  '/open': 'Open another conversation in a tab: /open [NAME | new]; without a name, from a list.',
  '/tab': 'Change to tab N, as Alt-1 to Alt-9 do: /tab N.',
  '/close': 'Close this tab; its run continues.',
  '/keys': 'List the keys, also those that answer a question.',
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
  /** The commands of the project, or the models, are known now. */
  onChange(): void;
}

/** Reads the commands of the project when a line is only a slash, and the models when a line is about them. */
export function createCommandFinder({ client, wsId, onChange }: CommandFinderDeps): CommandFinder {
  const further = createReading({
    read: async () => (await client.call('workstream.commands', { wsId })).commands.map(toOffered),
    onChange,
  });
  const models = createReading({
    read: async () => (await client.call('models.list', {})).models.map(toModelOffered),
    onChange,
  });
  const changed = createReading({
    read: async () => (await client.call('checkpoint.diff', { wsId })).files.flatMap(({ path }) => toFileOffered(path)),
    onChange,
  });
  return {
    find(line) {
      if (ABOUT_FILES.test(line)) changed.start();
      else changed.forget();
      if (line === '/') further.start();
      else if (line === '') further.forget();
      if (/^\/model\s/.test(line)) models.start();
      else models.forget();
      if (!line.startsWith('/')) return [];
      const offered = [
        ...[...OFFERED, ...further.offered, ...EFFORTS_OFFERED, ...MODES_OFFERED],
        ...[...models.offered, ...CHOICES_OFFERED, ...changed.offered],
      ];
      return offered.filter(({ name }) => beginsWith(name, line) && name !== line);
    },
  };
}

/** An argument is offered only once the line has come to it. */
const beginsWith = (name: string, line: string): boolean =>
  name.startsWith(line) && name.includes(' ') === line.includes(' ');

/** What is read from the daemon when a line needs it, and again for a later line. */
function createReading({ read, onChange }: { read(): Promise<Offered[]>; onChange(): void }) {
  let offered: readonly Offered[] = [];
  let isRead = false;
  return {
    get offered() {
      return offered;
    },
    start(): void {
      if (isRead) return;
      isRead = true;
      read().then(
        (found) => {
          offered = found;
          onChange();
        },
        () => undefined, // without an answer there is nothing to offer
      );
    },
    forget(): void {
      isRead = false;
    },
  };
}

const EFFORTS_OFFERED = EFFORTS.map((effort) => ({ name: `/effort ${effort}`, usage: effort, summary: '' }));

const MODES_OFFERED = MODES.map((mode) => ({ name: `/mode ${mode}`, usage: mode, summary: MODE_WORDS[mode].means }));

const ABOUT_FILES = /^\/(undo|redo|diff)\s/;

const CHOICES_OFFERED = ['undo', 'redo'].flatMap((command) => [
  { name: `/${command} keep`, usage: 'keep', summary: 'Leave files alone that somebody has changed since.' },
  { name: `/${command} overwrite`, usage: 'overwrite', summary: 'Replace them.' },
]);

/** A file that the last run changed. */
const toFileOffered = (path: string): Offered[] =>
  ['undo', 'redo', 'diff'].map((command) => ({ name: `/${command} ${path}`, usage: path, summary: '' }));

const toModelOffered = ({ id, name, provider }: ModelRow): Offered => ({
  name: `/model ${id}`,
  usage: id,
  summary: name === '' ? provider : `${provider}/${name}`,
});

const toOffered = ({ name, argument, summary }: ProjectCommand): Offered => ({
  name: `/${name}`,
  usage: [`/${name}`, argument].filter(Boolean).join(' '),
  summary,
});
