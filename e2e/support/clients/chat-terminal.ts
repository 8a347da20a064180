import type { DaemonUnderTest } from '../daemon/daemon.ts';
import { openTerminal, type TerminalUnderTest } from './terminal.ts';

let count = 0;

/** A chat in a new workstream; `columns` and `rows` as a terminal has them. */
export async function openChat(
  daemon: DaemonUnderTest,
  size: { columns?: number; rows?: number; workdir?: string } = {},
): Promise<TerminalUnderTest & { ws: string; wsId: string }> {
  count += 1;
  const ws = `chat-${count}`;
  const { workdir, ...shape } = size;
  const { wsId } = await (await daemon.client()).call('workstream.create', { name: ws, ...(workdir && { workdir }) });
  const terminal = openTerminal({
    args: ['chat', '--ws', wsId.slice(0, 10)],
    env: { HEADGATE_HOME: daemon.home },
    ...shape,
  });
  await terminal.until((rows) => rows.at(-1) === '›', 'the prompt');
  return Object.assign(terminal, { ws, wsId });
}

export const has = (text: string) => (rows: string[]) => rows.some((row) => row.includes(text));

const TIME = String.raw`(?:\d{4}-\d\d-\d\d )?\d\d:\d\d`;
const [SENT, ANSWERED] = [new RegExp(`^(› .*) · ${TIME}$`), new RegExp(`^${TIME}(?: · .*)?$`)];

/** The rows of a chat without the times and costs of its messages and without its status line. */
export const withoutTimes = (rows: string[]): string[] =>
  rows.filter((row) => !ANSWERED.test(row) && !row.startsWith('── ')).map((row) => row.replace(SENT, '$1'));

/** Nothing runs and no question is pending. */
export const isQuiet = (rows: string[]) =>
  rows.at(-1) === '›' && !rows.slice(-4).some((row) => /Esc stops it|y approve/.test(row));

/** Longer than the time in which keys pressed before the question appeared are ignored. */
export const STARTLED_MS = 500;
