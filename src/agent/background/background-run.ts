import type { BackgroundCommand, BackgroundEnd } from '../../../protocol/events/background-command.ts';
import type { RefusedHost } from '../../../protocol/events/command-result.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { until } from '../../timing/until.ts';
import { createGuardedBytes } from '../guard/guarded-bytes.ts';
import type { GuardedText, OutputGuard } from '../guard/output-guard.ts';
import type { ToolMessage } from '../message.ts';
import { withDeadline } from '../process/deadline.ts';
import type { ProcessHooks, ProcessResult } from '../process/runner.ts';
import { StopReason } from '../stop-reason.ts';
import { limitOf, toPlantedText } from '../tools/command-ending.ts';
import type { BackgroundOutput } from './background-output.ts';
import type { BackgroundRecords, StoredCommand } from './background-store.ts';
import { toShownCommand } from './shown-command.ts';

/** A command that is to run in the background. */
export interface NewBackgroundCommand {
  wsId: string;
  callId: string;
  command: string;
  timeoutMs: number;
  /** What its output brings into the conversation that nobody trusts. */
  taint: ToolMessage['taint'];
  /** Runs it. */
  run(hooks: ProcessHooks): Promise<ProcessResult>;
  /** The hosts that it did not reach so far. */
  refused(): readonly RefusedHost[];
}

export interface RunDeps {
  records: Pick<BackgroundRecords, 'started' | 'changed'>;
  guard: Pick<OutputGuard, 'open' | 'clean'>;
  clock: Clock;
  log: Log;
}

/** What a reader waits for. */
export interface Awaited {
  /** Undefined: the end. */
  text: string | undefined;
  ms: number;
  signal: AbortSignal;
}

/** Between two reports of new output: at first, and at most. */
const FIRST_REPORT_MS = 1_000;
const LAST_REPORT_MS = 30_000;
const RETRY_MS = 1_000;

/** A background command while the daemon knows its process, and until the model has read its end. */
export class BackgroundRun {
  readonly id: string;
  readonly wsId: string;
  /** Resolves when it has ended and that is stored, or the store refuses it for now. Never rejects. */
  readonly ended: Promise<void>;
  readonly taint: ToolMessage['taint'];
  readonly #new: NewBackgroundCommand;
  readonly #deps: RunDeps;
  readonly #output: BackgroundOutput;
  readonly #guarded: GuardedText;
  readonly #stopping = new AbortController();
  readonly #over = new AbortController();
  readonly #abandoned = new AbortController();
  readonly #listeners = new Set<(piece: string) => void>();
  readonly #started = Promise.withResolvers<void>();
  readonly #startedMs: number;
  readonly #command: string;
  #stopped: BackgroundEnd | undefined;
  #ending: Partial<BackgroundCommand> | undefined;
  /** It may be stored: the database may have done what it did not confirm. */
  #mayBeStored = false;
  #isStarted = false;
  #isEndStored = false;
  /** Why it could not be started. */
  #failure: string | undefined;
  #isReporting = false;
  #reportMs = FIRST_REPORT_MS;
  /** The model knows that it has ended, or need not. */
  isTold = false;

  constructor(
    id: string,
    { command, output }: { command: NewBackgroundCommand; output: BackgroundOutput },
    deps: RunDeps,
  ) {
    this.id = id;
    this.wsId = command.wsId;
    this.taint = command.taint;
    this.#new = command;
    this.#output = output;
    this.#deps = deps;
    this.#guarded = deps.guard.open();
    this.#startedMs = deps.clock.now();
    this.#command = toShownCommand(command.command, deps.guard.clean);
    this.#started.promise.catch(() => undefined); // still rejects for `start`
    this.ended = this.#run();
  }

