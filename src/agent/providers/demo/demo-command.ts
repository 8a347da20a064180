/** A command that the demo model recognises in a message. */
export type DemoCommand =
  | { kind: 'help' }
  | { kind: 'say'; text: string }
  | { kind: 'think'; text: string }
  | { kind: 'long'; lines: number }
  | { kind: 'call'; calls: { name: string; arguments: Record<string, unknown> }[] }
  /** Looks at the working directory and its README. */
  | { kind: 'explain' }
  | { kind: 'usage'; text: string }
  | { kind: 'unknown' };

/**
 * Parses a message: one of the questions that the page or the README suggests, otherwise by its first word, ignoring
 * case.
 */
export function parseDemoCommand(message: string): DemoCommand {
  const text = message.trim();
  const question = QUESTIONS.find(({ pattern }) => pattern.test(text));
  if (question) return question.parse(text);
  const [, word = '', rest = ''] = /^(\S+)(?:\s+(\S[\s\S]*)?)?$/.exec(text) ?? [];
  const row = ROWS.find(({ name }) => name === word.toLowerCase());
  if (!row || (row.alone && rest !== '')) return { kind: 'unknown' };
  return row.parse(rest.trim()) ?? { kind: 'usage', text: row.usage };
}

/** One line of help per command. */
export const demoHelp = (): string => ROWS.map(({ usage, does }) => `- \`${usage}\`: ${does}`).join('\n');

interface Row {
  name: string;
  usage: string;
  does: string;
  /** Matches only without further words: "help me" is a question. */
  alone?: boolean;
  /** Undefined when an argument is missing. */
  parse(rest: string): DemoCommand | undefined;
}

const MAX_LINES = 10_000;

const call = (name: string, args: Record<string, unknown>): DemoCommand => ({
  kind: 'call',
  calls: [{ name, arguments: args }],
});

interface Question {
  pattern: RegExp;
  parse(text: string): DemoCommand;
}

/** Whole sentences only, because a similar message may mean something else. */
const QUESTIONS: Question[] = [
  {
    pattern:
      /^(?:(?:please )?(?:list|show)(?: me)?(?: all)?(?: the)? files(?: here| in this (?:folder|directory))?|what(?:'s| is) (?:here|new here|in this (?:folder|directory)))[.?!]?$/i,
    parse: () => call('list_directory', { path: '.' }),
  },
  {
    pattern: /^(?:please )?(?:explain|describe) (?:what )?this project(?: does)?[.?!]?$/i,
    parse: () => ({ kind: 'explain' }),
  },
  {
    pattern: /^create a file hello\.txt with a greeting[.!]?$/i,
    parse: () => call('write_file', { path: 'hello.txt', content: 'Hello from Headgate!\n' }),
  },
];

const ROWS: Row[] = [
  { name: 'help', usage: 'help', does: 'this list', alone: true, parse: () => ({ kind: 'help' }) },
  {
    name: 'say',
    usage: 'say TEXT',
    does: 'answers TEXT',
    parse: (text) => (text ? { kind: 'say', text } : undefined),
  },
  {
    name: 'think',
    usage: 'think TEXT',
    does: 'thinks about TEXT first, then answers',
    parse: (text) => (text ? { kind: 'think', text } : undefined),
  },
  {
    name: 'run',
    usage: 'run COMMAND',
    does: 'runs a shell command',
    parse: (command) => (command ? call('bash', { command }) : undefined),
  },
  {
    name: 'two',
    usage: 'two COMMAND && COMMAND',
    does: 'runs two shell commands at once',
    parse(rest) {
      const commands = rest
        .split('&&')
        .map((command) => command.trim())
        .filter(Boolean);
      if (commands.length < 2) return undefined;
      return { kind: 'call', calls: commands.map((command) => ({ name: 'bash', arguments: { command } })) };
    },
  },
  {
    name: 'read',
    usage: 'read PATH',
    does: 'reads a file',
    parse: (path) => (path ? call('read_file', { path }) : undefined),
  },
  {
    name: 'write',
    usage: 'write PATH: TEXT',
    does: 'writes a file',
    parse(rest) {
      const found = /^([^:]+):\s?([\s\S]*)$/.exec(rest);
      return found?.[1] ? call('write_file', { path: found[1].trim(), content: `${found[2]}\n` }) : undefined;
    },
  },
  {
    name: 'edit',
    usage: 'edit PATH: OLD => NEW',
    does: 'replaces a text in a file that was read before',
    parse(rest) {
      const [, path = '', change = ''] = /^([^:]+):\s?([\s\S]*)$/.exec(rest) ?? [];
      const arrow = change.indexOf('=>', 1);
      if (arrow < 0) return undefined;
      const [old, next] = [change.slice(0, arrow).trimEnd(), change.slice(arrow + 2).replace(/^\s/, '')];
      return call('edit_file', { path: path.trim(), old_string: old, new_string: next });
    },
  },
  {
    name: 'search',
    usage: 'search REGEX',
    does: 'searches the working directory',
    parse: (query) => (query ? call('search', { query }) : undefined),
  },
  {
    name: 'glob',
    usage: 'glob PATTERN',
    does: 'finds files by a pattern such as src/**/*.ts',
    parse: (pattern) => (pattern ? call('glob', { pattern }) : undefined),
  },
  {
    name: 'list',
    usage: 'list [PATH]',
    does: 'lists a directory',
    parse: (path) => call('list_directory', { path: path || '.' }),
  },
  {
    name: 'fetch',
    usage: 'fetch URL',
    does: 'reads a page of the web',
    parse: (url) => (url ? call('web_fetch', { url }) : undefined),
  },
  {
    name: 'web',
    usage: 'web WORDS',
    does: 'searches the web, if tools.search is configured',
    parse: (query) => (query ? call('web_search', { query }) : undefined),
  },
  {
    name: 'long',
    usage: 'long N',
    does: 'answers N lines',
    parse: (count) =>
      /^\d{1,6}$/.test(count) ? { kind: 'long', lines: Math.min(Number(count), MAX_LINES) } : undefined,
  },
];
