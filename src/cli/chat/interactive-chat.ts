import type { Key } from 'node:readline';
import { createOutbox, type Outbox } from '../../../protocol/client/outbox.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { createMarkdownStream } from '../terminal/markdown-stream.ts';
import { toQuestionLines } from '../terminal/question-lines.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { LiveView } from '../terminal/screen.ts';
import { QuestionKeys } from './answers/question-keys.ts';
import { followCost } from './chat-cost.ts';
import type { InteractiveChatDeps } from './chat-deps.ts';
import { type ChatSituation, toChatView } from './chat-view.ts';
import { runLocalCommand } from './commands/local-commands.ts';
import { type CommandFinder, createCommandFinder } from './commands/slash-commands.ts';
import { isTalkCommand } from './commands/talk-commands.ts';
import { createLineEditor, type LineEditor } from './input/line-editor.ts';
import { PickerKeys } from './input/picker-keys.ts';
import { toHistoryPicking } from './input/pickings.ts';
import { performLine } from './perform-line.ts';
import { PersonInput } from './person/person-input.ts';
import type { StatusFacts } from './status-line.ts';
import { Stopping } from './stopping-keys.ts';
import { isTabCommand, runTabCommand } from './tabs/tab-commands.ts';
import { isTalkBusy, openTalk, type Talk } from './talk.ts';

/** A chat on a terminal: turns keys into calls, and events of the log into rows. */
export class InteractiveChat {
  readonly #deps: InteractiveChatDeps;
  readonly #editor: LineEditor;
  readonly #commands: CommandFinder;
  readonly #outbox: Outbox<string>;
  readonly talk: Talk;
  readonly #question: QuestionKeys;
  readonly #picker: PickerKeys;
  readonly #person: PersonInput;
  readonly #stopping: Stopping;
  readonly #cost: ReturnType<typeof followCost>;
  #hint: string | undefined;
  #wasBusy = true;
  #state = { word: '', sinceMs: 0 };
  #cancelTick: (() => void) | undefined;

