import { has, isQuiet, openChat, STARTLED_MS } from '../../support/clients/chat-terminal.ts';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import { pause } from '../../support/deadline.ts';
import type { Way } from './way.ts';

/** In `headgate chat`. */
export async function byTerminal(daemon: DaemonUnderTest, workdir: string): Promise<Way & AsyncDisposable> {
  const chat = await openChat(daemon, { workdir, columns: 100, rows: 40 });
  const isAsked = (keys: string) => (rows: string[]) => has(keys)(rows.slice(-4));
  /** `said`: what follows the decision. The next question may be asked before anybody looks, with the same keys. */
  const press = async (keys: string, what: string, said?: string) => {
    await chat.until((rows) => isAsked(keys)(rows) && has(what)(rows), keys);
    await pause(STARTLED_MS);
    chat.type('y');
    await chat.until((rows) => !isAsked(keys)(rows) || (said !== undefined && has(said)(rows)), `${keys} was answered`);
  };
  const command = async (line: string, answer: string) => {
    chat.type(`${line}\r`);
    await chat.until((rows) => has(answer)(rows) && isQuiet(rows), answer);
  };
  return {
    async say(message) {
      chat.type(`${message}\r`);
    },
    allow: (tool) => press('y approve · n deny', tool, `Approved: ${tool}`),
    acceptPlan: () => press('y approve · n reject', 'Take off a percentage'),
    async answered(text) {
      await chat.until((rows) => has(text)(rows) && isQuiet(rows), text);
    },
    undo: () => command('/undo', 'was taken back'),
    redo: () => command('/redo', 'is back'),
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}
