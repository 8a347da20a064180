import type { Boot, Effect, Evidence, Finding, WorkstreamOnDisk } from '../evidence.ts';
import { callsBy, type Worker, workersOf } from '../workers.ts';

/** How long a process may take to end after its run: SIGTERM, half a second of grace, SIGKILL. */
const GRACE_MS = 2_000;

/** The lines of one tool call, and the call itself if it is known. */
interface Performance {
  tag: string;
  effects: Effect[];
  call: Call | undefined;
}

interface Call {
  callId: string;
  worker: Worker;
  /** How often it may run: a watch polls its command, each time after a claim. */
  polls: number | undefined;
}

/** Each line was written once, by a started call, which ran at most as often as the journal says (I7). */
export function* effectsOfStarts(evidence: Evidence): Generator<Finding> {
  for (const performance of performancesIn(evidence)) {
    for (const what of excesses(performance, evidence)) yield { what, where: placeOf(performance) };
  }
}

function* excesses({ effects, call }: Performance, { areClocksWrong = false }: Evidence): Generator<string> {
  if (!call) {
    yield 'was written, but no call holds it';
    return;
  }
  const lines = effects.map(({ start, phase }) => `${start} ${phase}`);
  const twice = lines.find((line, index) => lines.indexOf(line) < index);
  if (twice !== undefined) yield `${twice} was written twice`;
  const startsMs = startsOf(call);
  const most = call.polls ?? startsMs.length;
  const ran = new Set(effects.map(({ start }) => start)).size;
  if (ran > most) yield `ran ${ran} times, started ${most} times`;
  const firstMs = areClocksWrong ? undefined : startsMs[0];
  if (firstMs !== undefined && effects.some(({ atMs }) => atMs < firstMs)) yield 'ran before its start was recorded';
}

/** The starts in the journal, oldest first. */
const startsOf = ({ callId, worker }: Call): number[] =>
  worker.journal.flatMap((entry) => (entry.kind === 'tool_started' && entry.callId === callId ? [entry.atMs] : []));

/** No line is written after the end of the run, nor by a process of a dead daemon after the next daemon is ready. */
export function* nothingOutlives(evidence: Evidence): Generator<Finding> {
  for (const performance of performancesIn(evidence)) {
    const { polls, worker } = performance.call ?? {};
    const endedMs = (polls === undefined && worker?.run.ended_ms) || Number.POSITIVE_INFINITY;
    const goneMs = deadlineOf(endedMs, evidence.boots);
    for (const effect of performance.effects) {
      const where = placeOf(performance);
      const lateMs = Math.round(effect.atMs - endedMs);
      if (effect.atMs > goneMs)
        yield { what: `${effect.phase} was written ${lateMs} ms after its run had ended`, where };
      if (!hasOutlived(effect, performance, evidence.boots)) continue;
      yield { what: `${effect.phase} was written by a process of a daemon that had died`, where };
    }
  }
}

/** When its processes must have ended: soon, or when the next daemon is ready if no daemon could end them before. */
function deadlineOf(endedMs: number, boots: readonly Boot[]): number {
  const died = boots.findIndex(({ diedMs = 0 }) => diedMs >= endedMs && diedMs <= endedMs + GRACE_MS);
  if (died < 0) return endedMs + GRACE_MS;
  return boots.slice(died + 1).find(({ readyMs }) => readyMs !== undefined)?.readyMs ?? Number.POSITIVE_INFINITY;
}

/** Whether its daemon died after its start, and the next daemon was ready before the line was written. */
function hasOutlived({ start, atMs }: Effect, { effects }: Performance, boots: readonly Boot[]): boolean {
  const begun = effects.find((effect) => effect.start === start && effect.phase === 'begin');
  if (!begun) return false;
  const own = boots.findLastIndex(({ spawnedMs }) => spawnedMs <= begun.atMs);
  return boots.slice(own + 1).some(({ readyMs }) => readyMs !== undefined && readyMs < atMs);
}

function performancesIn({ disk, effects }: Evidence): Performance[] {
  const calls = disk.workstreams.flatMap(callsIn);
  return [...Map.groupBy(effects, ({ tag }) => tag)].map(([tag, lines]) => ({
    tag,
    effects: lines,
    call: calls.find((call) => call.text.includes(tag)),
  }));
}

const callsIn = (workstream: WorkstreamOnDisk) =>
  workersOf(workstream).flatMap((worker) =>
    // Of a task, the calls of its sub-agent do it.
    callsBy(worker).flatMap(({ id: callId, name, arguments: text }) =>
      name === 'task'
        ? []
        : [{ callId, text, worker, polls: name === 'watch' ? pollsOf(workstream, text) : undefined }],
    ),
  );

/** All claimed polls of the watches with the command of this call. */
const pollsOf = ({ watches }: WorkstreamOnDisk, text: string): number =>
  watches.reduce((sum, { command, poll_count: polls }) => sum + (JSON.parse(text).command === command ? polls : 0), 0);

const placeOf = ({ tag, call }: Performance): string =>
  call ? `${tag}, call ${call.callId} of ${call.worker.place}` : tag;
