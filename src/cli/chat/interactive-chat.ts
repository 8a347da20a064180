import type { Key } from 'node:readline';
import { createOutbox, type Outbox } from '../../../protocol/client/outbox.ts';
import type { Timers } from '../../../protocol/client/timers.ts';
import type { ConnectionStatus, GatewayClient } from '../../../protocol/client/ws-client.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Here } from '../local-time.ts';
import { createMarkdownStream } from '../terminal/markdown-stream.ts';
import { type Question, toQuestionLines } from '../terminal/question-lines.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { LiveView, Screen } from '../terminal/screen.ts';
import type { Sheet } from '../terminal/sheet.ts';
import type { ChatFiles } from './chat-files.ts';
import { runQueueCommand } from './chat-queue.ts';
import { type ChatSituation, type Mode, modeFor, toChatView } from './chat-view.ts';
import { runLocalCommand } from './commands/local-commands.ts';
import { type CommandFinder, createCommandFinder, isCommand } from './commands/slash-commands.ts';
import { isTalkCommand, runTalkCommand } from './commands/talk-commands.ts';
import { answerFiner, type Finer, isChoice } from './finer-answer.ts';
import { createLineEditor, type LineEditor } from './line-editor.ts';
import { isTalkBusy, openTalk, type Talk } from './talk.ts';
import { type Answering, answerTyped, endsAnswer } from './typed-answers.ts';

interface InteractiveChatDeps {
  client: GatewayClient;
  wsId: string;
  connection(): ConnectionStatus;
  screen: Screen;
  sheet(): Sheet;
  history: readonly string[];
  onHistory(lines: readonly string[]): void;
  timers: Timers;
  here(): Here;
  /** Writes to the terminal next to what it shows. */
  writeToTerminal(sequence: string): void;
  newKey(): string;
  files: ChatFiles;
  onOpen(talk: Talk): void;
  /** The person is done. */
  onLeave(): void;
}

/** A second Ctrl-C within this time leaves the chat. */
const TWICE_MS = 2_000;
/** A key pressed sooner after a question appeared was not meant as its answer. */
const STARTLE_MS = 400;

/** A chat on a terminal: turns keys into calls, and events of the log into rows. */
export class InteractiveChat {
  readonly #deps: InteractiveChatDeps;
  readonly #editor: LineEditor;
  readonly #commands: CommandFinder;
  readonly #outbox: Outbox<string>;
  readonly talk: Talk;
  #mode: Mode = { kind: 'message' };
  #hint: string | undefined;
  #interruptedMs = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  #askedMs = 0;
  #asked: string | undefined;
  #state = { word: '', sinceMs: 0 };
  #cancelTick: (() => void) | undefined;

