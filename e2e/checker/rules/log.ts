import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Evidence, Finding, StoredMessage, WorkstreamOnDisk } from '../evidence.ts';

/** Offsets count from 1 without a gap, in order (I2). */
export function* denseLog({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, events } of disk.workstreams) {
    const wrong = firstOutOfPlace(events.map(({ offset }) => offset));
    if (wrong) yield { what: `event ${wrong.place} has offset ${wrong.number}`, where: wsId };
  }
}

export function* denseMessages({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, messages, messageCount } of disk.workstreams) {
    const wrong = firstOutOfPlace(messages.map(({ seq }) => seq));
    if (wrong) yield { what: `message ${wrong.place} has number ${wrong.number}`, where: wsId };
    if (messageCount !== messages.length) {
      yield { what: `${messages.length} messages are stored, but ${messageCount} are counted`, where: wsId };
    }
  }
}

function firstOutOfPlace(numbers: number[]): { place: number; number: number } | undefined {
  const index = numbers.findIndex((number, at) => number !== at + 1);
  const number = numbers[index];
  return number === undefined ? undefined : { place: index + 1, number };
}

/** Logs and messages only grow, and ended runs and decided approvals do not change (promises 1 and 3). */
export function* nothingForgotten({ disk, earlier }: Evidence): Generator<Finding> {
  if (!earlier) return;
  if (earlier.epoch !== disk.epoch) return; // the log was replaced; a new epoch tells its readers so
  const now = new Map(disk.workstreams.map((workstream) => [workstream.wsId, workstream]));
  // The row of a question about a budget passes to another workstream that waits (decision 52).
  const approvals = new Map(disk.workstreams.flatMap((workstream) => decisionsOf(workstream)));
  for (const before of earlier.workstreams) {
    const after = now.get(before.wsId);
    if (after) yield* changesOf(before, after, approvals);
    else yield { what: 'the workstream no longer exists', where: before.wsId };
  }
}

function* changesOf(before: WorkstreamOnDisk, after: WorkstreamOnDisk, approvals: Settlements): Generator<Finding> {
  const where = before.wsId;
  const ofEvents = before.events.findIndex((event, at) => !isSame(event, after.events[at]));
  const ofMessages = before.messages.findIndex((message, at) => !isSameMessage(message, after.messages[at]));
  for (const [what, index] of Object.entries({ events: ofEvents, messages: ofMessages }))
    if (index >= 0) yield { what: `number ${index + 1} of the ${what} was changed or removed`, where };
  const found = new Map([...runsOf(after), ...approvals]);
  for (const [id, settled] of [...runsOf(before), ...decisionsOf(before)]) {
    if (!found.has(id)) yield { what: `${id} no longer exists`, where };
    else if (settled !== undefined && settled !== found.get(id)) yield { what: `${id} has a different result`, where };
  }
}

/** By id, as text once it is final. */
type Settlements = ReadonlyMap<string, string | undefined>;

const runsOf = ({ runs }: WorkstreamOnDisk) =>
  runs.map(({ run }): [string, string | undefined] => {
    const { run_key: _, ...row } = run; // a reused key identifies the newer run
    return [run.run_id, run.ended_ms === null ? undefined : JSON.stringify(row)];
  });

const decisionsOf = ({ approvals }: WorkstreamOnDisk) =>
  approvals.map((approval): [string, string | undefined] => [
    approval.approval_id,
    approval.decided_ms === null ? undefined : JSON.stringify(approval),
  ]);

/** A user message whose run ends without an answer is marked as failed (decision 40). The mark stays. */
function isSameMessage(before: StoredMessage, after: StoredMessage | undefined): boolean {
  if (after === undefined || isSame(before, after)) return after !== undefined;
  if (before.message.role !== 'user' || after.message.role !== 'user' || before.message.failed) return false;
  const { failed: _, ...message } = after.message;
  return isSame(before, { ...after, message });
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Event types that only runs emit. Other events (settings, notices, the status after a summary) can come at any time. */
const OF_A_RUN: ReadonlySet<string> = new Set([
  'thinking_start',
  'thinking_stop',
  'reasoning',
  'content',
  'stream_end',
  'tool_info',
  'approve_request',
  'approval_resolved',
  'tool_output_chunk',
  'tool_result',
  'output_warning',
  'cancelled',
]);

/** A run emits events only between its first message and its final state, and never at the same time as another run. */
export function* silentBetweenRuns({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, events } of disk.workstreams) {
    let current: string | undefined;
    for (const { offset, event } of events) {
      const runId = runOf(event) ?? current;
      if (isStray(event, { runId, current })) {
        yield {
          what: `${event.type} of ${runId ?? 'no run'}, during ${current ?? 'none'}`,
          where: `${wsId}:${offset}`,
        };
      }
      current = isEnd(event) ? undefined : runId;
    }
  }
}

const isEnd = (event: StreamEvent): boolean => event.type === 'ws_state' && event.run !== undefined;

/** The run id in an event. */
function runOf(event: StreamEvent): string | undefined {
  if (event.type === 'user_turn') return event.run_id;
  return event.type === 'ws_state' ? event.run?.run_id : undefined;
}

interface Runs {
  runId: string | undefined;
  current: string | undefined;
}

function isStray({ type }: StreamEvent, { runId, current }: Runs): boolean {
  if (runId === undefined) return OF_A_RUN.has(type);
  return runId !== current && (type !== 'user_turn' || current !== undefined);
}
