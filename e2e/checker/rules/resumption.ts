import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import { isAsked, type Message } from '../../../src/agent/message.ts';
import type { Evidence, Finding, Logged, StoredMessage, StreamFrame, WorkstreamOnDisk } from '../evidence.ts';
import { beginningOf, epochOf, lastCursorOf, offsetOf, type View, viewsOf } from '../views.ts';

/** A stream with a cursor resumes exactly there, or gives the reason why not (promise 2). */
export function* resumption(evidence: Evidence): Generator<Finding> {
  const given = new Map<string, Set<string>>();
  for (const view of viewsOf(evidence)) {
    const name = `${view.reader} ${view.wsId}`;
    const known = given.get(name) ?? new Set();
    given.set(name, known);
    const what = problemOf(view, { known, epoch: evidence.disk.epoch });
    if (what !== undefined) yield { what, where: `${name} after ${view.opening.asked}` };
    for (const { cursor } of view.seen) known.add(cursor);
    if (view.opening.cursor !== undefined) known.add(view.opening.cursor);
  }
}

interface Granted {
  /** The cursors that this reader received before. */
  known: ReadonlySet<string>;
  /** Of the log as it is now. */
  epoch: string;
}

function problemOf({ opening }: View, granted: Granted): string | undefined {
  const { asked, recovered, truncated } = opening;
  if (truncated && recovered !== false) return 'reports a loss without a cursor that is refused';
  if (asked === undefined || epochOf(asked) === undefined) return recovered ? 'continued without a cursor' : undefined;
  if (recovered === undefined) return 'does not say whether it resumed';
  return recovered ? continuedWrongly(opening) : refusedWrongly({ ...opening, asked }, granted);
}

function continuedWrongly({ asked, cursor, messages }: View['opening']): string | undefined {
  if (cursor !== asked) return `resumed, but at ${cursor}`;
  return messages.length > 0 ? 'continued, and given the history again' : undefined;
}

function refusedWrongly(opening: View['opening'] & { asked: string }, { known, epoch }: Granted): string | undefined {
  const { asked, reason, cursor } = opening;
  if (known.has(asked) && epochOf(asked) === epoch) return `not resumed: ${reason}`;
  const isOtherLog = epochOf(asked) !== epochOf(cursor);
  const isTrue =
    (reason === 'epoch' && isOtherLog) ||
    (reason === 'ahead' && !isOtherLog && offsetOf(asked) > offsetOf(cursor)) ||
    (reason === 'expired' && !isOtherLog);
  return isTrue ? wrongLoss(opening) : `told the reason ${reason}, standing at ${cursor}`;
}

/** Only streams report how much was lost, and only an expired cursor shows how much that is. */
function wrongLoss({ asked, reason, truncated, isOfStream }: View['opening'] & { asked: string }): string | undefined {
  if (!isOfStream) return undefined;
  if (!truncated) return 'does not report what was lost';
  const { lost_count: lost, earliest_available_id: earliest } = truncated;
  const due = reason === 'expired' ? offsetOf(earliest) - 1 - offsetOf(asked) : 0;
  return lost === due ? undefined : `reports ${lost} lost events, where ${due} are due`;
}

type UserTurn = Extract<Logged['event'], { type: 'user_turn' }>;

const WITHOUT_PLACE: ReadonlySet<string> = new Set([
  ...['connected', 'state_change', 'compaction', 'busy_error', 'in_progress_snapshot'],
  ...['message_queued', 'message_dispatched', 'message_dropped'], // what waits is a state, and not in the log (decision 67)
]);

/** A stream begins with its identity and position; only log events have a cursor; the history is the stored one. */
export function* openings(evidence: Evidence): Generator<Finding> {
  for (const { reader, wsId, frames } of evidence.streams) {
    const what = wrongFrame(frames);
    if (what !== undefined) yield { what, where: `${reader} ${wsId}` };
  }
  const onDisk = new Map(evidence.disk.workstreams.map((workstream) => [workstream.wsId, workstream]));
  for (const view of viewsOf(evidence)) {
    const workstream = onDisk.get(view.wsId);
    if (view.opening.recovered || !workstream || epochOf(lastCursorOf(view)) !== evidence.disk.epoch) continue;
    const what = wrongHistory(view, workstream);
    if (what !== undefined) yield { what, where: `${view.reader} ${view.opening.cursor}` };
  }
}

function wrongFrame(frames: readonly StreamFrame[]): string | undefined {
  const { connected, history, rest } = beginningOf(frames);
  if (connected && (connected.data.type !== 'connected' || connected.id !== undefined))
    return 'does not begin with connected';
  if (history && (history.data.type !== 'history' || history.id === undefined)) return 'has no history with a cursor';
  const wrong = rest.find(({ id, data }) => (id === undefined) !== isWithoutPlace(data));
  if (!wrong) return undefined;
  return `${wrong.data.type} has ${wrong.id === undefined ? 'no cursor' : `the cursor ${wrong.id}`}`;
}

