import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { isDelta, mergeDeltas } from '../../../src/gateway/store/merge-deltas.ts';
import type { Evidence, Finding, Logged } from '../evidence.ts';
import { epochOf, lastCursorOf, offsetOf, type View, viewsOf } from '../views.ts';

/** Every event a client received is in the log, unchanged (I1, promise 1). */
export function* seenIsOnDisk(evidence: Evidence): Generator<Finding> {
  for (const [view, log] of viewsWithLogs(evidence)) {
    for (const { where, shown, covered, offset } of stepsOf(view, log)) {
      const own = covered.at(-1);
      if (own?.offset !== offset) yield { what: `${shown.type} was received, but is not on disk`, where };
      // The rule about order reports gaps and repeats.
      else if (!showsTruly(shown, covered) && !isSame(shown, own.event)) {
        yield { what: `${shown.type} was received as ${excerpt(shown)}, but is ${excerpt(own.event)}`, where };
      }
    }
  }
}

/** No event is missing, repeated or out of order, on one connection and across all connections of a reader (I3, promise 2). */
export function* onceInOrder(evidence: Evidence): Generator<Finding> {
  for (const [view, log] of viewsWithLogs(evidence)) {
    const leftOut = leftOutOf(view, log);
    for (const { where, shown, covered, offset, before } of stepsOf(view, log)) {
      const told = covered.filter((logged, index) => index === covered.length - 1 || !leftOut.has(logged));
      if (offset <= before) yield { what: `${shown.type} again, after ${before}`, where };
      else if (told.length > 1 && !showsTruly(shown, told) && isSame(shown, told.at(-1)?.event)) {
        yield { what: `${told.length - 1} events before ${shown.type} are missing`, where };
      }
    }
  }
  yield* continuations(evidence);
}

/** A new stream replays its run without the decided questions about plans and budgets. */
function leftOutOf({ opening: { isOfStream, recovered } }: View, log: readonly Logged[]): Set<Logged> {
  if (!isOfStream || recovered === true) return new Set();
  const decided = new Set(log.flatMap(({ event }) => (event.type === 'approval_resolved' ? [event.approval_id] : [])));
  const isLeftOut = ({ event }: Logged) =>
    event.type === 'approve_request' && ['plan', 'budget'].includes(event.kind) && decided.has(event.approval_id);
  return new Set(log.filter(isLeftOut));
}

/** A resumed connection begins at the position of its reader. */
function* continuations(evidence: Evidence): Generator<Finding> {
  const places = new Map<string, string | undefined>();
  for (const view of viewsOf(evidence)) {
    const { reader, wsId, opening } = view;
    const name = `${reader} ${wsId}`;
    const place = places.get(name);
    if (opening.recovered && place !== undefined && opening.cursor !== place) {
      yield { what: `was at ${place}, but resumes at ${opening.cursor}`, where: name };
    }
    places.set(name, lastCursorOf(view));
  }
}

/** At rest, every connected client has received the whole log. */
export function* readToTheEnd(evidence: Evidence): Generator<Finding> {
  if (!evidence.settled) return;
  for (const [view, log] of viewsWithLogs(evidence)) {
    const last = log.at(-1)?.offset ?? 0;
    const place = offsetOf(lastCursorOf(view));
    if (view.isOpen && place < last) {
      yield { what: `${view.reader} got to ${place} of ${last}`, where: view.wsId };
    }
  }
}

/** Views of another epoch belong to a log that no longer exists. */
function viewsWithLogs(evidence: Evidence): [View, Logged[]][] {
  const logs = new Map(evidence.disk.workstreams.map(({ wsId, events }) => [wsId, events]));
  return viewsOf(evidence).flatMap((view) => {
    const log = logs.get(view.wsId);
    return log && epochOf(view.opening.cursor) === evidence.disk.epoch ? [[view, log]] : [];
  });
}

interface Step {
  where: string;
  shown: StreamEvent;
  offset: number;
  /** The offset before the event. */
  before: number;
  /** The part of the log it represents: after `before`, up to `offset`. */
  covered: Logged[];
}

function stepsOf({ reader, opening, seen }: View, log: readonly Logged[]): Step[] {
  let before = offsetOf(opening.cursor);
  return seen.map(({ cursor, event }) => {
    const offset = offsetOf(cursor);
    const own = { before, offset, shown: event, where: `${reader} ${cursor}` };
    // Offsets have no gaps from 1; another rule checks that.
    const covered = offset > before ? log.slice(before, offset) : log.slice(offset - 1, offset);
    before = Math.max(before, offset);
    return { ...own, covered };
  });
}

/** Events are shown unchanged, except that consecutive deltas are merged and a decided approval may be replayed as running calls. */
function showsTruly(shown: StreamEvent, covered: readonly Logged[]): boolean {
  const [first, ...rest] = covered.map(({ event }) => event);
  if (first === undefined) return false;
  if (rest.length === 0) return isSame(shown, first) || isReplayOf(shown, first);
  const whole = rest.reduce<StreamEvent | undefined>(join, first);
  return whole !== undefined && isSame(shown, whole);
}

const join = (older: StreamEvent | undefined, newer: StreamEvent): StreamEvent | undefined =>
  older && isDelta(older) && isDelta(newer) ? mergeDeltas(older, newer) : undefined;

const isReplayOf = (shown: StreamEvent, logged: StreamEvent): boolean =>
  shown.type === 'tool_info' && logged.type === 'approve_request' && isSame(shown.items, logged.items);

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const excerpt = (event: StreamEvent): string => JSON.stringify(event).slice(0, 200);