  /** Resolves when the command is stored and runs; with why it does not, if it could not be started. */
  async started(): Promise<string | undefined> {
    await Promise.race([this.#started.promise, this.ended]);
    return this.#isStarted ? undefined : (this.#failure ?? 'The command could not be started.');
  }

  /** Nothing is left to be stored. */
  get isSettled(): boolean {
    return this.#isEndStored || (!this.isRunning && !this.#mayBeStored);
  }

  get isRunning(): boolean {
    return this.#ending === undefined;
  }

  get guarded(): Pick<GuardedText, 'found' | 'isRedacted'> {
    return this.#guarded;
  }

  get state(): BackgroundCommand {
    const { callId, timeoutMs } = this.#new;
    const refused = this.#refused();
    return {
      command_id: this.id,
      call_id: callId,
      command: this.#command,
      state: this.isRunning ? 'running' : 'ended',
      started_ms: this.#startedMs,
      until_ms: this.#startedMs + timeoutMs,
      ...this.#ending,
      ...(refused.length > 0 && { refused_hosts: refused }),
      output_bytes: this.#output.bytes,
      last_output: this.#output.lastLines(),
    };
  }

  get stored(): StoredCommand {
    const outputName = this.#output.kept()?.name;
    return { wsId: this.wsId, state: this.state, taint: this.taint, outputName, isTold: this.isTold };
  }

  /** How long it has run, or ran. */
  get ranMs(): number {
    return (this.#ending?.ended_ms ?? this.#deps.clock.now()) - this.#startedMs;
  }

  /** Ends it with everything that it has started; nothing if it has ended. Resolves when that is stored. */
  async stop(end: BackgroundEnd): Promise<void> {
    if (this.isRunning && this.#stopped === undefined) {
      this.#stopped = end;
      this.#stopping.abort(new StopReason(end === 'shutdown' ? 'shutdown' : 'cancel', `it was ended: ${end}`));
    }
    await this.ended;
  }

  /** Gives up storing its end, because the store is being closed. The next start finds it and ends it. */
  abandon(): void {
    this.#abandoned.abort(new Error('the daemon stops'));
  }

  /** What it has printed since the last call. */
  takeNew(maxBytes: number): string {
    return this.#output.takeNew(maxBytes);
  }

  /** Waits for a text in the output that was not taken yet, or for the end. Rejects when the signal aborts. */
  async waitFor({ text, ms, signal }: Awaited): Promise<'ended' | 'found' | 'time'> {
    const found = Promise.withResolvers<'found'>();
    const listener = text === undefined ? undefined : this.#finder(text, () => found.resolve('found'));
    if (listener) this.#listeners.add(listener);
    const isOver = this.ended.then(() => 'ended' as const);
    using deadline = withDeadline(signal, { clock: this.#deps.clock, ms });
    try {
      return await until(Promise.race([found.promise, isOver]), deadline.signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return 'time';
    } finally {
      if (listener) this.#listeners.delete(listener);
    }
  }

  #finder(text: string, onFound: () => void): (piece: string) => void {
    const { head, tail } = this.#output.unread();
    if (head.includes(text) || tail.includes(text)) onFound();
    let held = tail.slice(1 - text.length || tail.length);
    return (piece) => {
      const whole = held + piece;
      if (whole.includes(text)) onFound();
      held = whole.slice(1 - text.length || whole.length);
    };
  }

  async #run(): Promise<void> {
    const bytes = createGuardedBytes(this.#guarded);
    const result = await this.#new
      .run({
        signal: this.#stopping.signal,
        onProcess: async (process) => {
          this.#mayBeStored = true;
          // With the name of the file: if the daemon is killed, the output is found although none was reported.
          await this.#deps.records.started({ ...this.stored, outputName: this.#output.fileName }, process);
          this.#isStarted = true;
          this.#started.resolve();
        },
        onOutput: (piece) => this.#print(bytes.write(piece)),
      })
      .catch((error: unknown): ProcessResult => this.#failedBy(error));
    await this.#print(bytes.end());
    await this.#print(Buffer.from(toPlantedText(result)));
    await this.#output.close();
    this.#ending = { ...this.#endingOf(result), ended_ms: this.#deps.clock.now() };
    this.#over.abort(new Error('it has ended'));
    if (!this.#isStarted) this.isTold = true; // as the result of the call
    if (this.#mayBeStored && !(await this.#recordEnd())) void this.#recordEndLater();
  }

  #failedBy(error: unknown): ProcessResult {
    this.#deps.log.warn(
      { err: error, commandId: this.id, wsId: this.wsId },
      'a background command failed unexpectedly',
    );
    return { kind: 'failed', message: 'The command could not be recorded, so it was not run.' };
  }

  async #print(piece: Buffer): Promise<void> {
    if (piece.length === 0) return;
    await this.#output.write(piece);
    const text = this.#listeners.size > 0 ? piece.toString('utf8') : '';
    for (const listener of this.#listeners) listener(text);
    if (!this.#isReporting) void this.#report();
  }

  /** Reports new output, less and less often. */
  async #report(): Promise<void> {
    this.#isReporting = true;
    const { clock, records, log } = this.#deps;
    try {
      await clock.sleep(this.#reportMs, this.#over.signal);
      this.#isReporting = false;
      this.#reportMs = Math.min(2 * this.#reportMs, LAST_REPORT_MS);
      if (this.isRunning && this.#isStarted) await records.changed(this.stored);
    } catch (error) {
      if (!this.#over.signal.aborted) log.warn({ err: error, commandId: this.id }, 'new output could not be reported');
    }
  }

  #refused(): RefusedHost[] {
    const { guard } = this.#deps;
    // A command may put what it has read into the name of a host.
    return this.#new.refused().map((one) => ({ ...one, host: guard.clean(one.host) }));
  }

  #endingOf(result: ProcessResult): Pick<BackgroundCommand, 'end' | 'exit_code' | 'limit'> {
    const limit = limitOf(result);
    switch (result.kind) {
      case 'exited':
        return { end: 'exited', exit_code: result.exitCode, ...(limit && { limit }) };
      case 'killed':
        return { end: 'signal', ...(limit && { limit }) };
      case 'stopped':
        return { end: result.reason.kind === 'timeout' ? 'timeout' : (this.#stopped ?? 'killed') };
      case 'failed':
        this.#failure = result.message;
        return { end: 'failed' };
    }
  }

  async #recordEnd(): Promise<boolean> {
    const { records, log } = this.#deps;
    try {
      await records.changed(this.stored);
      this.#isEndStored = true;
      return true;
    } catch (error) {
      log.warn({ err: error, commandId: this.id }, 'the end of a background command could not be recorded; retrying');
      return false;
    }
  }

  async #recordEndLater(): Promise<void> {
    const { signal } = this.#abandoned;
    do
      await this.#deps.clock.sleep(RETRY_MS, signal).catch(() => undefined); // the daemon stops
    while (!signal.aborted && !(await this.#recordEnd()));
  }
}
