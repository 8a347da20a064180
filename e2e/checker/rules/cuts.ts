import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../../src/agent/message.ts';
import type { CutTable } from '../../../src/gateway/store/schema/schema.ts';
import type { CallHistory, Evidence, Finding, Logged, WorkstreamOnDisk } from '../evidence.ts';

/** Cuts count from 1 without a gap and lie within the messages of their time; a summary stands in place of a compaction. */
export function* cutsInPlace({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, cuts, messageCount } of disk.workstreams) {
    for (const [index, cut] of cuts.entries()) {
      const wrong = wrongIn(cut, { n: index + 1, messageCount });
      if (wrong !== undefined) yield { what: `cut ${cut.n}: ${wrong}`, where: wsId };
    }
  }
}

function wrongIn(cut: CutTable, due: { n: number; messageCount: number }): string | undefined {
  const { n, kind, after_seq: after, to_seq: to, at_seq: at, body_json: body } = cut;
  if (n !== due.n) return `is at place ${due.n}`;
  if (at > due.messageCount) return `was made at ${at} messages, but ${due.messageCount} are stored`;
  if (after >= to || to > at) return `takes ${after} to ${to} of ${at} messages`;
  return (body !== null) === (kind === 'compaction')
    ? undefined
    : `${kind} ${body === null ? 'without' : 'with'} a summary`;
}

/** Every cut that people see is told once, and nothing else is told, in the order of the cuts. */
export function* cutsTold({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, cuts, events } of disk.workstreams) {
    const stored = cuts.flatMap(nameOfCut);
    const told = events.flatMap(({ event }) => nameOfTold(event) ?? []);
    const at = stored.findIndex((name, index) => name !== told[index]);
    const first = at < 0 && told.length > stored.length ? stored.length : at;
    if (first < 0) continue;
    const what = `cut ${first + 1}: told ${told[first] ?? 'nothing'}, stored ${stored[first] ?? 'nothing'}`;
    yield { what, where: wsId };
  }
}

/** Only models read anything different. People see a note. */
const FOR_MODELS: ReadonlySet<CutTable['kind']> = new Set(['prune', 'attachments', 'images', 'unbind', 'tools']);

function nameOfCut({ kind, after_seq: after, to_seq: to }: CutTable): string[] {
  if (FOR_MODELS.has(kind)) return [];
  return [kind === 'rewind' ? `a rewind to ${after}` : `a ${kind} up to ${to}`];
}

function nameOfTold(event: StreamEvent): string | undefined {
  if (event.type === 'rewound') return `a rewind to ${event.after_seq}`;
  if (event.type === 'message_removed') return `a remove up to ${event.seq}`;
  return event.type === 'compacted' ? `a compaction up to ${event.to_seq}` : undefined;
}

/** A retry or an edit is one step with the message that is sent again, and a retry sends the same message. */
export function* sentAgain({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, events, messages } of disk.workstreams) {
    for (const { rewind, next } of resendsIn(events)) {
      const { after_seq: after, reason } = rewind.event;
      const what = wrongResend(next, { reason, first: messages[after]?.message });
      if (what !== undefined) yield { what, where: `${wsId}:${rewind.offset}` };
    }
  }
}

function wrongResend(
  next: StreamEvent | undefined,
  { reason, first }: { reason: string; first: Message | undefined },
): string | undefined {
  if (next?.type !== 'user_turn') return `${next?.type ?? 'nothing'} follows, and no message`;
  const text = first?.role === 'user' ? first.content : undefined;
  return reason === 'edit' || next.message === text ? undefined : `sent ${next.message} again, but took back ${text}`;
}

/** The runs of messages that were sent again. */
export const resentRunsOf = ({ events }: Pick<WorkstreamOnDisk, 'events'>): Set<string> =>
  new Set(resendsIn(events).flatMap(({ next }) => (next?.type === 'user_turn' ? [next.run_id] : [])));

const resendsIn = (events: readonly Logged[]) =>
  events.flatMap(({ offset, event }, index) =>
    event.type === 'rewound' && event.reason !== 'rewind'
      ? [{ rewind: { offset, event }, next: events[index + 1]?.event }]
      : [],
  );

const REASONS = { rewind: 'workstream.rewind', retry: 'workstream.retry' };

/** Calls with a key take back at most once, however often they were repeated; and nothing is taken back unasked. */
export function* takenBackOnce({ disk, calls }: Evidence): Generator<Finding> {
  for (const { wsId, events } of disk.workstreams) {
    for (const [reason, method] of Object.entries(REASONS)) {
      const count = events.filter(({ event }) => event.type === 'rewound' && event.reason === reason).length;
      const keys = keysOf(calls, { wsId, method });
      if (count > keys.size) yield { what: `${count} times ${reason} for ${keys.size} keys`, where: wsId };
    }
  }
}

const keysOf = (calls: readonly CallHistory[], wanted: { wsId: string; method: string }): Set<string> =>
  new Set(
    calls.flatMap(({ method, params: { wsId, idempotencyKey } }) =>
      method === wanted.method && wsId === wanted.wsId && idempotencyKey !== undefined ? [idempotencyKey] : [],
    ),
  );

/** An answered retry has its run, which sends the message again. */
export function* resendsKept({ disk, calls }: Evidence): Generator<Finding> {
  const resent = new Map(disk.workstreams.map((workstream) => [workstream.wsId, resentRunsOf(workstream)]));
  for (const { method, params, answers } of calls) {
    if (method !== 'workstream.retry') continue;
    const named = new Set(answers.flatMap(({ payload }) => Object(payload).runId ?? []));
    for (const runId of named) {
      if (resent.get(params.wsId)?.has(runId)) continue;
      yield { what: `${runId} was accepted, but sends nothing again`, where: params.wsId };
    }
    if (named.size > 1) yield { what: `was answered with ${[...named].join(' and ')}`, where: params.wsId };
  }
}
