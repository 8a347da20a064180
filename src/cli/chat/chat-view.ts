import type { ConnectionStatus } from '../../../protocol/client/ws-client.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { type ModelWait, toWaitText } from '../../../protocol/text/wait-words.ts';
import type { Paint } from '../terminal/paint.ts';
import type { Question } from '../terminal/question-lines.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { LiveView } from '../terminal/screen.ts';
import { cutToRow } from '../terminal/wrap.ts';
import { toQueueLines } from './chat-queue.ts';
import { type ChoosingRule, type DecidingEach, eachLine, hasRules, hasSeveral, ruleKeys } from './finer-answer.ts';
import { toInputRows } from './input-rows.ts';
import type { LineEditor } from './line-editor.ts';
import type { Transcript } from './transcript.ts';
import { type Answering, answerLines, hasQuestions } from './typed-answers.ts';

/** What the keys mean at the moment. */
export type Mode =
  | { kind: 'message' }
  /** A remark is being typed, or was typed and waits for y or n. */
  | { kind: 'remark'; approvalId: string; remark: string | undefined }
  /** Waits for a second `y` before auto-approve is switched on. */
  | { kind: 'always'; approvalId: string }
  | ChoosingRule
  | DecidingEach
  | Answering;

/** What the keys mean after this one; undefined if it begins no longer answer. */
export function modeFor(key: string, approvalId: string): Mode | undefined {
  switch (key) {
    case 'f':
      return { kind: 'remark', approvalId, remark: undefined };
    case 'a':
      return { kind: 'always', approvalId };
    case 'r':
      return { kind: 'rule', approvalId };
    case 'w':
      return { kind: 'answer', approvalId, given: {} };
    case 'e':
      return { kind: 'each', approvalId, decided: {} };
    default:
      return undefined;
  }
}

export interface ChatSituation {
  transcript: Pick<Transcript, 'liveLines' | 'question' | 'state' | 'isWaiting'>;
  wait: ModelWait | undefined;
  /** The messages that wait. */
  waiting: readonly QueuedMessage[];
  connection: ConnectionStatus;
  mode: Mode;
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
  const { transcript, waiting, mode, editor, hint, completions } = situation;
  const below = [
    ...toStatusLines(situation, paint),
    ...toQueueLines(waiting, paint),
    ...toChoiceLines({ question: transcript.question, mode, isTyping: editor.text !== '' }, paint),
    ...(hint === undefined ? [] : [paint('dim', hint)]),
    ...completions.map(({ name, summary }) => paint('dim', `  ${name}  ${summary}`)),
  ].map((line) => cutToRow(line, columns));
  const input = toInputRows(
    { prompt: promptOf(mode, paint), text: editor.text, cursor: editor.cursor },
    { columns, maxRows: Math.max(3, Math.floor(rows / 3)) },
  );
  const room = Math.max(3, rows - below.length - input.rows.length - 3);
  const live = transcript.liveLines(room);
  return { lines: [...live.slice(-room), '', ...below], input };
}

function promptOf(mode: Mode, paint: Paint): string {
  if (mode.kind === 'answer') return paint('yellow', 'answer › ');
  return mode.kind === 'remark' && mode.remark === undefined
    ? paint('yellow', 'remark › ')
    : paint(['bold', 'cyan'], '› ');
}

function toStatusLines(
  { connection, transcript, wait, sending, seconds, nowMs }: ChatSituation,
  paint: Paint,
): string[] {
  if (connection.kind !== 'open') {
    const lost = paint('yellow', '! Disconnected. Nothing is lost: the chat continues when the connection is back.');
    return [lost, ...toSendingLines(sending, paint)];
  }
  if (sending.length > 0) return toSendingLines(sending, paint);
  if (wait) return toWaitLines(wait, nowMs).map((line) => paint('yellow', line));
  const word = transcript.isWaiting ? 'thinking' : STATES[transcript.state];
  return word === undefined ? [] : [paint('dim', `${word}… ${seconds} s · Ctrl-C stops it`)];
}

const SENDING_SHOWN = 5;

function toSendingLines(sending: readonly string[], paint: Paint): string[] {
  const shown = sending.slice(0, SENDING_SHOWN).map((line) => `sending: ${toSafeText(line).split('\n')[0]}`);
  const left = sending.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].map((line) => paint('dim', line));
}

const toWaitLines = (wait: ModelWait, nowMs: number): string[] => [
  `… ${toSafeText(wait.message).replaceAll('\n', ' ')}`,
  toSafeText(toWaitText(wait, nowMs)),
  'Enter tries now · Ctrl-C stops it',
];

const STATES: Record<WorkstreamState, string | undefined> = {
  idle: undefined,
  error: undefined,
  thinking: 'answering',
  running: 'running',
  attention: undefined,
};

interface Choice {
  question: Question | undefined;
  mode: Mode;
  isTyping: boolean;
}

function toChoiceLines({ question, mode, isTyping }: Choice, paint: Paint): string[] {
  if (!question) return [];
  switch (mode.kind) {
    case 'always':
      return [
        paint('yellow', 'Every call in this workstream will run without asking, not only this kind.'),
        keys({ y: 'yes, never ask here', 'any other key': 'back' }, paint),
      ];
    case 'rule':
      return [keys(ruleKeys(question, mode), paint)];
    case 'each':
      return [eachLine(question, mode), keys({ y: 'approve', n: 'deny', 'any other key': 'back' }, paint)];
    case 'answer':
      return [...answerLines(question, mode), keys({ Enter: 'answer', Esc: 'back' }, paint)];
    case 'remark':
      if (mode.remark === undefined) return [keys({ Enter: 'done', Esc: 'back' }, paint)];
      return [
        `Remark: ${toSafeText(mode.remark).replaceAll('\n', ' ')}`,
        keys({ y: 'approve with it', n: 'deny with it', Esc: 'back' }, paint),
      ];
    case 'message':
      if (isTyping)
        return [paint('yellow', 'A question is pending: to answer it, send or clear the line (Ctrl-C) first.')];
      return [keys(keysOf(question), paint)];
  }
}

const QUESTION_KEYS: Record<Question['kind'], Record<string, string>> = {
  tools: { y: 'approve', n: 'deny', f: 'with a remark', a: 'always', v: 'view all' },
  outcome: { y: 'run again', n: 'skip', v: 'view all' },
  instructions: { y: 'follow them', n: 'ignore them', v: 'view all' },
  budget: { y: 'spend more', n: 'stop' },
  plan: { y: 'approve', n: 'reject', v: 'view all' },
};

/** Only what the question offers. */
function keysOf(question: Question): Record<string, string> {
  const { v, ...usual } = QUESTION_KEYS[question.kind];
  return {
    ...(hasQuestions(question) && { w: question.kind === 'plan' ? 'write what should change' : 'write the answer' }),
    ...usual,
    ...(hasRules(question) && { r: 'rule' }),
    ...(hasSeveral(question) && isAboutCalls(question) && { e: 'each' }),
    ...(v !== undefined && { v }),
  };
}

const isAboutCalls = ({ kind }: Question): boolean => kind === 'tools' || kind === 'outcome';

const keys = (meanings: Record<string, string>, paint: Paint): string =>
  Object.entries(meanings)
    .map(([key, meaning]) => `${paint(['bold', 'yellow'], key)} ${meaning}`)
    .join(paint('dim', ' · '));
