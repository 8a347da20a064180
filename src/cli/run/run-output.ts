import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { decisionWord } from '../../../protocol/text/decision-word.ts';
import type { Room } from '../../../protocol/text/text-ends.ts';
import { toWaitLine } from '../../../protocol/text/wait-words.ts';
import { EXIT } from '../../exit-codes.ts';
import { createPlainStream } from '../terminal/markdown-stream.ts';
import { createPaint } from '../terminal/paint.ts';
import { type Question, toQuestionLines, toQuestionRoom } from '../terminal/question-lines.ts';
import { toSafeJson, toSafeText } from '../terminal/safe-text.ts';
import { toHeaderText, toToolCall } from '../terminal/tool-lines.ts';
import type { RunEnd } from './follow-run.ts';

/** The last line of `--json`. */
export interface RunSummary extends RunEnd {
  exitCode: number;
  wsId: string;
  runId: string;
  durationMs: number;
  /** How many questions were denied. */
  denied: number;
}

/** Prints a run. */
export interface RunOutput {
  onBegin(run: { wsId: string; runId: string }): void;
  onEvent(event: StreamEvent): void;
  onQuestion(question: Question): void;
  /** Prints the question in full. */
  onWholeQuestion(question: Question): void;
  onEnd(summary: RunSummary): void;
}

interface Streams {
  /** The answer. */
  stdout(text: string): void;
  /** Everything else. */
  stderr(text: string): void;
}

/** One JSON object per line: `run`, then the events of the log, then `result`. */
export const createJsonOutput = ({ stdout, stderr }: Streams): RunOutput => {
  const line = (value: object) => stdout(`${JSON.stringify(value)}\n`);
  return {
    onBegin: ({ wsId, runId }) => line({ type: 'run', ws_id: wsId, run_id: runId }),
    onEvent: line,
    onQuestion: () => undefined, // it is one of the events
    onWholeQuestion: (question) => stderr(toText(toWholeQuestion(question))),
    onEnd: ({ exitCode, wsId, runId, durationMs, ...end }) =>
      line({ type: 'result', ...end, exit_code: exitCode, ws_id: wsId, run_id: runId, duration_ms: durationMs }),
  };
};

interface TextOptions {
  isStreaming: boolean;
  /** Whether stdout is a terminal, which the answer must not control. A program gets it as it is. */
  isTerminal: boolean;
  /** The size of the terminal for questions. */
  size: Room;
}

/** The answer as text: streamed for a person, complete for a program. */
export function createTextOutput(
  { stdout, stderr }: Streams,
  { isStreaming, isTerminal, size }: TextOptions,
): RunOutput {
  const tell = (lines: readonly string[]) => stderr(toText(lines));
  const kinds = new Map<string, Question['kind']>();
  let text = createPlainStream();
  const toShown = isTerminal ? toSafeText : (whole: string) => whole;
  const say = (lines: readonly string[]) => stdout(toText(lines));
  const onAnswer = (event: StreamEvent) => {
    if (event.type === 'content') {
      text.push(event.text);
      say(text.takeFinished());
    } else if (event.type === 'stream_end') {
      say(text.end());
      text = createPlainStream();
      if (event.interrupted === true)
        tell(['(A restart cut off the answer, so it is void. The model is asked again.)']);
    }
  };
  return {
    onBegin: () => undefined,
    onEvent(event) {
      if (isStreaming) onAnswer(event);
      tell(toProgressLines(event));
    },
    onQuestion(question) {
      kinds.set(question.approvalId, question.kind);
      tell(toQuestionLines(question, { paint, room: toQuestionRoom(question, size) }));
    },
    onWholeQuestion: (question) => tell(toWholeQuestion(question)),
    onEnd({ status, answer, error, output, exitCode }) {
      if (output !== undefined) stdout(`${toSafeJson(output)}\n`);
      else if (!isStreaming && (status === 'ok' || status === 'incomplete')) stdout(`${toShown(answer).trimEnd()}\n`);
      if (error !== undefined) tell([`headgate: ${toSafeText(error)}`]);
      else if (exitCode === EXIT.timeout)
        tell(['headgate: the run was stopped by --timeout before the answer was complete.']);
    },
  };

  function toProgressLines(event: StreamEvent): string[] {
    switch (event.type) {
      case 'tool_info':
        return event.items.map((item) => `· ${toHeaderText(toToolCall(item, false), paint)}`);
      case 'tool_result':
        if (event.outcome === 'done') return [`✔ ${event.name}`];
        return [`✖ ${event.name}: ${toSafeText(event.output).split('\n')[0]}`];
      case 'output_warning':
        return [`! ${event.func_name}: ${toSafeText(event.annotations.join(' '))}`];
      case 'approval_resolved':
        return [toDecisionText(kinds.get(event.approval_id) ?? 'tools', event)];
      case 'wait_start':
        return [`… ${toSafeText(event.message)}`, `… ${toSafeText(toWaitLine(event))}`];
      case 'info':
        return event.level === 'warning' ? [`! ${toSafeText(event.message)}`] : [];
      case 'error':
        return [`✖ ${toSafeText(event.message)}`];
      default:
        return [];
    }
  }
}

const paint = createPaint(false);
const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const toWholeQuestion = (question: Question): string[] => toQuestionLines(question, { paint, room: undefined });

function toDecisionText(kind: Question['kind'], decision: StreamEventOf<'approval_resolved'>): string {
  const word = decisionWord(kind, decision);
  const { approved, feedback } = decision;
  return approved || feedback === '' ? `${word}.` : `${word}: ${toSafeText(feedback)}`;
}
