import { has, isQuiet, openChat, STARTLED_MS } from '../../support/clients/chat-terminal.ts';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import { pause } from '../../support/deadline.ts';
import type { Way } from './way.ts';

/** In `headgate chat`. */
export async function byTerminal(daemon: DaemonUnderTest, workdir: string): Promise<Way & AsyncDisposable> {
  const chat = await openChat(daemon, { workdir, columns: 100, rows: 40 });
  const isAsked = (keys: string) => (rows: string[]) => has(keys)(rows.slice(-4));
  const press = async (keys: string, what: (rows: string[]) => boolean) => {
    await chat.until((rows) => isAsked(keys)(rows) && what(rows), keys);
    await pause(STARTLED_MS);
    chat.type('y');
    await chat.until((rows) => !isAsked(keys)(rows), `${keys} was answered`);
  };
  const command = async (line: string, answer: string) => {
    chat.type(`${line}\r`);
    await chat.until((rows) => has(answer)(rows) && isQuiet(rows), answer);
  };
  return {
    async say(message) {
      chat.type(`${message}\r`);
    },
    allow: (tool) => press('y approve · n deny', has(tool)),
    acceptPlan: () => press('y approve · n reject', has('Take off a percentage')),
    async answered(text) {
      await chat.until((rows) => has(text)(rows) && isQuiet(rows), text);
    },
    undo: () => command('/undo', 'was taken back'),
    redo: () => command('/redo', 'is back'),
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}
