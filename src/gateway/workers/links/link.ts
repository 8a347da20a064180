import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import {
  readCancel,
  readError,
  type WrittenCancel,
  type WrittenError,
  writeCancel,
  writeError,
} from './carried-error.ts';
import { createJoin, toPieces } from './message-pieces.ts';
import type { Seal } from './sealed-messages.ts';

/** What was written as JSON. Both ends are the same code, so what one writes fits what the other expects. */
export type Json = ReturnType<typeof JSON.parse>;

/** Questions that one daemon answers another, and news that it tells. */
export interface Link {
  /** Rejects with what the other daemon threw, or with UNAVAILABLE if no answer can come any more. */
  ask(what: string, body: unknown, options?: AskOptions): Promise<Json>;
  tell(what: string, body: unknown): void;
  /** Takes what comes from the other daemon; a message that is not the next one ends the link. */
  take(sealed: Uint8Array): void;
  /** Aborts when the link has ended; nothing is sent or received then. */
  readonly ended: AbortSignal;
  end(why: string): void;
}

export interface AskOptions {
  /** Cancels the question at the other daemon. A stop of a run keeps its kind there. */
  signal?: AbortSignal;
  /** Called with what comes before the answer. */
  onInterim?(body: Json): void;
}

/** What a link does with what it receives. */
export interface LinkHandlers {
  answer(what: string, body: Json, asked: Asked): Promise<unknown>;
  hear(what: string, body: Json): void;
}

export interface Asked {
  /** Aborts when the other daemon no longer wants the answer, and when the link ends. */
  signal: AbortSignal;
  interim(body: unknown): void;
}

interface LinkDeps {
  seal: Seal;
  /** Throws while there is no connection. */
  send(sealed: Uint8Array): void;
  handlers: LinkHandlers;
  clock: Clock;
  log: Log;
}

type Question = { kind: 'ask'; id: number; what: string; body: unknown };
type Reply =
  | { kind: 'interim'; id: number; body: unknown }
  | { kind: 'answer'; id: number; body: unknown }
  | { kind: 'refusal'; id: number; error: WrittenError };
type Frame =
  | Question
  | Reply
  | { kind: 'cancel'; id: number; why: WrittenCancel }
  | { kind: 'tell'; what: string; body: unknown }
  | { kind: 'here' }
  | { kind: 'bye' };
type Write = (frame: Frame) => void;

/** How often each end says that it is there, and after what time it counts as gone. */
const HERE_MS = 1_000;
const SILENT_MS = 4_000;

export function createLink({ seal, send, handlers, clock, log }: LinkDeps): Link {
  const ended = new AbortController();
  const join = createJoin();
  let heardMs = clock.monotonic();
  const end = (why: string, { isTold = false } = {}): void => {
    if (ended.signal.aborted) return;
    if (!isTold) sayBye();
    log.debug({ why }, 'a link to another daemon has ended');
    ended.abort(new Error(why));
  };
  const sayBye = (): void => {
    try {
      for (const piece of toPieces(Buffer.from(JSON.stringify({ kind: 'bye' })))) send(seal.close(piece));
    } catch {
      // the other daemon notices the silence
    }
  };
  const write: Write = (frame) => {
    if (ended.signal.aborted) return;
    const text = Buffer.from(JSON.stringify(frame)); // may throw, which concerns this frame alone
    try {
      for (const piece of toPieces(text)) send(seal.close(piece));
    } catch (error) {
      end(error instanceof Error ? error.message : 'it cannot be reached');
    }
  };
  const questions = createQuestions(write, ended.signal);
  const answers = createAnswers(write, ended.signal, { handlers, log });
  const receive = (frame: Frame): void => {
    if (frame.kind === 'ask') void answers.give(frame);
    else if (frame.kind === 'cancel') answers.cancel(frame.id, frame.why);
    else if (frame.kind === 'tell') handlers.hear(frame.what, frame.body);
    else if (frame.kind === 'bye') end('the other daemon has ended it', { isTold: true });
    else if (frame.kind === 'interim' || frame.kind === 'answer' || frame.kind === 'refusal') questions.take(frame);
  };
  const watch = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      write({ kind: 'here' });
      await clock.sleep(HERE_MS, ended.signal).catch(() => undefined); // ended: the loop ends
      if (clock.monotonic() - heardMs > SILENT_MS) end('it is silent');
    }
  };
  void watch();
  return {
    ask: questions.ask,
    tell: (what, body) => write({ kind: 'tell', what, body }),
    take(sealed) {
      if (ended.signal.aborted) return;
      try {
        const text = join(seal.open(sealed));
        heardMs = clock.monotonic();
        if (text) receive(JSON.parse(text.toString()));
      } catch (error) {
        end(error instanceof Error ? error.message : 'a message cannot be read');
      }
    },
    ended: ended.signal,
    end: (why) => end(why),
  };
}

interface Waiting extends PromiseWithResolvers<Json> {
  onInterim: AskOptions['onInterim'];
}

/** What this daemon has asked. */
function createQuestions(write: Write, ended: AbortSignal) {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  ended.addEventListener('abort', () => {
    for (const { reject } of waiting.values()) reject(lost(ended));
    waiting.clear();
  });
  return {
    ask(what: string, body: unknown, { signal, onInterim }: AskOptions = {}): Promise<Json> {
      if (ended.aborted) return Promise.reject(notSent());
      asked += 1;
      const id = asked;
      const one: Waiting = { ...Promise.withResolvers<Json>(), onInterim };
      waiting.set(id, one);
      const cancel = () => write({ kind: 'cancel', id, why: writeCancel(signal?.reason) });
      signal?.addEventListener('abort', cancel);
      write({ kind: 'ask', id, what, body });
      if (signal?.aborted) cancel();
      return one.promise.finally(() => signal?.removeEventListener('abort', cancel));
    },
    take(reply: Reply): void {
      const one = waiting.get(reply.id);
      if (reply.kind === 'interim') {
        one?.onInterim?.(reply.body);
        return;
      }
      waiting.delete(reply.id);
      if (reply.kind === 'answer') one?.resolve(reply.body);
      else one?.reject(readError(reply.error));
    },
  };
}

/** What the other daemon has asked. */
function createAnswers(write: Write, ended: AbortSignal, { handlers, log }: Pick<LinkDeps, 'handlers' | 'log'>) {
  const asked = new Map<number, AbortController>();
  return {
    async give({ id, what, body }: Question): Promise<void> {
      const gone = new AbortController();
      asked.set(id, gone);
      const interim = (early: unknown) => write({ kind: 'interim', id, body: early });
      const signal = AbortSignal.any([gone.signal, ended]);
      try {
        write({ kind: 'answer', id, body: await handlers.answer(what, body, { signal, interim }) });
      } catch (error) {
        write({ kind: 'refusal', id, error: writeError(error, log) });
      } finally {
        asked.delete(id);
      }
    },
    cancel: (id: number, why: WrittenCancel): void => asked.get(id)?.abort(readCancel(why)),
  };
}

/** Perhaps it was carried out. A repeat with the same idempotency key finds out. */
const lost = ({ reason }: AbortSignal): GatewayError =>
  new GatewayError(
    'UPSTREAM_FAILED',
    'The machine of this workstream was lost before it answered. It may have carried out the request: check before you send it again.',
    { cause: reason },
  );

const notSent = () =>
  new GatewayError('UNAVAILABLE', 'The other machine cannot be reached now', { retryAfterMs: 1_000 });
