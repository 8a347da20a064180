import type { ChatMessage } from '../../chats/chat-message.ts';
import type { ChatRun } from '../../chats/chat-run.ts';
import { Typing } from '../typing.ts';
import { acknowledge } from './acknowledge.ts';
import { type PreviewDeps, Previews } from './previews.ts';

/** How a chat sees that its messages are worked on. */
export function createSignsOfWork({ bot, gate, events, store, clock, log }: PreviewDeps) {
  const typing = new Typing({ bot, clock });
  const previews = new Previews({ bot, gate, events, store, clock, log });
  const goOn = (chat: string, { run, ended, isCurrent }: ChatRun) => {
    typing.during(chat, ended);
    previews.during({ chat, run, ended, isCurrent });
  };
  return {
    /** A run was accepted for a message. */
    begin(message: ChatMessage, work: ChatRun): void {
      void acknowledge(message, { bot: bot(), log });
      goOn(message.chat, work);
    },
    /** A run continues after a restart. */
    goOn,
    async close(): Promise<void> {
      typing.close();
      await previews.close();
    },
  };
}
