import type { CommandName } from '../../../../protocol/commands.ts';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import { fence } from '../../../content/fence.ts';
import type { CommandCaller } from '../../commands/command.ts';
import type { Commands } from '../../commands/commands.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import type { InboxRow } from '../inbox/inbox-rows.ts';
import { stopOnce } from '../inbox/stop-once.ts';
import type { ActingSender } from './acting-sender.ts';
import type { ChatMessage } from './chat-message.ts';
import type { Replies } from './replies.ts';

/** A message of a person who may write. */
export interface AllowedMessage {
  row: InboxRow;
  message: ChatMessage;
  by: ActingSender;
  workstream: Workstream;
}

interface ChatCommandDeps {
  store: Pick<Store, 'db' | 'commit'>;
  commands: Pick<Commands, 'startAfresh' | 'clear' | 'answer'>;
  replies: Replies;
  clock: Pick<Clock, 'now'>;
}

/** The commands of a chat. */
export interface ChatCommands {
  /** False for a word that is no command: the text is an ordinary message then. */
  run(allowed: AllowedMessage, command: { name: string; argument: string }): Promise<boolean>;
}

/**
 * Commands of every conversation that a chat has, too: those that show something, or that have the same effect when they are
 * repeated.
 */
const SHARED: readonly { name: CommandName; description: string }[] = [
  { name: 'model', description: 'list the models, or switch to one: /model NAME' },
  { name: 'effort', description: 'show how much the model reasons, or set it: low, medium or high' },
  { name: 'compact', description: 'replace earlier messages by a summary for the model' },
  { name: 'budget', description: 'show how much of the budgets is used' },
  { name: 'background', description: 'list the background commands, or show the last output of one: /background N' },
  { name: 'watches', description: 'list the watches' },
  { name: 'tools', description: 'show the tools of this conversation' },
];

/** The commands of a chat, as services list them. */
export const CHAT_COMMANDS: readonly { name: string; description: string }[] = [
  { name: 'stop', description: 'cancel the answer in progress, and the messages that wait' },
  { name: 'new', description: 'begin a new conversation; this one is saved' },
  { name: 'clear', description: 'forget this conversation' },
  ...SHARED,
  { name: 'help', description: 'list the commands' },
];

const HELP = [
  'Write to me, and I answer. I also know these commands:',
  ...CHAT_COMMANDS.map(({ name, description }) => `/${name}: ${description}`),
].join('\n');

const BUSY = 'That is not possible while an answer is in progress. Wait for its end, or send /stop.';

/** Commands that do not wait for earlier messages of their chat. */
export const isUrgentText = (text: string | undefined): boolean => /^\/stop(?:@\w+)?(?:\s|$)/i.test(text ?? '');

/**
 * Only commands that concern this conversation alone: everything else belongs on the page. A daemon that dies during a
 * command executes it again, with one effect in all; a summary may be made twice.
 */
export const createChatCommands = ({ store, commands, replies, clock }: ChatCommandDeps): ChatCommands => ({
  async run({ row, workstream, by }, { name, argument }) {
    const begin = async (change: (also: Statement[]) => Promise<boolean>, text: string): Promise<true> => {
      if (await change(replies.answering(row, text))) replies.wake();
      else await replies.answer(row, BUSY);
      return true;
    };
    switch (name) {
      case 'start':
      case 'help':
        await replies.answer(row, HELP);
        return true;
      case 'stop':
        if (await stopOnce(row, workstream, { store, clock })) await replies.answer(row, '⏹ Stopped.');
        else await replies.answer(row, 'Nothing is in progress.');
        return true;
      case 'new':
        return begin((also) => commands.startAfresh(workstream, also), '✨ A new conversation begins.');
      case 'clear':
        return begin((also) => commands.clear(workstream, also), '✨ The conversation is forgotten.');
      default:
        if (!SHARED.some((shared) => shared.name === name)) return false;
        await replies.answer(row, toReply(await commands.answer(workstream, `${name} ${argument}`, callerOf(by))));
        return true;
    }
  },
});

function toReply(said: string): string {
  if (said === '') return '✔ Done.';
  return said.includes('\n') ? fence(said) : said; // lists have columns
}

const callerOf = ({ principal, rights }: ActingSender): CommandCaller => ({
  principal: principal.id,
  rights,
  ...(principal.userId !== undefined && { sender: principal.userId }),
  viewer: principal,
  call: {
    principal,
    async perform() {
      throw new GatewayError(
        'FORBIDDEN',
        'In a chat, this command only shows. Change it on the page or in the terminal.',
      );
    },
  },
});
