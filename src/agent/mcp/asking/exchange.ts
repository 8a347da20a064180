import { isRecord } from '../../../../protocol/is-record.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Clock } from '../../../clock.ts';
import type { withDeadline } from '../../process/deadline.ts';
import { StopReason } from '../../stop-reason.ts';
import { CallInterrupted } from '../../subagents/call-interrupted.ts';
import type { ToolRun } from '../../tools/tool.ts';
import type { ElicitResult, InputNeeded, ServerAnswer, ServerCall, ServerReply } from '../session.ts';
import { type AskOne, askPerson } from './ask-person.ts';

export interface Exchanged {
  server: string;
  wsId: string;
  method: ServerCall['method'];
  params: ServerCall['params'];
  send(call: ServerCall): Promise<ServerReply>;
  onProgress(line: string): void;
  /** Called with the reason when a question of the server was not shown. */
  onRefused(why: string): void;
  run: Pick<ToolRun, 'signal' | 'inputs'>;
  /** Of the time that the server itself may take. */
  deadline: ReturnType<typeof withDeadline>;
  clock: Clock;
}

const MOST_ROUNDS = 10;
const MOST_AT_ONCE = 5;
/** What one call may put to a person. */
const MOST_QUESTIONS = 20;
const MOST_RESUME_CHARS = 64 * 1024;
const PAUSE_MS = 250;

/**
 * Sends a request until the server answers it, with what the person said to its questions in between. A question that comes
 * as an answer holds nothing open, so the exchange goes on from it after a restart.
 */
export async function exchange(exchanged: Exchanged): Promise<ServerAnswer> {
  const questions = new Questions(exchanged);
  const { resumed } = exchanged.run.inputs ?? {};
  let needed = resumed && toNeeded(resumed.resume);
  let round = resumed?.round ?? 0;
  for (let rounds = 0; rounds <= MOST_ROUNDS; rounds += 1) {
    const more = needed ? await questions.answer(needed, round) : {};
    if (needed) round += 1;
    const reply = await questions.send({ ...exchanged.params, ...more });
    if (reply.kind === 'done') return reply.answer;
    needed = reply;
  }
  throw new Error(`still asks after ${MOST_ROUNDS} rounds of answers`);
}

function toNeeded(text: string): InputNeeded | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || !isRecord(value.requests)) return undefined;
  return { requests: value.requests, state: typeof value.state === 'string' ? value.state : undefined };
}

class Questions {
  readonly #exchanged: Exchanged;
  #count = 0;

  constructor(exchanged: Exchanged) {
    this.#exchanged = exchanged;
  }

  /** Sends the request. Questions that the server asks meanwhile end with it. */
  async send(params: ServerCall['params']): Promise<ServerReply> {
    const { wsId, method, send, onProgress, deadline } = this.#exchanged;
    const over = new AbortController();
    const asking = new Set<Promise<unknown>>();
    const onAsked = (asked: unknown, signal: AbortSignal): Promise<ElicitResult> => {
      const answer = this.#ask(asked, { round: 0, signal: AbortSignal.any([signal, over.signal]) });
      asking.add(answer);
      return answer;
    };
    try {
      return await send({ method, params, wsId, signal: deadline.signal, onProgress, onAsked });
    } finally {
      over.abort(new StopReason('cancel', 'the call is over'));
      await Promise.allSettled(asking);
    }
  }

  /** The parameters of the next request. */
  async answer(needed: InputNeeded, round: number): Promise<Record<string, unknown>> {
    const { requests, state } = needed;
    const { deadline, clock } = this.#exchanged;
    const entries = Object.entries(requests);
    if (entries.length > MOST_AT_ONCE)
      throw new Error(`asks ${entries.length} things at once, more than ${MOST_AT_ONCE}`);
    if (entries.length === 0) await clock.sleep(PAUSE_MS, deadline.signal);
    const text = JSON.stringify(needed);
    const resume = text.length <= MOST_RESUME_CHARS ? { resume: text } : {};
    const responses: [string, ElicitResult][] = [];
    for (const [key, request] of entries) responses.push([key, await this.#answerOne(request, { round, ...resume })]);
    return {
      ...(responses.length > 0 && { inputResponses: Object.fromEntries(responses) }),
      ...(state !== undefined && { requestState: state }),
    };
  }

  async #answerOne(request: unknown, at: { round: number; resume?: string }): Promise<ElicitResult> {
    if (!isRecord(request) || request.method !== 'elicitation/create') throw new Error(refused(request));
    const { run, deadline } = this.#exchanged;
    try {
      return await this.#ask(request.params, { ...at, signal: deadline.signal });
    } catch (error) {
      if (isShutdown(run.signal) && at.resume !== undefined) throw new CallInterrupted('the daemon stops');
      throw error;
    }
  }

  async #ask(
    params: unknown,
    { signal, ...at }: { round: number; resume?: string; signal: AbortSignal },
  ): Promise<ElicitResult> {
    const { server, run, deadline, onRefused } = this.#exchanged;
    const ask: AskOne = async (question) => {
      if (!run.inputs) return { kind: 'left' };
      this.#count += 1;
      if (this.#count > MOST_QUESTIONS) {
        onRefused(`it was more than the ${MOST_QUESTIONS} questions that one call may ask`);
        return { kind: 'left' };
      }
      return run.inputs.ask({ from: `the tool server ${server} asks`, question, ...at }, signal);
    };
    return await deadline.paused(() => askPerson(params, { server, ask, onRefused }));
  }
}

const isShutdown = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof StopReason && reason.kind === 'shutdown';

const refused = (request: unknown): string => {
  const method = isRecord(request) && typeof request.method === 'string' ? request.method : 'something unknown';
  return `asks for ${toVisibleLine(method.slice(0, 80))}, which is refused`;
};
