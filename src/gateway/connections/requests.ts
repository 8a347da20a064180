import type { Contract } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { RequestFrame } from '../../../protocol/frames.ts';
import { CONTRACTS, isMethodName } from '../../../protocol/index.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { check, problemsOf } from '../../../protocol/parse.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { createTokenBucket } from '../../timing/token-bucket.ts';
import type { Principal } from '../auth/principal.ts';
import { type Caller, loggedAs } from '../call.ts';
import type { Dispatch } from '../dispatch.ts';
import type { InboundLimit, LiveSettings } from '../live-settings.ts';
import { readJson } from './json-text.ts';
import type { Outbox } from './outbox.ts';
import { encodeAnswer, encodeRefusal } from './response-frame.ts';
import type { ConnectionSubscriptions } from './subscriptions.ts';

interface RequestsOptions {
  dispatch: Dispatch;
  caller: Pick<Caller, 'principal' | 'signal' | 'address' | 'link' | 'connId'>;
  subscriptions: ConnectionSubscriptions;
  outbox: Pick<Outbox, 'answer' | 'hasRoomFor'>;
  live: Pick<LiveSettings, 'inbound'>;
  /** A request was refused because of the rate limit. */
  onRateLimited(): void;
  /** So many requests in a row were refused that reading should pause for this time. */
  onFlood(restMs: number): void;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

/** Answers the frames of a connection after its handshake, concurrently. */
export interface Requests {
  /** Handles one frame; undefined for a binary one. Must not throw. */
  onText(text: string | undefined): void;
}

export function createRequests(options: RequestsOptions): Requests {
  const { dispatch, caller, subscriptions, outbox, clock, log } = options;
  const bucket = createTokenBucket({ limit: limitOf(caller.principal, options.live), clock });
  const noteAnswered = noteIn(log, { caller, clock });
  let inFlight = 0;
  let refusedInARow = 0;

  function answer(request: RequestFrame): void {
    const { id, method, params } = request;
    const subscribing = subscriptions.during();
    const interim = (payload: unknown) => outbox.answer(encodeAnswer(id, payload));
    const asked = { request, subscribing, startedMs: clock.monotonic() };
    const answered = dispatch(method, params, { ...caller, frameId: id, interim, subscriptions: subscribing });
    if (answered instanceof Promise) void settle(answered, asked);
    else succeed(answered, asked);
  }

  async function settle(answered: Promise<unknown>, asked: Asked): Promise<void> {
    inFlight += 1;
    try {
      succeed(await answered, asked);
    } catch (error) {
      refuse(error, asked);
    } finally {
      inFlight -= 1;
    }
  }

  function succeed(result: unknown, asked: Asked): void {
    try {
      outbox.answer(fitting(encodeAnswer(asked.request.id, result), outbox));
      noteAnswered(asked, 'ok');
      asked.subscribing.start();
    } catch (error) {
      refuse(error, asked);
    }
  }

  function refuse(error: unknown, asked: Asked): void {
    asked.subscribing.takeBack();
    const told = toTold(error, asked, options);
    outbox.answer(encodeRefusal(asked.request.id, told));
    noteAnswered(asked, told.code);
  }

  /** Checks of the connection itself, before the request is looked at. */
  function refusalOf(frame: ReadRequest, waitMs: number): GatewayError | undefined {
    if (waitMs > 0) return new GatewayError('RATE_LIMITED', 'too many requests', { retryAfterMs: waitMs });
    if (frame.kind === 'refused') return frame.error;
    if (frame.request.method === 'connect') {
      return new GatewayError('INVALID_REQUEST', 'connect is only valid as the first request');
    }
    if (inFlight < LIMITS.inFlightPerConnection) return undefined;
    return new GatewayError('BUSY', 'too many requests in flight');
  }

  /** A refusal also costs reading a frame, and all connections share that time. */
  function countRefusals(isRefused: boolean): void {
    refusedInARow = isRefused ? refusedInARow + 1 : 0;
    if (!isRefused) return;
    options.onRateLimited();
    if (refusedInARow % LIMITS.floodRefusals === 0) options.onFlood(Math.min(bucket.fullInMs(), LIMITS.floodRestMs));
  }

  return {
    onText(text) {
      const frame = readRequest(text);
      const waitMs = bucket.take(weightOf(frame));
      countRefusals(waitMs > 0);
      const refusal = refusalOf(frame, waitMs);
      if (refusal) outbox.answer(encodeRefusal(frame.kind === 'read' ? frame.request.id : frame.id, refusal));
      else if (frame.kind === 'read') answer(frame.request);
    },
  };
}

/** Dispatch rejects only with GatewayError. A result that cannot be encoded as JSON fails only here. */
function toTold(
  error: unknown,
  { request: { id, method } }: Asked,
  { caller, log }: Pick<RequestsOptions, 'caller' | 'log'>,
): GatewayError {
  if (error instanceof GatewayError) return error;
  log.error({ err: error, method, ...loggedAs(caller, id) }, 'an answer could not be encoded');
  return new GatewayError('INTERNAL', 'Internal error', { cause: error });
}

/** Writes the same line for an answer as over HTTP. */
const noteIn =
  (log: Log, { caller, clock }: Pick<RequestsOptions, 'caller' | 'clock'>) =>
  ({ request: { id, method }, startedMs }: Asked, outcome: string): void => {
    if (log.isDebugging === false) return;
    const seconds = (clock.monotonic() - startedMs) / 1000;
    log.debug({ ...loggedAs(caller, id), method: nameOf(method), outcome, seconds }, 'a request was answered');
  };

/** Refuses a large answer for a client that does not read, to limit memory. */
function fitting(frame: Buffer, outbox: Pick<Outbox, 'hasRoomFor'>): Buffer {
  if (outbox.hasRoomFor(frame.length)) return frame;
  throw new GatewayError('BUSY', 'this client has too many large answers to read', { retryAfterMs: 1_000 });
}

/** A request in progress. */
interface Asked {
  request: RequestFrame;
  subscribing: ReturnType<ConnectionSubscriptions['during']>;
  startedMs: number;
}

/** Names of clients' own are not written to the log. */
const nameOf = (method: string): string => (isMethodName(method) ? method : 'unknown');

/** The limit for an unpaired machine, which needs few requests. */
const STRANGER: InboundLimit = { burst: LIMITS.requestsPerUnpairedNode, perSecond: 1 / 60 };

const limitOf = (principal: Principal | undefined, live: Pick<LiveSettings, 'inbound'>): (() => InboundLimit) =>
  principal?.source.kind === 'unpaired' ? () => STRANGER : () => live.inbound;

/** The row says how much a method costs: reading pages of a store costs more than asking for the status. */
function weightOf(frame: ReadRequest): number {
  if (frame.kind === 'refused' || !isMethodName(frame.request.method)) return 1;
  const row: Contract = CONTRACTS[frame.request.method];
  return row.weight ?? 1;
}

type ReadRequest = { kind: 'read'; request: RequestFrame } | { kind: 'refused'; id: string; error: GatewayError };

function readRequest(text: string | undefined): ReadRequest {
  const json = readJson(text);
  if (json.kind === 'unreadable') return refusedFrame('invalid', 'not JSON');
  const id = idOf(json.value) ?? 'invalid';
  if (json.kind === 'faulty') return refusedFrame(id, json.problem);
  const frame = check(RequestFrame, json.value);
  return frame.success ? { kind: 'read', request: frame.data } : refusedFrame(id, problemsOf(frame.error));
}

const refusedFrame = (id: string, problem: string): ReadRequest => ({
  kind: 'refused',
  id,
  error: new GatewayError('INVALID_REQUEST', `invalid request frame: ${problem}`),
});

/** The id for the answer to an invalid frame, if it has a valid one. */
function idOf(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
