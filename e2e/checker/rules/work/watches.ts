import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import type { Evidence, Finding, WorkstreamOnDisk } from '../../evidence.ts';

type Watch = WorkstreamOnDisk['watches'][number];

/** A watch ends once, in its events and in its row, and has at most as many polls as were allowed. */
export function* watchEndsOnce({ disk, settled }: Evidence): Generator<Finding> {
  for (const { wsId, events, watches } of disk.workstreams) {
    const told = events.flatMap(({ event }) => (event.type === 'watch' ? [event] : []));
    for (const watch of watches) {
      const states = told.filter(({ watch_id }) => watch_id === watch.watch_id);
      for (const what of wrongEnds(watch, { states, settled }))
        yield { what: `${watch.watch_id} ${what}`, where: wsId };
    }
  }
}

function wrongEnds(
  { active, end_kind: end, poll_count: polls, max_polls: most, is_polling }: Watch,
  { states, settled }: { states: readonly StreamEventOf<'watch'>[]; settled: boolean },
): string[] {
  const ends = states.filter((event) => event.active === 0);
  const first = states.findIndex((event) => event.active === 0);
  const isOver = active === 0;
  const problems: [boolean, string][] = [
    [polls > most, `was polled ${polls} times, ${most} were allowed`],
    [first >= 0 && states.slice(first).some((event) => event.active === 1), 'went on after its end'],
    [new Set(ends.map((event) => event.end)).size > 1, 'ended in two ways'],
    [isOver !== ends.length > 0, `is active: ${active}, and its end was told ${ends.length} times`],
    [isOver !== (end !== null), `is active: ${active}, and its end is ${end}`],
    [settled && isOver && is_polling === 1, 'polls after its end'],
  ];
  return problems.flatMap(([isWrong, what]) => (isWrong ? [what] : []));
}

/** The result of a watch becomes one message, after its end. */
export function* watchToldOnce({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const told = tellingRuns(workstream);
    for (const watch of workstream.watches) {
      const times = told.filter((id) => id === watch.watch_id).length;
      const what = wrongTelling(watch, times);
      if (what !== undefined) yield { what: `${watch.watch_id} ${what}`, where: workstream.wsId };
    }
  }
}

function wrongTelling({ active, result_json: waiting }: Watch, times: number): string | undefined {
  if (times > 1) return `was told ${times} times`;
  if (times === 1 && active === 1) return 'was told, but is active';
  return times === 1 && waiting !== null ? 'was told, and is to be told again' : undefined;
}

/** The watches whose results began runs. */
const tellingRuns = ({ runs }: WorkstreamOnDisk): string[] =>
  runs.flatMap(({ run }) => {
    const { watch }: { watch?: { id: string } } = JSON.parse(run.request_json);
    return watch ? [watch.id] : [];
  });
