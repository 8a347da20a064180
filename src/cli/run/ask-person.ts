import { createInterface, type Key } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { STARTLE_MS } from '../chat/answers/question-keys.ts';
import { type Answering, answerLines, answerTyped, hasQuestions } from '../chat/answers/typed-answers.ts';
import type { Question } from '../terminal/question-lines.ts';
import { enterRawTerminal } from '../terminal/raw-terminal.ts';
import type { Decision } from './approval-policy.ts';

interface AskDeps {
  input: ReadStream;
  /** What is asked, and what is typed. */
  output: NodeJS.WritableStream;
  /** Prints the question in full. */
  showAll(): void;
  /** On a clock that never jumps. */
  nowMs(): number;
  /** Aborts when the question is decided elsewhere or the run ends. */
  signal: AbortSignal;
}

/**
 * Waits for a decision: y, n, or w and a line for each question of the agent; `v` shows everything first. Undefined if the
 * signal aborts. Keys that were typed before the question could be read do not count.
 */
export async function askPerson(question: Question, deps: AskDeps): Promise<Decision | 'interrupt' | undefined> {
  for (;;) {
    const pressed = await pressKey(question, deps);
    if (pressed !== 'write') return pressed;
    const answered = await writeAnswers(question, deps);
    if (answered !== 'back') return answered;
  }
}

async function pressKey(
  question: Question,
  { input, output, showAll, nowMs, signal }: AskDeps,
): Promise<Decision | 'write' | 'interrupt' | undefined> {
  if (signal.aborted) return undefined;
  const write = (text: string) => void output.write(text);
  const canWrite = hasQuestions(question);
  const prompt = `${canWrite ? 'w write the answer · ' : ''}y approve · n deny · v view all: `;
  const { promise, resolve } = Promise.withResolvers<Decision | 'write' | 'interrupt' | undefined>();
  let shownMs = Number.POSITIVE_INFINITY;
  const show = () => {
    write(prompt);
    shownMs = nowMs();
  };
  const choose = (text: string | undefined) => {
    if (text === 'v') {
      write('\n');
      showAll();
      show();
    } else if (text === 'w' && canWrite) resolve('write');
    else if (text === 'y' || text === 'n') resolve({ approved: text === 'y' });
  };
  const onKey = (text: string | undefined, { ctrl, name }: Key) => {
    if (ctrl === true && name === 'c') resolve('interrupt');
    else if (nowMs() - shownMs >= STARTLE_MS) choose(text);
  };
  const onAbort = () => resolve(undefined);
  show();
  const terminal = enterRawTerminal({ input, write, onKey, onPaste: () => undefined });
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    terminal.leave();
    write('\n');
  }
}

/** Takes a line for each question of the agent. Escape, or Ctrl-D, leads back to the keys. */
async function writeAnswers(question: Question, deps: AskDeps): Promise<Decision | 'back' | 'interrupt' | undefined> {
  let mode: Answering = { kind: 'answer', approvalId: question.approvalId, given: {} };
  for (;;) {
    deps.output.write(`${[...answerLines(question, mode), 'Enter answer · Esc back'].join('\n')}\n`);
    const line = await readLine('answer › ', deps);
    if (line.kind !== 'line') return line.kind === 'aborted' ? undefined : line.kind;
    const { next, decision } = answerTyped(question, mode, line.text);
    if (next === undefined) return decision ?? 'back';
    mode = next;
  }
}

type Line = { kind: 'line'; text: string } | { kind: 'back' | 'interrupt' | 'aborted' };

/** With all keys that lines of a terminal usually have. */
async function readLine(prompt: string, { input, output, signal }: AskDeps): Promise<Line> {
  if (signal.aborted) return { kind: 'aborted' };
  const { promise, resolve } = Promise.withResolvers<Line>();
  const reader = createInterface({ input, output, terminal: true, historySize: 0 });
  const onKey = (_: string | undefined, { name }: Key) => {
    if (name === 'escape') resolve({ kind: 'back' });
  };
  const onAbort = () => resolve({ kind: 'aborted' });
  input.on('keypress', onKey);
  signal.addEventListener('abort', onAbort, { once: true });
  reader.once('SIGINT', () => resolve({ kind: 'interrupt' }));
  reader.once('close', () => resolve({ kind: 'back' }));
  reader.question(prompt, (text) => resolve({ kind: 'line', text }));
  try {
    const line = await promise;
    if (line.kind !== 'line') output.write('\n');
    return line;
  } finally {
    signal.removeEventListener('abort', onAbort);
    input.off('keypress', onKey);
    reader.close();
  }
}
