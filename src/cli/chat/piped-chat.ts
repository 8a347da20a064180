import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Here } from '../local-time.ts';
import { createPlainStream } from '../terminal/markdown-stream.ts';
import { toQuestionLines } from '../terminal/question-lines.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Sheet } from '../terminal/sheet.ts';
import type { ChatFiles } from './chat-files.ts';
import { isCommand, isQuit } from './commands/slash-commands.ts';
import { isTalkCommand, runTalkCommand } from './commands/talk-commands.ts';
import { isTalkBusy, openTalk, type Talk } from './talk.ts';

interface PipedChatDeps {
  client: GatewayClient;
  wsId: string;
  screen: Screen;
  sheet(): Sheet;
  newKey(): string;
  files: ChatFiles;
  here(): Here;
  /** Prints a line that is not part of the conversation. */
  tell(line: string): void;
}

/** How a chat over pipes ended. `unanswered`: the input ended while an approval was pending. */
export type PipedEnd = 'done' | 'unanswered';

/** A chat over pipes: each line of input is a message, or the answer to a question. */
export class PipedChat {
  readonly #deps: PipedChatDeps;
  readonly talk: Talk;
  #waiters: (() => void)[] = [];
  /** Nothing more will come. */
  #end: { error: unknown } | undefined;
  /** Whether a run was in progress since the last message. A short one may end before the message is answered. */
  #wasBusy = false;

  /** The workstream was closed, hidden or unloaded, so that its events may have ended. */
  #isClosed = false;
  readonly #stopListening: () => void;

  constructor(deps: PipedChatDeps) {
    this.#deps = deps;
    const { client, wsId, screen, sheet, here, newKey, files } = deps;
    this.talk = openTalk({
      client,
      wsId,
      screen,
      sheet,
      here,
      newKey,
      files,
      isInteractive: false,
      grow: createPlainStream,
      onChange: () => this.#onChange(),
      onEnd: (error) => {
        this.#end = { error };
        this.#onChange();
      },
    });
    this.#stopListening = client.on('workstream.closed', (closed) => {
      if (closed.wsId !== wsId) return;
      this.#isClosed = true;
      this.#onChange();
    });
  }

  /** Reads all input. Each message is sent once the answer to the previous one is complete. */
  async run(lines: AsyncIterable<string>): Promise<PipedEnd> {
    let begun = '';
    for await (const line of lines) {
      begun += line.endsWith('\\') ? `${line.slice(0, -1)}\n` : line;
      if (line.endsWith('\\')) continue;
      if (isQuit(begun.trim())) return this.#result();
      await this.#take(begun.trim());
      begun = '';
    }
    await this.#take(begun.trim());
    return this.#result();
  }

  close(): void {
    this.#stopListening();
    this.talk.close();
  }

  #result(): PipedEnd {
    return this.talk.transcript.question === undefined ? 'done' : 'unanswered';
  }

  async #take(line: string): Promise<void> {
    if (line === '') return;
    const { snapshots, transcript } = this.talk;
    const { question } = transcript;
    const { sheet, here } = this.#deps;
    this.#wasBusy = false;
    if (question) await this.#answer(question.approvalId, line);
    else if (isTalkCommand(line)) await runTalkCommand(line, { talk: this.talk, sheet, here });
    else if (isCommand(line)) await this.talk.command(line);
    else if ((await this.talk.send(line)) === 'busy') this.#deps.tell('Still answering: the message was not sent.');
    else await this.#untilBegun(snapshots);
    await this.#until(() => !isTalkBusy(this.talk) || this.talk.transcript.question !== undefined);
    if (this.talk.transcript.question)
      this.#deps.tell('Answer with a line: y, n, n followed by a reason, or v to view everything.');
  }

  async #answer(approvalId: string, line: string): Promise<void> {
    if (/^v(iew)?$/i.test(line)) {
      this.#showAll();
      return;
    }
    const [, word = '', feedback = ''] = /^(y|yes|n|no)(?:\s+(\S.*)?)?$/is.exec(line) ?? [];
    if (word === '') {
      this.#deps.tell('An approval is pending. Answer y, n, n followed by a reason, or v to view everything.');
      return;
    }
    const approved = word.toLowerCase().startsWith('y');
    await this.talk.decide({ approvalId, approved, ...(feedback !== '' && { feedback }) });
    await this.#until(() => this.talk.transcript.question?.approvalId !== approvalId);
  }

  /** A run may begin and end while the connection is lost: then only the daemon knows of it. */
  async #untilBegun(snapshotsBefore: number): Promise<void> {
    for (let seen = snapshotsBefore; ; seen = this.talk.snapshots) {
      await this.#until(() => this.#wasBusy || this.talk.snapshots > seen);
      if (this.#wasBusy || (await this.talk.hasEnded())) return;
    }
  }

  #showAll(): void {
    const { transcript } = this.talk;
    if (!transcript.question) return;
    transcript.print(toQuestionLines(transcript.question, { ...this.#deps.sheet(), room: undefined }));
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#end) throw this.#end.error;
      // Only while something is awaited: it would load a workstream again that made room for others.
      if (this.#isClosed) this.talk.followAgain();
      this.#isClosed = false;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  #onChange(): void {
    this.talk?.transcript.flush();
    this.#wasBusy ||= this.talk !== undefined && isTalkBusy(this.talk);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
