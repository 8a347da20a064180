import type { Result } from '../../protocol/index.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import { systemClock } from '../../src/clock.ts';
import type { Call, Recorded } from '../checker/linear/history.ts';
import type { Random } from '../checker/random.ts';
import type { Outcome, Wire } from './wires.ts';

/** What all clients of a workstream know together. */
export interface Shared {
  wsId: string;
  /** All calls so far, in the order of their answers. */
  calls: Recorded[];
  /** The newest at the end. */
  approvals: Set<string>;
  /** A new, unused word. */
  next(): string;
}

interface Acting {
  client: string;
  shared: Shared;
  wire: Wire;
  random: Random;
}

/** A call with a key, and how to make it again. */
export type Keyed = (wire: Wire) => Promise<void>;

/** Makes a call, and records what it meant. `toCall` returns undefined if the answer has no meaning. */
async function record(
  { client, shared, wire }: Omit<Acting, 'random'>,
  { method, params }: { method: string; params: object },
  toCall: (outcome: Outcome) => Call | undefined,
): Promise<void> {
  const fromMs = performance.now();
  const place = method === 'approval.resolve' ? {} : { wsId: shared.wsId };
  const outcome = await wire.ask(method, { ...place, ...params });
  const call = outcome.kind === 'unsent' ? undefined : toCall(outcome);
  const toMs = outcome.kind === 'lost' ? undefined : performance.now();
  if (call) shared.calls.push({ ...call, wsId: shared.wsId, client, fromMs, toMs });
}

/** Records what the log of a workstream says; `fromMs` is when it was asked for. */
export function hear({ client, shared }: Pick<Acting, 'client' | 'shared'>, event: StreamEvent, fromMs: number): void {
  const about = { wsId: shared.wsId, client, fromMs, toMs: performance.now() };
  if (event.type === 'approve_request') {
    shared.approvals.add(event.approval_id);
    shared.calls.push({ kind: 'asked', approvalId: event.approval_id, ...about });
  }
  if (event.type !== 'approval_resolved') return;
  const { approval_id: approvalId, approved, feedback, by } = event;
  const mark = by.kind === 'cancel' ? undefined : feedback;
  shared.calls.push({ kind: 'decided', approvalId, approved, mark, ...about });
}

/** Acts until the signal aborts or the connection ends. Calls with a lost answer are in `keyed` then. */
export async function act(acting: Acting, keyed: Keyed[], signal: AbortSignal): Promise<void> {
  const { random, wire } = acting;
  for (const again of keyed.filter(() => random.chance(0.5))) await again(wire);
  while (!signal.aborted) {
    await doSomething(acting, keyed);
    await systemClock.sleep(random.int(0, 12), signal).catch(() => undefined); // it is over
  }
}

function doSomething(acting: Acting, keyed: Keyed[]): Promise<void> {
  const { random, wire, shared } = acting;
  const mood = random.fraction();
  if (mood < 0.03) return cancel(acting);
  if (mood < 0.18) return send(acting, keyed);
  if (mood < 0.28 && keyed.length > 0) return random.pick(keyed)(wire);
  if (mood < 0.65 && shared.approvals.size > 0) return decide(acting, keyed);
  return look(acting);
}

function send({ client, shared, wire: first }: Acting, keyed: Keyed[]): Promise<void> {
  const text = `m-${shared.next()}`;
  const params = { message: text, idempotencyKey: `key-${text}`, ...(!first.isHttp && { queue: true }) };
  const again: Keyed = (wire) =>
    record({ client, shared, wire }, { method: 'workstream.send', params }, (outcome) => {
      if (outcome.kind === 'lost') return { kind: 'send', text };
      const runId = outcome.kind === 'ok' ? (outcome.payload as Result<'workstream.send'>).runId : undefined; // by its contract
      return runId === undefined ? undefined : { kind: 'send', text, answer: { runId } };
    });
  keyed.push(again);
  return again(first);
}

