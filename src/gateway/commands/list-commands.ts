import { GatewayError } from '../../../protocol/errors.ts';
import { toPlainName } from '../../../protocol/text/plain-text.ts';
import type { Message } from '../../agent/message.ts';
import type { Messages, StoredMessage } from '../history/messages.ts';
import type { SavedWorkstreams } from '../listing/saved-workstreams.ts';
import { sightInCommon } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Command } from './command.ts';

interface ListCommandDeps {
  saved: SavedWorkstreams;
  messages: Pick<Messages, 'backwards'>;
}

type Say = (to: Workstream, text: string) => Promise<void>;

const MOST_CHARS = 256;
const MOST_CONVERSATIONS = 30;
const MOST_MESSAGES = 20;
/** Older ones are not searched. */
const MOST_SEARCHED = 5_000;
const LINE_CHARS = 200;

/** `/workstreams` and `/history`: what there is, as far as it fits on a screen. The answer goes to `say`. */
export const createListCommands = (
  { saved, messages }: ListCommandDeps,
  say: Say,
): Record<'workstreams' | 'history', Command> => ({
  workstreams: {
    when: 'always',
    run: async (search, workstream) => say(workstream, await listSaved(bounded(search), workstream, saved)),
  },
  history: {
    when: 'always',
    run: async (search, workstream) => say(workstream, await listMessages(bounded(search), workstream, messages)),
  },
});

/** As for the methods that search; each word is a condition of the query. */
function bounded(search: string): string {
  if (search.length <= MOST_CHARS) return search;
  throw new GatewayError('INVALID_REQUEST', `The words to search for are too long: at most ${MOST_CHARS} characters`);
}

async function listSaved(search: string, { data }: Workstream, saved: SavedWorkstreams): Promise<string> {
  // Everyone who follows the workstream reads the list.
  const rows = await saved.list({ limit: MOST_CONVERSATIONS + 1, search }, sightInCommon(data));
  if (rows.length === 0) return search === '' ? NO_CONVERSATION : NO_MATCH;
  const lines = rows.slice(0, MOST_CONVERSATIONS).map((row) => {
    const mark = row.wsId === data.wsId ? '*' : ' ';
    const count = `${row.messageCount} message${row.messageCount === 1 ? '' : 's'}`;
    const title = row.title === null ? '' : `  ${row.title}`;
    return `${mark} ${row.name}${title}  (${count}, ${dayOf(row.updatedMs)}${row.loaded ? ', open' : ''})`;
  });
  return [...lines, ...(rows.length > MOST_CONVERSATIONS ? [MORE] : []), LIST_HINT].join('\n');
}

async function listMessages(
  search: string,
  { data: { wsId, contextAfterSeq: after, messageCount: upTo } }: Workstream,
  messages: ListCommandDeps['messages'],
): Promise<string> {
  const words = toWords(search);
  const found: StoredMessage[] = [];
  let searched = 0;
  for await (const page of messages.backwards(wsId, { after, upTo })) {
    found.push(...page.toReversed().filter((message) => mentions(message, words)));
    searched += page.length;
    if (found.length >= MOST_MESSAGES || searched >= MOST_SEARCHED) break;
  }
  if (found.length === 0) return search === '' ? 'There are no messages yet.' : 'No message has these words.';
  return found.slice(0, MOST_MESSAGES).reverse().map(lineOf).join('\n');
}

const toWords = (search: string): string[] =>
  search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

const MORE = 'Older ones are left out. /workstreams WORDS finds them.';
const NO_CONVERSATION = 'No conversation is saved yet.';
const NO_MATCH = 'No conversation has these words in its name or title.';
const LIST_HINT = '* marks this workstream. /resume NAME copies a conversation into it.';

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** What people read of a message; empty for those of the daemon and for results of tools. */
const textOf = (message: Message): string =>
  message.role === 'tool' || (message.role === 'user' && message.environment) ? '' : message.content;

function mentions({ message }: StoredMessage, words: readonly string[]): boolean {
  const text = textOf(message).toLowerCase();
  return text !== '' && words.every((word) => text.includes(word));
}

function lineOf({ seq, message }: StoredMessage): string {
  const text = toPlainName(textOf(message)).replaceAll(/\s+/g, ' ');
  return `#${seq} ${message.role}: ${text.length <= LINE_CHARS ? text : `${text.slice(0, LINE_CHARS - 1)}…`}`;
}
