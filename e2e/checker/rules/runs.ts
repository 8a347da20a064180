import type { Evidence, Finding, RunOnDisk, WorkstreamOnDisk } from '../evidence.ts';

const isOver = ({ run }: RunOnDisk): boolean => run.status !== 'queued' && run.status !== 'running';

/** An ended run has one end in its row, its journal and the log; an open run has none (I4, promise 3). */
export function* oneEnd({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    const told = countTold(workstream);
    for (const onDisk of workstream.runs) {
      const { run_id: runId, status } = onDisk.run;
      const found = endsFound(onDisk, told);
      const due = endsDue(onDisk);
      const wrong = keysOf(due).filter((key) => found[key] !== due[key]);
      const what = wrong.map((key) => `${key}: ${found[key]} where ${due[key]} is due`).join('; ');
      if (wrong.length > 0) yield { what: `${status} run: ${what}`, where: `${workstream.wsId} ${runId}` };
    }
  }
}

const endsFound = ({ run, journal }: RunOnDisk, told: ReturnType<typeof countTold>) => ({
  'ends in its journal': journal.flatMap((entry) => (entry.kind === 'ended' ? [entry.status] : [])).join(', '),
  'has an end in its row': run.ended_ms !== null,
  'ends in the log': told.ends.get(run.run_id) ?? 0,
  'begins in the log': told.begins.has(run.run_id),
});

function endsDue(onDisk: RunOnDisk): ReturnType<typeof endsFound> {
  const { status, started_ms: startedMs } = onDisk.run;
  const over = isOver(onDisk);
  return {
    'ends in its journal': over ? status : '',
    'has an end in its row': over,
    'ends in the log': over && startedMs !== null ? 1 : 0,
    'begins in the log': startedMs !== null,
  };
}

function countTold({ events }: WorkstreamOnDisk) {
  const ends = new Map<string, number>();
  const begins = new Set<string>();
  for (const { event } of events) {
    if (event.type === 'user_turn') begins.add(event.run_id);
    if (event.type !== 'ws_state' || !event.run) continue;
    ends.set(event.run.run_id, (ends.get(event.run.run_id) ?? 0) + 1);
  }
  return { ends, begins };
}

/** `Object.keys` loses the key types. */
const keysOf = <T extends object>(value: T) => Object.keys(value) as (keyof T & string)[];

/** At most one run of a workstream is open, and it has the current epoch (I8). */
export function* oneRunAtATime({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, runs, runEpoch } of disk.workstreams) {
    const running = runs.filter(({ run }) => run.status === 'running').map(({ run }) => run);
    if (running.length > 1)
      yield { what: `${running.map((run) => run.run_id).join(' and ')} run at once`, where: wsId };
    for (const run of running) {
      if (run.epoch === runEpoch) continue;
      yield { what: `${run.run_id} runs under epoch ${run.epoch}, but ${runEpoch} may write`, where: wsId };
    }
  }
}

export function* allOver({ disk, settled }: Evidence): Generator<Finding> {
  if (!settled) return;
  for (const { wsId, runs, approvals } of disk.workstreams) {
    for (const onDisk of runs) {
      if (!isOver(onDisk)) yield { what: `${onDisk.run.run_id} is ${onDisk.run.status}`, where: wsId };
    }
    for (const { approval_id, status } of approvals) {
      if (status === 'pending') yield { what: `${approval_id} is pending`, where: wsId };
    }
  }
}