/** Mostly the newest question. */
function decide({ client, shared, wire: first, random }: Acting, keyed: Keyed[]): Promise<void> {
  const known = [...shared.approvals];
  const approvalId = random.chance(0.9) ? known.at(-1) : random.pick(known);
  if (approvalId === undefined) return Promise.resolve();
  const approved = random.chance(0.5);
  const mark = `d-${shared.next()}`;
  const isKeyed = first.isHttp || random.chance(0.5);
  const method = isKeyed ? 'workstream.approve' : 'approval.resolve';
  const params = { approvalId, approved, feedback: mark, ...(isKeyed && { idempotencyKey: `key-${mark}` }) };
  const again: Keyed = (wire) =>
    record({ client, shared, wire }, { method, params }, (outcome) => ({
      ...{ kind: 'decide', approvalId, approved, mark },
      ...(outcome.kind !== 'lost' && { answer: outcome.kind === 'ok' ? 'won' : 'late' }),
    }));
  if (isKeyed) keyed.push(again);
  return again(first);
}

function cancel(acting: Acting): Promise<void> {
  return record(acting, { method: 'workstream.cancel', params: {} }, (outcome) => {
    if (outcome.kind !== 'ok') return { kind: 'cancel' };
    const { dropped } = outcome.payload as { dropped: object }; // by its contract; HTTP has the gateway's receipt in other words
    return { kind: 'cancel', answer: receiptIn(dropped) };
  });
}

function receiptIn(dropped: object): { approvalId: string | null; dropped: number } {
  const { pendingApproval, pending_approval, queuedMessages, queued_messages } = Object(dropped);
  const approval = pendingApproval ?? pending_approval;
  return {
    approvalId: approval?.approvalId ?? approval?.approval_id ?? null,
    dropped: (queuedMessages ?? queued_messages).count,
  };
}

const look = (acting: Acting): Promise<void> => {
  if (acting.wire.isHttp) return readHistory(acting);
  return acting.random.pick([readHistory, readQueue, readApprovals])(acting);
};

type Reading = Omit<Acting, 'random'>;

/** The types of the answers follow from the contracts. */
const readHistory = (reading: Reading): Promise<void> =>
  record(reading, { method: 'workstream.history', params: reading.wire.isHttp ? {} : { limit: 500 } }, (outcome) => {
    if (outcome.kind !== 'ok') return undefined;
    const { messages } = outcome.payload as Result<'workstream.history'>;
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));
    // What is said with a decision is a message, too.
    return { kind: 'history', answer: said.filter((text) => text.startsWith('m-')) };
  });

const readQueue = (reading: Reading): Promise<void> =>
  record(reading, { method: 'queue.list', params: {} }, (outcome) =>
    outcome.kind === 'ok'
      ? { kind: 'queue', answer: (outcome.payload as Result<'queue.list'>).messages.map(({ message }) => message) }
      : undefined,
  );

const readApprovals = (reading: Reading): Promise<void> =>
  record(reading, { method: 'approval.list', params: {} }, (outcome) =>
    outcome.kind === 'ok'
      ? {
          kind: 'approvals',
          answer: (outcome.payload as Result<'approval.list'>).approvals.map(({ approvalId }) => approvalId),
        }
      : undefined,
  );

export const readAll = async (reading: Reading): Promise<void> => {
  await Promise.all([readQueue(reading), readApprovals(reading), readHistory(reading)]);
};

/** Denies what is pending. */
export async function denyAll(reading: Reading): Promise<void> {
  const { client, shared, wire } = reading;
  await readApprovals(reading);
  const newest = shared.calls.findLast((call) => call.kind === 'approvals' && call.client === client);
  for (const approvalId of newest?.kind === 'approvals' ? newest.answer : []) {
    const mark = `d-${shared.next()}`;
    const params = { approvalId, approved: false, feedback: mark };
    await record({ client, shared, wire }, { method: 'approval.resolve', params }, (outcome) => ({
      ...{ kind: 'decide', approvalId, approved: false, mark },
      ...(outcome.kind !== 'lost' && { answer: outcome.kind === 'ok' ? 'won' : 'late' }),
    }));
  }
}
