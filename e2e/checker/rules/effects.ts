import type { Boot, Effect, Evidence, Finding, RunOnDisk } from '../evidence.ts';

/** How long a process may take to die after its run ended: asked, half a second of grace, killed. */
const GRACE_MS = 2_000;

/** What one tool call left behind, and the call itself if there is one. */
interface Performance {
  tag: string;
  effects: Effect[];
  call: { callId: string; onDisk: RunOnDisk } | undefined;
}

/** Each line was written once, by a call that had been started, and it ran no oftener than the journal says (I7). */
export function* effectsOfStarts(evidence: Evidence): Generator<Finding> {
  for (const performance of performancesIn(evidence)) {
    for (const what of excesses(performance)) yield { what, where: placeOf(performance) };
  }
}

function* excesses({ effects, call }: Performance): Generator<string> {
  if (!call) {
    yield 'was written, but no call holds it';
    return;
  }
  const lines = effects.map(({ start, phase }) => `${start} ${phase}`);
  const twice = lines.find((line, index) => lines.indexOf(line) < index);
  if (twice !== undefined) yield `${twice} was written twice`;
  const startsMs = startsOf(call);
  const ran = new Set(effects.map(({ start }) => start)).size;
  if (ran > startsMs.length) yield `ran ${ran} times, started ${startsMs.length} times`;
  const [firstMs] = startsMs;
  if (firstMs !== undefined && effects.some(({ atMs }) => atMs < firstMs)) yield 'ran before its start was on record';
}

/** When the journal says that it was started, oldest first. */
const startsOf = ({ callId, onDisk }: NonNullable<Performance['call']>): number[] =>
  onDisk.journal.flatMap((entry) => (entry.kind === 'tool_started' && entry.callId === callId ? [entry.atMs] : []));

/** Nothing is written after the run has ended, nor by a process of a daemon that died once the next one serves. */
export function* nothingOutlives(evidence: Evidence): Generator<Finding> {
  for (const performance of performancesIn(evidence)) {
    const endedMs = performance.call?.onDisk.run.ended_ms ?? Number.POSITIVE_INFINITY;
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

/** When its processes have to be gone: soon, or when the next daemon serves if there was none to end them in that time. */
function deadlineOf(endedMs: number, boots: readonly Boot[]): number {
  const died = boots.findIndex(({ diedMs = 0 }) => diedMs >= endedMs && diedMs <= endedMs + GRACE_MS);
  if (died < 0) return endedMs + GRACE_MS;
  return boots.slice(died + 1).find(({ readyMs }) => readyMs !== undefined)?.readyMs ?? Number.POSITIVE_INFINITY;
}

/** Its daemon died after it began, and the next one was ready before it wrote. */
function hasOutlived({ start, atMs }: Effect, { effects }: Performance, boots: readonly Boot[]): boolean {
  const begun = effects.find((effect) => effect.start === start && effect.phase === 'begin');
  if (!begun) return false;
  const own = boots.findLastIndex(({ spawnedMs }) => spawnedMs <= begun.atMs);
  return boots.slice(own + 1).some(({ readyMs }) => readyMs !== undefined && readyMs < atMs);
}

function performancesIn({ disk, effects }: Evidence): Performance[] {
  const calls = disk.workstreams.flatMap(({ runs }) => runs.flatMap(callsIn));
  return [...Map.groupBy(effects, ({ tag }) => tag)].map(([tag, lines]) => ({
    tag,
    effects: lines,
    call: calls.find((call) => call.text.includes(tag)),
  }));
}

const callsIn = (onDisk: RunOnDisk) =>
  onDisk.journal.flatMap((entry) =>
    entry.kind === 'model_answered'
      ? entry.calls.map((call) => ({ callId: call.id, text: call.arguments, onDisk }))
      : [],
  );

const placeOf = ({ tag, call }: Performance): string =>
  call ? `${tag}, call ${call.callId} of ${call.onDisk.run.run_id}` : tag;
