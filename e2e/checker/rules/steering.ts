import type { RunTable } from '../../../src/gateway/store/schema/schema.ts';
import type { CallHistory, Evidence, Finding, RunOnDisk, SentMessage, WorkstreamOnDisk } from '../evidence.ts';

/** A message that steers is answered once: in exactly one run that took it, or by its own run (decision 54). */
export function* steeredOnce({ disk, calls }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const { wsId } = workstream;
    const steering = steeringIn(workstream, calls);
    for (const steered of steering) {
      const what = wrongAnswer(steered, workstream);
      if (what !== undefined) yield { what: `${steered.run.run_id}: ${what}`, where: wsId };
    }
    yield* unknownIn(workstream, new Set(steering.map(({ run }) => run.run_id)));
  }
}

function* unknownIn({ wsId, events }: WorkstreamOnDisk, known: ReadonlySet<string>): Generator<Finding> {
  for (const { offset, event } of events) {
    const id = event.type === 'user_turn' ? event.steered_run_id : undefined;
    if (id !== undefined && !known.has(id)) yield { what: `${id} steers nothing`, where: `${wsId}:${offset}` };
  }
}

interface Request {
  message: string;
  steer?: true;
  steeredInto?: string;
}

const requestIn = (run: RunTable): Request => JSON.parse(run.request_json);

/** The runs of messages that steer according to their row or to an answered call. */
function steeringIn({ runs }: WorkstreamOnDisk, calls: readonly CallHistory[]): RunOnDisk[] {
  const promised = new Set(calls.flatMap(promisedBy));
  return runs.filter(({ run }) => requestIn(run).steer || promised.has(run.run_id));
}

function promisedBy({ method, params, answers }: CallHistory): string[] {
  if (method === 'queue.steer') return answers.some(({ ok }) => ok) && params.runId !== undefined ? [params.runId] : [];
  return params.steer ? answers.flatMap(({ payload }) => Object(payload).runId ?? []) : [];
}

function wrongAnswer({ run }: RunOnDisk, workstream: WorkstreamOnDisk): string | undefined {
  const { message, steeredInto: into } = requestIn(run);
  const turns = workstream.events.flatMap(({ event }) => (event.type === 'user_turn' ? [event] : []));
  const taken = turns.filter((turn) => turn.steered_run_id === run.run_id);
  const own = turns.filter((turn) => turn.run_id === run.run_id && !turn.steered_run_id && turn.message === message);
  const neverBegan = run.status === 'queued' || (run.started_ms === null && run.status !== 'ok');
  const due = { taken: into === undefined ? 0 : 1, own: into === undefined && !neverBegan ? 1 : 0 };
  if (taken.length !== due.taken) return `was taken by ${taken.length} runs, where ${due.taken} is due`;
  if (own.length !== due.own) return `was answered by its own run ${own.length} times, where ${due.own} is due`;
  const [turn] = taken;
  if (!turn) return undefined;
  if (turn.run_id !== into) return `was taken by ${turn.run_id}, but its row names ${into}`;
  if (run.started_ms !== null || run.status !== 'ok') return 'was taken, and its own run began or failed';
  return wrongPlace({ into, message, seq: turn.seq ?? 0 }, workstream);
}

/** Its place is after the results of all earlier calls, and before a request to the model. */
function wrongPlace(
  { into, message, seq }: { into: string; message: string; seq: number },
  { messages, runs }: WorkstreamOnDisk,
): string | undefined {
  const stored = messages[seq - 1];
  const isStored = stored?.message.role === 'user' && stored.message.steered && stored.message.content === message;
  if (!isStored || stored.runId !== into) return `is not message ${seq} of ${into}`;
  const before = messages.slice(0, seq - 1);
  const calls = before.findLast(({ message: { role } }) => role === 'assistant')?.message;
  const results = new Set(before.map(({ message: of }) => (of.role === 'tool' ? of.callId : '')));
  const open = calls?.role === 'assistant' ? calls.toolCalls.filter(({ id }) => !results.has(id)) : [];
  if (open.length > 0) return `comes before the result of ${open[0]?.id}`;
  const by = runs.find(({ run }) => run.run_id === into);
  const asked = by?.journal.findIndex((entry) => entry.kind === 'model_called' && entry.afterSeq >= seq) ?? -1;
  if (asked < 0) return `${into} took it, but did not ask the model`;
  const isAnswered = by?.journal.slice(asked).some(({ kind }) => kind === 'model_answered');
  return by?.run.status === 'ok' && !isAnswered ? `${into} ended without an answer to it` : undefined;
}

/** No request to the model has it twice or before an open call's result, and some request has it. */
export function* steeredToModel({ disk, calls, requests }: Evidence): Generator<Finding> {
  if (!requests) return;
  for (const workstream of disk.workstreams) {
    const statuses = new Map(workstream.runs.map(({ run }) => [run.run_id, run.status]));
    for (const { run } of steeringIn(workstream, calls)) {
      const { message, steeredInto: into } = requestIn(run);
      const isDue = statuses.get(into ?? run.run_id) === 'ok';
      const what = wrongRequest(requests, { message, isDue });
      if (what !== undefined) yield { what, where: `${workstream.wsId} ${run.run_id}` };
    }
  }
}

function wrongRequest(
  requests: readonly SentMessage[][],
  { message, isDue }: { message: string; isDue: boolean },
): string | undefined {
  const having = requests.filter((request) => timesIn(request, message) > 0);
  if (having.length === 0) return isDue ? 'the model never got the message' : undefined;
  if (having.some((request) => timesIn(request, message) > 1)) return 'the model got the message twice';
  const before = having.map((request) =>
    request.slice(
      0,
      request.findIndex((sent) => timesIn([sent], message) > 0),
    ),
  );
  return before.some(hasOpenCalls) ? 'the model got the message before the results of its calls' : undefined;
}

/** Adjacent messages are sent as one, separated by an empty line. */
const timesIn = (request: readonly SentMessage[], message: string): number =>
  request
    .flatMap(({ role, content }) => (role === 'user' ? String(content).split('\n\n') : []))
    .filter((text) => text === message).length;

function hasOpenCalls(before: readonly SentMessage[]): boolean {
  const results = new Set(before.map(({ tool_call_id: id }) => id));
  return before.some(({ tool_calls: calls }) => calls?.some(({ id }) => !results.has(id)));
}
