import type { Evidence, Finding } from '../evidence.ts';
import { callsBy, resultFor, type Worker, workersOf } from '../workers.ts';

/** A background command that has ended does not run again, and ends in one way. */
export function* backgroundEndsOnce({ disk, settled }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const { wsId: where } = workstream;
    for (const [id, own] of backgroundStates(workstream)) {
      const what = whatIsWrong(own.map(({ end }) => end));
      if (what !== undefined) yield { what: `${id} ${what}`, where };
    }
    if (settled) for (const id of endlessCommands(workstream)) yield { what: `${id} has no end`, where };
  }
}

type OfOne = Pick<Evidence['disk']['workstreams'][number], 'events'>;

const backgroundStates = ({ events }: OfOne) =>
  Map.groupBy(
    events.flatMap(({ event }) => (event.type === 'background_command' ? [event] : [])),
    ({ command_id }) => command_id,
  );

/** The background commands that run, as far as the log says. */
export const endlessCommands = (workstream: OfOne): string[] =>
  [...backgroundStates(workstream)].flatMap(([id, own]) => (own.at(-1)?.end === undefined ? [id] : []));

function whatIsWrong(ends: readonly (string | undefined)[]): string | undefined {
  const first = ends.findIndex((end) => end !== undefined);
  const other = first < 0 ? -1 : ends.findIndex((end, index) => index > first && end !== ends[first]);
  return other < 0 ? undefined : `ended (${ends[first]}), and then ${ends[other] ?? 'ran'}`;
}

/** The model is told at most once how a background command ended. */
export function* endToldOnce({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, messages } of disk.workstreams) {
    const told = messages.flatMap(({ message }) =>
      message.role === 'user' && message.environment
        ? [...message.content.matchAll(/command (bg_[\w-]+) .*has ended/g)]
        : [],
    );
    const ids = told.map(([, id]) => id);
    const twice = ids.find((id, index) => ids.indexOf(id) < index);
    if (twice !== undefined) yield { what: `the end of ${twice} was told twice`, where: wsId };
  }
}

/** The result of a question of the agent is the answer that was decided. */
export function* answersKept({ disk }: Evidence): Generator<Finding> {
  for (const worker of disk.workstreams.flatMap(workersOf)) {
    for (const [callId, { text, choice }] of answersIn(worker)) {
      const { output, outcome } = resultFor(worker, callId) ?? {};
      const wanted = JSON.stringify({ answer: text ?? choice ?? null, ...(choice !== undefined && { choice }) });
      // Without a result, the run ended before; a cancel may also come between the decision and the call.
      const isGiven = output !== undefined && outcome !== 'cancelled';
      if (isGiven && output !== wanted)
        yield { what: `${callId} was answered ${wanted}, not ${output}`, where: worker.place };
    }
  }
}

/** Without those to questions that came up while a call ran: they are not its result. */
function answersIn({ journal }: Worker) {
  const during = new Set(
    journal.flatMap((entry) => (entry.kind === 'approval_asked' && entry.input ? entry.approvalId : [])),
  );
  return journal.flatMap((entry) =>
    entry.kind === 'approval_decided' && entry.decision.approved && !during.has(entry.approvalId)
      ? Object.entries(entry.decision.answers ?? {})
      : [],
  );
}

/**
 * A patch of two files makes both or none, and none if its result says that it did not run. An unknown outcome is a known
 * state, too.
 */
export function* wholePatches({ disk, patched, settled }: Evidence): Generator<Finding> {
  if (!settled || !patched) return;
  for (const worker of disk.workstreams.flatMap(workersOf)) {
    for (const { callId, tag } of patchesIn(worker)) {
      const outcome = resultFor(worker, callId)?.outcome;
      const made = [`${tag}-a.patched`, `${tag}-b.patched`].filter((name) => patched.includes(name)).length;
      const isKnown = outcome !== undefined && outcome !== 'unknown';
      const isWrong = made === 1 || (made === 2 && outcome !== 'done');
      if (isKnown && isWrong) yield { what: `${callId} (${outcome}) made ${made} of two files`, where: worker.place };
    }
  }
}

const patchesIn = (worker: Worker) =>
  callsBy(worker).flatMap(({ id: callId, arguments: text }) => {
    const tag = /Add File: (\S+)-a\.patched/.exec(text)?.[1];
    return tag === undefined ? [] : [{ callId, tag }];
  });
