import type { ConnectionStatus } from '../../../protocol/client/ws-client.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { type ModelWait, toWaitText } from '../../../protocol/text/wait-words.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { LiveView } from '../terminal/screen.ts';
import { cutToRow } from '../terminal/wrap.ts';
import { toChoiceLines } from './answers/choice-lines.ts';
import type { Mode } from './answers/mode.ts';
import { toQueueLines } from './chat-queue.ts';
import { toInputRows } from './input/input-rows.ts';
import type { LineEditor } from './input/line-editor.ts';
import type { Picker } from './input/picker.ts';
import type { RunningShell } from './person/shell-commands.ts';
import { type StatusFacts, toStatusLine } from './status-line.ts';
import type { Transcript } from './transcript.ts';

export interface ChatSituation {
  transcript: Pick<Transcript, 'liveLines' | 'question' | 'state' | 'isWaiting'>;
  wait: ModelWait | undefined;
  /** The messages that wait. */
  waiting: readonly QueuedMessage[];
  connection: ConnectionStatus;
  mode: Mode;
  /** The list that is open, from which a person chooses. */
  picker: Picker | undefined;
  facts: StatusFacts;
  /** The command of the person that runs. */
  running: RunningShell | undefined;
  editor: Pick<LineEditor, 'text' | 'cursor'>;
  /** The lines that the daemon does not have yet. The first is being sent. */
  sending: readonly string[];
  /** The result of the last key, in one line. */
  hint: string | undefined;
  /** Since the current state began. */
  seconds: number;
  nowMs: number;
  /** Completions of the word that is being typed. */
  completions: readonly { name: string; summary: string }[];
}

interface Size {
  paint: Paint;
  columns: number;
  rows: number;
}

/** Everything below the transcript: the status, the question and the input line. */
export function toChatView(situation: ChatSituation, { paint, columns, rows }: Size): LiveView {
  const { transcript, waiting, mode, hint, completions, picker, facts } = situation;
  const editor = mode.kind === 'remark' && mode.remark !== undefined ? NOTHING_TYPED : situation.editor;
  const most = Math.max(3, Math.floor(rows / 3));
  const list = picker
    ? [paint('bold', picker.title), ...picker.lines(paint, most), paint('dim', PICKER_KEYS)]
    : [
        ...toChoiceLines({ question: transcript.question, mode, isTyping: editor.text !== '' }, { paint, columns }),
        ...(hint === undefined ? [] : [paint('dim', hint)]),
        ...completions.map(({ name, summary }) => paint('dim', `  ${name}  ${summary}`)),
      ];
  const below = [...toStatusLines(situation, paint), ...toQueueLines(waiting, paint), ...list]
    .map((line) => cutToRow(line, columns))
    .concat(toStatusLine(facts, { paint, columns }));
  const typed = picker ? { text: picker.query, cursor: picker.query.length } : editor;
  const prompt = picker ? paint('yellow', 'find › ') : promptOf(mode, paint);
  const input = toInputRows({ prompt, text: typed.text, cursor: typed.cursor }, { columns, maxRows: most });
  const room = Math.max(3, rows - below.length - input.rows.length - 3);
  const live = transcript.liveLines(room);
  return { lines: [...live.slice(-room), '', ...below], input };
}

const NOTHING_TYPED = { text: '', cursor: 0 };

const PICKER_KEYS = 'Up, Down choose · Enter takes it · Esc goes back';

function promptOf(mode: Mode, paint: Paint): string {
  if (mode.kind === 'answer') return paint('yellow', 'answer › ');
  return mode.kind === 'remark' && mode.remark === undefined
    ? paint('yellow', 'remark › ')
    : paint(['bold', 'cyan'], '› ');
}

function toStatusLines(
  { connection, transcript, wait, sending, seconds, nowMs, running }: ChatSituation,
  paint: Paint,
): string[] {
  if (connection.kind !== 'open') {
    const lost = paint('yellow', '! Disconnected. Nothing is lost: the chat continues when the connection is back.');
    return [lost, ...toSendingLines(sending, paint)];
  }
  if (running) return toShellLines(running, paint);
  if (sending.length > 0) return toSendingLines(sending, paint);
  if (wait) return toWaitLines(wait, nowMs).map((line) => paint('yellow', line));
  const word = transcript.isWaiting ? 'thinking' : STATES[transcript.state];
  return word === undefined ? [] : [paint('dim', `${word}… ${seconds} s · Esc stops it`)];
}

const SHELL_ROWS = 6;

const toShellLines = ({ command, output }: RunningShell, paint: Paint): string[] => [
  ...toSafeText(output.slice(-4_000))
    .trimEnd()
    .split('\n')
    .slice(-SHELL_ROWS)
    .map((line) => paint('dim', `  ${line}`)),
  paint('dim', `running: ${toSafeText(command).replaceAll('\n', ' ')} · Esc stops it`),
];

const SENDING_SHOWN = 5;

function toSendingLines(sending: readonly string[], paint: Paint): string[] {
  const shown = sending.slice(0, SENDING_SHOWN).map((line) => `sending: ${toSafeText(line).split('\n')[0]}`);
  const left = sending.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].map((line) => paint('dim', line));
}

const toWaitLines = (wait: ModelWait, nowMs: number): string[] => [
  `… ${toSafeText(wait.message).replaceAll('\n', ' ')}`,
  toSafeText(toWaitText(wait, nowMs)),
  'Enter tries now · Esc stops it',
];

const STATES: Record<WorkstreamState, string | undefined> = {
  idle: undefined,
  error: undefined,
  thinking: 'answering',
  running: 'running',
  attention: undefined,
};
