import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openTerminal, type TerminalUnderTest } from '../../e2e/support/clients/terminal.ts';
import { median, type Row } from '../row.ts';
import type { Stage } from '../stage.ts';

const KEYS = 'the quick brown fox jumps over the lazy dog';
const MESSAGES = 5_000;

/** A person opens a long conversation in a terminal. */
const promptRow: Row = {
  name: 'chat-prompt',
  what: 'from the start of `headgate chat` to its prompt, in a conversation with 5,000 messages',
  anchor: 'a bare ws client that prints a prompt, for comparison',
  unit: 'ms',
  target: { atMost: 250 },
  beside: [{ figure: 'anchor', label: 'of the bare client', unit: 'ms' }],
  async open(stage) {
    const { chat } = await openLong(stage);
    const echo = await stage.anchor('echo');
    return async () => {
      const anchor = await promptMs({ entry: stage.programs.anchor('prompt'), args: [String(echo.port)], env: {} });
      const product = await promptMs(chat);
      return { value: product, figures: { product, anchor } };
    };
  },
};

/** A person types in it. */
const keyRow: Row = {
  name: 'chat-key',
  what: 'from a key to the screen of `headgate chat`, in a conversation with 5,000 messages',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 10 },
  beside: [{ figure: 'busy', label: 'while a command writes 10,000 lines', unit: 'ms', target: { atMost: 50 } }],
  async open(stage) {
    const { chat } = await openLong(stage);
    return async () => {
      await using terminal = openTerminal(chat);
      await terminal.until(isPrompt, 'the prompt');
      const key = await keyMs(terminal);
      terminal.type('\x15run seq 1 10000; sleep 0.5; seq 1 10000\r');
      await terminal.until((rows) => rows.slice(-8).some((row) => row.includes('Esc stops it')), 'the command');
      const busy = await keyMs(terminal);
      return { value: key, figures: { key, busy } };
    };
  },
};

export const terminalRows: readonly Row[] = [promptRow, keyRow];

const isPrompt = (rows: string[]) => rows.at(-1) === '›';

async function promptMs(program: Parameters<typeof openTerminal>[0]): Promise<number> {
  const startMs = performance.now();
  await using terminal = openTerminal(program);
  await terminal.until(isPrompt, 'the prompt');
  return performance.now() - startMs;
}

async function openLong(stage: Stage): Promise<{ chat: Parameters<typeof openTerminal>[0] }> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { mode: 0o700 });
  const { conversation } = await stage.programs.seeds();
  const wsId = await conversation(home, 'long', stage.quick ? MESSAGES / 10 : MESSAGES);
  await stage.product({ home });
  const { product: entry } = stage.programs;
  return { chat: { entry, args: ['chat', '--ws', wsId], env: { HEADGATE_HOME: home } } };
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
