import type { JournalEntry } from '../../../src/agent/run/journal.ts';
import type { Evidence, Finding } from '../evidence.ts';
import { callsBy, type Worker, workersOf } from '../workers.ts';

/** A tool with side effects starts at most once per permission (I7, promise 4). */
export function* permittedStarts({ disk }: Evidence): Generator<Finding> {
  for (const { place: where, journal } of disk.workstreams.flatMap(workersOf)) {
    for (const callId of startsWithoutPermission(journal)) {
      yield { what: `${callId} was started without its own permission`, where };
    }
  }
}

function* startsWithoutPermission(journal: readonly JournalEntry[]): Generator<string> {
  const asked = new Map<string, string[]>();
  const allowed = new Set<string>();
  for (const entry of journal) {
    if (entry.kind === 'approval_asked') asked.set(entry.approvalId, Object.keys(entry.digests));
    for (const callId of permitted(entry, asked)) allowed.add(callId);
    if (entry.kind !== 'tool_started' || entry.safeToRepeat) continue;
    if (!allowed.delete(entry.callId)) yield entry.callId;
  }
}

/** The calls that a journal entry permits to start once. */
function permitted(entry: JournalEntry, asked: ReadonlyMap<string, string[]>): string[] {
  if (entry.kind === 'batch_cleared') return Object.keys(entry.digests);
  if (entry.kind !== 'approval_decided' || !entry.decision.approved) return [];
  const { denied = {} } = entry.decision;
  return (asked.get(entry.approvalId) ?? []).filter((callId) => !Object.hasOwn(denied, callId));
}

/** Every tool call of the model gets exactly one result by the end of its run. */
export function* oneResultPerCall({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const results = workstream.events.flatMap(({ event }) => (event.type === 'tool_result' ? [event.call_id] : []));
    const told = countBy(results);
    for (const worker of workersOf(workstream)) {
      const entries = worker.journal.flatMap((entry) => (entry.kind === 'tool_finished' ? [entry.callId] : []));
      const stored = countBy(worker.results.map(({ callId }) => callId));
      const what = wrongCounts(worker, { stored, told, finished: countBy(entries) });
      if (what !== '') yield { what, where: worker.place };
    }
  }
}

function wrongCounts(worker: Worker, counts: Record<'stored' | 'told' | 'finished', Map<string, number>>): string {
  const lines = callsBy(worker).flatMap(({ id: callId }) => {
    const [stored = 0, told = 0, finished = 0] = [counts.stored, counts.told, counts.finished].map((count) =>
      count.get(callId),
    );
    const isMissing = worker.isOver && (stored === 0 || finished === 0);
    if (!isMissing && Math.max(stored, told, finished) <= 1) return [];
    return [`${callId} has ${stored} results, told ${told} times, finished ${finished} times`];
  });
  return lines.join('; ');
}

function countBy(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
