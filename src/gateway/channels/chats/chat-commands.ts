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
  commands: Pick<Commands, 'startAfresh' | 'clear'>;
  replies: Replies;
}

/** The commands of a chat. */
export interface ChatCommands {
  /** False for a word that is no command: the text is an ordinary message then. */
  run(allowed: AllowedMessage, command: { name: string }): Promise<boolean>;
}

/** The commands of a chat, as services list them. */
export const CHAT_COMMANDS = [
  { name: 'stop', description: 'cancel the answer in progress, and the messages that wait' },
  { name: 'new', description: 'begin a new conversation; this one is saved' },
  { name: 'clear', description: 'forget this conversation' },
  { name: 'help', description: 'list the commands' },
] as const;

const HELP = [
  'Write to me, and I answer. I also know these commands:',
  ...CHAT_COMMANDS.map(({ name, description }) => `/${name}: ${description}`),
].join('\n');

const BUSY = 'That is not possible while an answer is in progress. Wait for its end, or send /stop.';

/** Commands that do not wait for earlier messages of their chat. */
export const isUrgentText = (text: string | undefined): boolean => /^\/stop(?:@\w+)?(?:\s|$)/i.test(text ?? '');

/**
 * Only commands that concern this conversation alone: everything else belongs on the page. A daemon that dies during a
 * command executes it again, with one effect in all.
 */
export const createChatCommands = ({ store, commands, replies }: ChatCommandDeps): ChatCommands => ({
  async run({ row, workstream }, { name }) {
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
        await replies.answer(row, (await stopOnce(row, workstream, store)) ? '⏹ Stopped.' : 'Nothing is in progress.');
        return true;
      case 'new':
        return begin((also) => commands.startAfresh(workstream, also), '✨ A new conversation begins.');
      case 'clear':
        return begin((also) => commands.clear(workstream, also), '✨ The conversation is forgotten.');
      default:
        return false;
    }
  },
});