  constructor(deps: InteractiveChatDeps) {
    this.#deps = deps;
    const {
      client,
      wsId,
      history,
      onHistory,
      screen,
      sheet,
      here,
      newKey,
      files,
      onOpen,
      onImages,
      timers,
      writeToTerminal,
    } = deps;
    this.#commands = createCommandFinder({ client, wsId, onChange: () => this.onChange() });
    const complete = (line: string) => this.#commands.find(line).map(({ name }) => name);
    this.#editor = createLineEditor({ history, complete, onHistory });
    this.#editor.insert(deps.draft);
    this.#question = new QuestionKeys({
      editor: this.#editor,
      nowMs: () => timers.now(),
      decide: (decision) => this.#decide(decision),
      showAll: (question) => this.talk.transcript.print(toQuestionLines(question, { ...sheet(), room: undefined })),
    });
    this.#picker = new PickerKeys({
      client,
      send: (line) => this.#take(line),
      draft: (text) => this.#editor.replace(text),
      open: (chosen) => this.#attempt(runTabCommand(`/open ${chosen}`, this.#tabbing())),
    });
    const onChange = () => this.onChange();
    this.#person = new PersonInput({ talk: () => this.talk, editor: this.#editor, files, shell: deps.shell, onChange });
    this.#stopping = new Stopping({
      talk: () => this.talk,
      person: this.#person,
      nowMs: () => timers.now(),
      attempt: (work) => void this.#attempt(work),
      onLeave: deps.onLeave,
    });
    this.#cost = followCost({ client, wsId, onChange });
    this.#outbox = createOutbox({
      send: (line) =>
        this.#attempt(performLine(line, { talk: this.talk, person: this.#person, sheet, here, writeToTerminal })),
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
      onImages,
      isInteractive: true,
      grow: () => createMarkdownStream(sheet),
      onChange: () => this.onChange(),
      onEnd: (error) => this.talk.transcript.print([toSafeText(`(This workstream has ended here: ${wordsOf(error)})`)]),
    });
  }

  /** Something changed that the screen may show. */
  onChange(): void {
    const { transcript } = this.talk ?? {};
    if (transcript === undefined) return;
    const { now } = this.#deps.timers;
    this.#question.watch(transcript.question);
    const isBusy = isTalkBusy(this.talk);
    const isOpen = this.talk.settings.model !== '';
    if (this.#wasBusy && !isBusy && isOpen) this.#cost.read();
    if (isOpen) this.#wasBusy = isBusy;
    if (!isBusy) this.#stopping.reset();
    const word = `${transcript.state} ${transcript.isWaiting}`;
    if (word !== this.#state.word) this.#state = { word, sinceMs: now() };
    this.#deps.screen.invalidate();
  }

  view(): LiveView {
    const { screen, sheet, timers } = this.#deps;
    this.talk.transcript.flush();
    this.#tickWhileBusy();
    const size = { ...sheet(), rows: screen.rows };
    const cards = this.#picker.cards?.lines(size);
    if (cards) return { lines: cards };
    const { mode } = this.#question;
    const situation: ChatSituation = {
      transcript: this.talk.transcript,
      connection: this.#deps.connection(),
      mode,
      editor: this.#editor,
      picker: this.#picker.current,
      facts: this.#facts(),
      sending: this.#outbox.entries,
      hint: this.#hint,
      wait: this.talk.wait,
      waiting: this.talk.queue.waiting,
      nowMs: this.#deps.here().nowMs,
      seconds: Math.floor((timers.now() - this.#state.sinceMs) / 1000),
      running: this.#person.running,
      completions: mode.kind === 'message' ? this.#completions(this.#editor.text) : [],
    };
    return toChatView(situation, size);
  }

  onPaste(text: string): void {
    this.#editor.insert(toSafeText(text.replaceAll(/\r\n?/g, '\n')));
    this.onChange();
  }

  onKey(text: string | undefined, key: Key): void {
    this.#hint = undefined;
    const { question } = this.talk.transcript;
    const isTaken = this.#picker.press(text, key);
    const isCtrlC = key.ctrl === true && key.name === 'c';
    if (!isTaken && isCtrlC) this.#interrupt();
    else if (!isTaken && !(question && this.#question.press(question, text, key))) this.#edit(text, key);
    this.onChange();
    this.#deps.screen.hurry();
  }

  #edit(text: string | undefined, key: Key): void {
    const name = `${key.ctrl === true ? 'ctrl-' : ''}${key.meta === true ? 'alt-' : ''}${key.name ?? ''}`;
    if (key.name === 'escape') this.#hint = this.#stopping.stop() ? 'Stopping.' : undefined;
    else if (name === 'return') this.#enter();
    else if (key.name === 'return' || key.name === 'enter') this.#editor.insert('\n');
    else if (!this.#isCommandKey(name)) this.#editor.press(text, key);
  }

  /** Handles a key that does not edit the line; false for any other key. */
  #isCommandKey(name: string): boolean {
    if (name === 'ctrl-d' && this.#editor.text === '') this.#deps.onLeave();
    else if (name === 'ctrl-r') void this.#attempt(this.#picker.show(toHistoryPicking(this.#editor.history)));
    else if (name === 'ctrl-o') this.#hint = this.#picker.openCards(this.talk.transcript.cards.all);
    else if (/^alt-[1-9]$/.test(name)) void this.#attempt(runTabCommand(`/tab ${name.slice(-1)}`, this.#tabbing()));
    else return name === 'tab' && this.#person.complete();
    return true;
  }

  get draft(): string {
    return this.#editor.text;
  }

  close(): void {
    this.#cancelTick?.();
    this.#person.stop();
    this.#editor.close();
    this.talk.close();
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
    this.#take(line);
  }

  #take(line: string): void {
    const { transcript } = this.talk;
    if (runLocalCommand(line, { transcript, onLeave: this.#deps.onLeave })) return;
    const chosen = this.#picker.openFor(line);
    if (chosen !== undefined) void this.#attempt(chosen);
    else if (isTabCommand(line)) void this.#attempt(runTabCommand(line, this.#tabbing()));
    else void this.#outbox.add(line);
  }

  #tabbing(): Parameters<typeof runTabCommand>[1] {
    const { client, tabs, newKey } = this.#deps;
    return { client, tabs, newKey, workdir: this.talk.settings.workdir, isSending: this.#outbox.entries.length > 0 };
  }

  /** Ends whatever waits for a time to pass. */
  #hurry(): void {
    this.#deps.client.retryNow();
    const isHeld = this.talk.queue.waiting[0]?.held !== undefined;
    if (this.talk.wait || isHeld) void this.#attempt(this.talk.tryNow());
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
    if (this.#question.mode.kind !== 'message' || this.#editor.text !== '') {
      this.#editor.replace('');
      this.#question.leave();
    } else this.#hint = this.#stopping.interrupt() ?? this.#hint;
  }

  #facts(): StatusFacts {
    const { settings, usage } = this.talk;
    const { model, workdir, mode } = settings;
    const { tabs, userHome } = this.#deps;
    return { model, workdir, mode, usage, spent: this.#cost.current, tabs: tabs.rows, userHome };
  }

  #completions(text: string): ChatSituation['completions'] {
    const commands = this.#commands.find(text).map(({ usage, summary }) => ({ name: usage, summary }));
    return [...commands, ...this.#person.offered().map((name) => ({ name: `@${name}`, summary: '' }))];
  }

  #tickWhileBusy(): void {
    this.#cancelTick?.();
    this.#cancelTick =
      isTalkBusy(this.talk) || this.#person.running
        ? this.#deps.timers.after(1_000, () => this.#deps.screen.invalidate())
        : undefined;
  }
}