/** An error has no cursor; the idle that follows has it. */
const isWithoutPlace = (data: StreamFrame['data']): boolean =>
  WITHOUT_PLACE.has(data.type) || (data.type === 'ws_state' && data.state === 'error');

/**
 * The messages are read after the position was taken. If the very next events take turns back, they may be missing already:
 * the client gets these events, too, and they change nothing then.
 */
function wrongHistory({ opening }: View, workstream: WorkstreamOnDisk): string | undefined {
  const at = offsetOf(opening.cursor);
  const later = workstream.events.filter(({ offset }) => offset > at);
  const others = later.findIndex(({ event }) => event.type !== 'rewound');
  const takenBack = others < 0 ? later : later.slice(0, others);
  const [first, ...rest] = [at, ...takenBack.map(({ offset }) => offset)].map((end) =>
    wrongAt(opening, workstream, end),
  );
  return rest.includes(undefined) ? undefined : first;
}

function wrongAt(
  { messages: shown, isCutShort }: View['opening'],
  { messages, events }: WorkstreamOnDisk,
  end: number,
): string | undefined {
  const seqs = shown.map(({ seq }) => seq).sort((a, b) => a - b);
  const before = events.filter(({ offset }) => offset <= end);
  const counts = countingAt(before);
  const visible = messages.filter(({ message }) => message.role !== 'user' || isAsked(message)).map(({ seq }) => seq);
  const first = isCutShort ? (seqs[0] ?? 0) : 0;
  const due = visible.filter((seq) => seq >= first && seq <= (seqs.at(-1) ?? 0) && counts(seq));
  if (isCutShort && !visible.some((seq) => seq < first && counts(seq))) return 'is cut short, but no message is older';
  if (seqs.join() !== due.join()) return `shows the messages ${seqs.join(', ')}, where ${due.join(', ')} are due`;
  const stored = new Map(messages.map((message) => [message.seq, message]));
  const wrong = shown.find((message) => !isShownTruly(message, stored.get(message.seq)));
  if (wrong) return `shows message ${wrong.seq} differently from how it is stored`;
  const told = before.filter(({ event }) => isOfUser(event, first) && counts(event.seq ?? 0)).length;
  const said = shown.filter(({ role }) => role === 'user').length;
  return told === said ? undefined : `shows ${said} messages of the user, but ${told} came before its cursor`;
}

const isOfUser = (event: Logged['event'], first: number): event is UserTurn =>
  event.type === 'user_turn' && (event.seq ?? 0) >= first;

/** Which messages were not taken back by these events. */
function countingAt(events: readonly Logged[]): (seq: number) => boolean {
  const gone = events.flatMap(({ event }, index) => {
    if (event.type === 'message_removed') return [{ after: event.seq - 1, to: event.seq }];
    if (event.type !== 'rewound') return [];
    const next = events.slice(index).find((later) => later.event.type === 'user_turn')?.event;
    const to = next?.type === 'user_turn' ? (next.seq ?? 0) - 1 : Number.POSITIVE_INFINITY;
    return [{ after: event.after_seq, to }];
  });
  return (seq) => !gone.some(({ after, to }) => seq > after && seq <= to);
}

function isShownTruly(shown: HistoryMessage, stored: StoredMessage | undefined): boolean {
  const message = stored?.message;
  if (message?.role !== shown.role) return false;
  if (message.role === 'tool') return shown.call_id === message.callId && shown.outcome === message.outcome;
  return (shown.content ?? '') === message.content && callsIn(shown) === callsOf(message);
}

const callsIn = ({ tool_calls }: HistoryMessage): string => (tool_calls ?? []).map(({ id }) => id).join();
const callsOf = (message: Message): string =>
  message.role === 'assistant' ? message.toolCalls.map(({ id }) => id).join() : '';

/** A stream that does not resume begins before the question that is pending there, so its client gets the question. */
export function* questionsShown(evidence: Evidence): Generator<Finding> {
  const onDisk = new Map(evidence.disk.workstreams.map((workstream) => [workstream.wsId, workstream]));
  for (const { reader, wsId, opening } of viewsOf(evidence)) {
    const { recovered, cursor } = opening;
    if (recovered || epochOf(cursor) !== evidence.disk.epoch) continue;
    const hidden = pendingAt(onDisk.get(wsId)?.events ?? [], offsetOf(cursor));
    if (hidden !== undefined)
      yield { what: `begins after the pending question ${hidden}`, where: `${reader} ${cursor}` };
  }
}

/** The question that waits for its answer at this offset. */
function pendingAt(events: readonly Logged[], upTo: number): string | undefined {
  let asked: string | undefined;
  for (const { offset, event } of events) {
    if (offset > upTo) break;
    if (event.type === 'approve_request') asked = event.approval_id;
    else if (event.type === 'approval_resolved' || (event.type === 'ws_state' && event.run)) asked = undefined;
  }
  return asked;
}
