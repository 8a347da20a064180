import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openTerminal, type TerminalUnderTest } from '../../e2e/support/clients/terminal.ts';
import { median, type Row } from '../row.ts';
import type { Stage } from '../stage.ts';

const KEYS = 'the quick brown fox jumps over the lazy dog';
const MESSAGES = 5_000;

/** A person opens a long conversation in a terminal and types. */
export const terminalRow: Row = {
  name: 'terminal',
  what: 'from the start of `headgate chat` to its prompt, in a conversation with 5,000 messages',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 250 },
  beside: [{ figure: 'key', label: 'a key on the screen', unit: 'ms', target: { atMost: 10 } }],
  async open(stage) {
    const { home, wsId } = await openLong(stage);
    return async () => {
      const startMs = performance.now();
      await using chat = openTerminal({
        entry: stage.programs.product,
        args: ['chat', '--ws', wsId],
        env: { HEADGATE_HOME: home },
      });
      await chat.until((rows) => rows.at(-1) === '›', 'the prompt');
      const prompt = performance.now() - startMs;
      return { value: prompt, figures: { prompt, key: await keyMs(chat) } };
    };
  },
};

async function openLong(stage: Stage): Promise<{ home: string; wsId: string }> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { mode: 0o700 });
  const { conversation } = await stage.programs.seeds();
  const wsId = await conversation(home, 'long', stage.quick ? MESSAGES / 10 : MESSAGES);
  await stage.product({ home });
  return { home, wsId };
}

/** From a key to its sign on the screen, with the pseudo terminal between them. */
async function keyMs(chat: TerminalUnderTest): Promise<number> {
  const took: number[] = [];
  for (let typed = 1; typed <= KEYS.length; typed += 1) {
    const startMs = performance.now();
    chat.type(KEYS[typed - 1] ?? '');
    const line = `› ${KEYS.slice(0, typed)}`.trimEnd();
    await chat.until((rows) => rows.at(-1) === line, 'the typed key');
    took.push(performance.now() - startMs);
  }
  return median(took);
}