  constructor(deps: InteractiveChatDeps) {
    this.#deps = deps;
    const { client, wsId, history, onHistory, screen, sheet, here, newKey, files, onOpen } = deps;
    this.#commands = createCommandFinder({ client, wsId, onChange: () => this.onChange() });
    const complete = (line: string) => this.#commands.find(line).map(({ name }) => name);
    this.#editor = createLineEditor({ history, complete, onHistory });
    this.#outbox = createOutbox({
      send: (line) => this.#attempt(this.#perform(line)),
      onChange: () => this.onChange(),
      onRefused: (lines) => this.#giveBack(lines),
    });
    this.talk = openTalk({
      client,
      wsId,
      screen,
      sheet,
      here,
      newKey,
      files,
      onOpen,
      isInteractive: true,
      grow: () => createMarkdownStream(sheet),
      onChange: () => this.onChange(),
    });
  }

  /** Something changed that the screen may show. */
  onChange(): void {
    const { transcript } = this.talk ?? {};
    if (transcript === undefined) return;
    const { now } = this.#deps.timers;
    const asked = transcript.question?.approvalId;
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.#askedMs = now();
      this.#mode = { kind: 'message' };
    }
    if (!isTalkBusy(this.talk)) this.#isStopping = false;
    const word = `${transcript.state} ${transcript.isWaiting}`;
    if (word !== this.#state.word) this.#state = { word, sinceMs: now() };
    this.#deps.screen.invalidate();
  }

  view(): LiveView {
    const { screen, sheet, timers } = this.#deps;
    this.talk.transcript.flush();
    this.#tickWhileBusy();
    const text = this.#editor.text;
    const situation: ChatSituation = {
      transcript: this.talk.transcript,
      connection: this.#deps.connection(),
      mode: this.#mode,
      editor: this.#mode.kind === 'remark' && this.#mode.remark !== undefined ? NOTHING_TYPED : this.#editor,
      sending: this.#outbox.entries,
      hint: this.#hint,
      wait: this.talk.wait,
      waiting: this.talk.queue.waiting,
      nowMs: this.#deps.here().nowMs,
      seconds: Math.floor((timers.now() - this.#state.sinceMs) / 1000),
      completions: this.#mode.kind === 'message' ? this.#commands.find(text).map(toCompletion) : [],
    };
    const { paint, columns } = sheet();
    return toChatView(situation, { paint, columns, rows: screen.rows });
  }

  onPaste(text: string): void {
    this.#editor.insert(toSafeText(text.replaceAll(/\r\n?/g, '\n')));
    this.onChange();
  }

  onKey(text: string | undefined, key: Key): void {
    this.#hint = undefined;
    if (key.ctrl === true && key.name === 'c') this.#interrupt();
    else if (key.ctrl === true && key.name === 'd' && this.#editor.text === '') this.#deps.onLeave();
    else if (this.#answers(text, key)) this.onChange();
    else if (key.name === 'return' && key.meta !== true) this.#enter();
    else if (key.name === 'return' || key.name === 'enter') this.#editor.insert('\n');
    else this.#editor.press(text, key);
    this.onChange();
  }

  close(): void {
    this.#cancelTick?.();
    this.#editor.close();
    this.talk.close();
  }

  /** Handles a key that concerns the pending question; false for any other key. */
  #answers(text: string | undefined, key: Key): boolean {
    const question = this.talk.transcript.question;
    if (question === undefined) return false;
    const { approvalId } = question;
    switch (this.#mode.kind) {
      case 'always':
        if (text === 'y') this.#decide({ approvalId, approved: true, always: true });
        this.#mode = { kind: 'message' };
        return true;
      case 'rule':
      case 'each':
        return this.#answersFiner(question, this.#mode, text);
      case 'answer':
        return this.#answersTyped(question, this.#mode, key);
      case 'remark':
        return this.#answersRemark(this.#mode, text, key);
      case 'message':
        if (this.#editor.text !== '' || !isChoice(question, text)) return false;
        if (this.#deps.timers.now() - this.#askedMs >= STARTLE_MS) this.#choose(question, text);
        return true;
    }
  }

  #answersTyped(question: Question, mode: Answering, key: Key): boolean {
    if (!endsAnswer(key)) return false;
    const line = this.#editor.take();
    const { next, decision } = key.name === 'escape' ? {} : answerTyped(question, mode, line);
    this.#mode = next ?? { kind: 'message' };
    if (decision) this.#decide({ approvalId: mode.approvalId, ...decision });
    return true;
  }

  #answersRemark(mode: Extract<Mode, { kind: 'remark' }>, text: string | undefined, key: Key): boolean {
    const { approvalId, remark } = mode;
    if (key.name === 'escape') {
      this.#editor.take();
      this.#mode = { kind: 'message' };
      return true;
    }
    if (remark === undefined) {
      if (key.name !== 'return') return false;
      this.#mode = { ...mode, remark: this.#editor.take().trim() };
      return true;
    }
    if (text !== 'y' && text !== 'n') return true;
    this.#decide({ approvalId, approved: text === 'y', ...(remark !== '' && { feedback: remark }) });
    this.#mode = { kind: 'message' };
    return true;
  }

  #choose(question: Question, text: string): void {
    const { approvalId } = question;
    const mode = modeFor(text, approvalId);
    if (text === 'y' || text === 'n') this.#decide({ approvalId, approved: text === 'y' });
    else if (mode) this.#mode = mode;
    else this.talk.transcript.print(toQuestionLines(question, { paint: this.#deps.sheet().paint, room: undefined }));
  }

  #answersFiner(question: Question, mode: Finer, text: string | undefined): boolean {
    const { next, decision } = answerFiner(question, mode, text);
    this.#mode = next ?? { kind: 'message' };
    if (decision) this.#decide({ approvalId: mode.approvalId, ...decision });
    return true;
  }

  #decide(decision: Parameters<Talk['decide']>[0]): void {
    this.#hint = 'deciding…';
    void this.#attempt(this.talk.decide(decision));
  }

  #enter(): void {
    const text = this.#editor.text;
    if (text.endsWith('\\') && this.#editor.cursor === text.length) {
      this.#editor.press(undefined, { name: 'backspace' });
      this.#editor.insert('\n');
      return;
    }
    const line = text.trim();
    if (line === '') return void this.#hurry();
    this.#editor.take();
    const { transcript } = this.talk;
    if (!runLocalCommand(line, { transcript, onLeave: this.#deps.onLeave })) void this.#outbox.add(line);
  }

  /** Ends whatever waits for a time to pass. */
  #hurry(): void {
    this.#deps.client.retryNow();
    const isHeld = this.talk.queue.waiting[0]?.held !== undefined;
    if (this.talk.wait || isHeld) void this.#attempt(this.talk.tryNow());
  }

  async #perform(line: string): Promise<unknown> {
    const { queue, transcript, send, command } = this.talk;
    const print = (lines: readonly string[]) => transcript.print(lines);
    const { sheet, here, writeToTerminal } = this.#deps;
    const own =
      runTalkCommand(line, { talk: this.talk, sheet, here, writeToTerminal }) ??
      runQueueCommand(line, { queue, send, print });
    return own ?? (isCommand(line) ? command(line) : send(line, { queue: true }));
  }

  /** Lines that were not sent are in the prompt again. A command of the terminal is explained by the hint. */
  #giveBack([first = '', ...rest]: readonly string[]): void {
    const unsent = isTalkCommand(first) ? rest : [first, ...rest];
    this.#editor.replace([...unsent, this.#editor.text].filter((text) => text !== '').join('\n'));
  }

  /** Shows a failure in one line, and resolves with false then. */
  #attempt(work: Promise<unknown>): Promise<boolean> {
    const finish = (hint: string | undefined) => {
      this.#hint = hint;
      this.onChange();
      return hint === undefined;
    };
    return work.then(
      () => finish(undefined),
      (error: unknown) => finish(wordsOf(error)),
    );
  }

  #interrupt(): void {
    const nowMs = this.#deps.timers.now();
    if (this.#mode.kind !== 'message' || this.#editor.text !== '') {
      this.#editor.replace('');
      this.#mode = { kind: 'message' };
      return;
    }
    const sinceMs = nowMs - this.#interruptedMs;
    this.#interruptedMs = nowMs;
    if (sinceMs < TWICE_MS) return void this.#deps.onLeave();
    const isBusy = isTalkBusy(this.talk);
    // A run that has not stopped since the last Ctrl-C is abandoned.
    if (isBusy) void this.#attempt(this.talk.cancel(this.#isStopping));
    this.#isStopping = isBusy;
    this.#hint = isBusy ? 'Stopping. Ctrl-C again leaves.' : 'Ctrl-C again or Ctrl-D leaves.';
  }

  #tickWhileBusy(): void {
    this.#cancelTick?.();
    this.#cancelTick = isTalkBusy(this.talk)
      ? this.#deps.timers.after(1_000, () => this.#deps.screen.invalidate())
      : undefined;
  }
}

const NOTHING_TYPED = { text: '', cursor: 0 };

const toCompletion = ({ usage, summary }: { usage: string; summary: string }) => ({ name: usage, summary });
