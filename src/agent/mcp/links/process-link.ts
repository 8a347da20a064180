import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Clock } from '../../../clock.ts';
import type { Dialogue } from '../../process/gate.ts';
import type { ProcessHooks, ProcessResult } from '../../process/runner.ts';
import { StopReason } from '../../stop-reason.ts';
import { createMessageLines, TooLong } from './message-lines.ts';
import { createUnaskedLimit, TOO_MANY_UNASKED } from './unasked-limit.ts';

/** Runs the program of a server until it ends or the signal aborts. */
export type StartProgram = (
  hooks: Pick<ProcessHooks, 'signal' | 'onOutput'>,
  dialogue: Dialogue,
) => Promise<ProcessResult>;

interface LinkDeps {
  clock: Clock;
  /** Secrets are no part of what people read. */
  clean(text: string): string;
}

/** One message; images come as text in it. */
const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;
/** More than all calls at once should need. */
const MOST_UNREAD_BYTES = 64 * 1024 * 1024;
/** Some programs greet before they speak the protocol. */
const MOST_ODD_LINES = 100;
/** How many messages are read before others get their turn. */
const AT_ONCE = 50;
const MOST_ERROR_TEXT = 2_000;

/**
 * A connection to a server over the streams of its process. A message that is too long, too many that nobody asked for, lines
 * that are no messages, and too much that it does not read end the process: whatever it says then, the daemon goes on.
 */
export class ProcessLink implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #start: StartProgram;
  readonly #deps: LinkDeps;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<string>();
  readonly #lines = createMessageLines(MOST_MESSAGE_BYTES);
  readonly #isTooMany: ReturnType<typeof createUnaskedLimit>;
  #input: Writable | undefined;
  #problem: string | undefined;
  #errors = '';
  #odd = 0;
  #read = 0;
  #isStarted = false;

  constructor(start: StartProgram, deps: LinkDeps) {
    this.#start = start;
    this.#deps = deps;
    this.#isTooMany = createUnaskedLimit(deps.clock);
  }

  /** Resolves when the process has ended, with the reason for people. Never rejects. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  async start(): Promise<void> {
    if (this.#isStarted) throw new Error('a link starts once');
    this.#isStarted = true;
    const opened = Promise.withResolvers<void>();
    void this.#run(opened.resolve).then((reason) => {
      opened.reject(new Error(reason));
      this.#ended.resolve(reason);
      this.onclose?.();
    });
    await opened.promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#input?.writable) throw new Error('the server has ended');
    if (this.#input.writableLength > MOST_UNREAD_BYTES) {
      this.#end('does not read its standard input');
      throw new Error('the server has ended');
    }
    this.#input.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves when no process of it is left. */
  async close(): Promise<void> {
    this.#stop.abort(new StopReason('shutdown', 'no longer needed'));
    if (this.#isStarted) await this.#ended.promise;
  }

  async #run(onOpen: () => void): Promise<string> {
    try {
      const hooks = { signal: this.#stop.signal, onOutput: (bytes: Buffer) => this.#receive(bytes) };
      const result = await this.#start(hooks, {
        onInput: (input) => {
          this.#input = input;
          onOpen();
        },
        onErrorOutput: (bytes) => {
          this.#errors = `${this.#errors}${bytes.toString('utf8')}`.slice(-MOST_ERROR_TEXT);
        },
      });
      return this.#toReason(this.#problem ?? endOf(result));
    } catch (error) {
      return this.#toReason(this.#problem ?? `could not be started (${wordsOf(error)})`);
    }
  }

  #toReason(words: string): string {
    const said = this.#errors.trim().split('\n').slice(-3).join('\n').slice(-500);
    return this.#deps.clean(said === '' ? words : `${words}. It said: ${said}`);
  }

  /** The process waits while this is pending. */
  async #receive(bytes: Buffer): Promise<void> {
    if (this.#problem !== undefined) return;
    try {
      for (const line of this.#lines.write(bytes)) {
        this.#receiveLine(line);
        await undefined; // the client handles progress a moment later, and the answer after it at once
        this.#read += 1;
        if (this.#problem !== undefined) return;
        if (this.#read % AT_ONCE === 0) await setImmediate();
      }
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      this.#end(`sent a message of more than ${MOST_MESSAGE_BYTES / 1024 / 1024} MiB`);
    }
  }

  #receiveLine(line: string): void {
    const message = toMessage(line);
    if (message === undefined) {
      this.#odd += 1;
      if (this.#odd > MOST_ODD_LINES) this.#end('writes text to its standard output that is no message');
      return;
    }
    if (this.#isTooMany(message)) {
      this.#end(TOO_MANY_UNASKED);
      return;
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end(problem: string): void {
    this.#problem = problem;
    this.#stop.abort(new StopReason('failure', problem));
  }
}

function endOf(result: ProcessResult): string {
  switch (result.kind) {
    case 'exited':
      return `ended with exit code ${result.exitCode}${result.limit === undefined ? '' : ' at a limit of the sandbox'}`;
    case 'killed':
      return `was ended by ${result.signal}${result.limit === undefined ? '' : ' at a limit of the sandbox'}`;
    case 'stopped':
      return 'was stopped';
    case 'failed':
      return result.message;
  }
}

/** Undefined: it is none. The client checks the rest. */
function toMessage(line: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isMessage(value) ? value : undefined;
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false;
  const hasId = 'id' in value && (typeof value.id === 'string' || typeof value.id === 'number');
  if ('method' in value) return typeof value.method === 'string' && (hasId || !('id' in value)) && hasParams(value);
  return hasId && ('result' in value || 'error' in value);
}

const hasParams = (value: object): boolean =>
  !('params' in value) || (typeof value.params === 'object' && value.params !== null && !Array.isArray(value.params));
