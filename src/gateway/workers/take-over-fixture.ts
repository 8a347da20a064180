import assert from 'node:assert/strict';
import { systemClock } from '../../clock.ts';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import { queryPostgres, sharedPostgres } from '../../testing/postgres-server.ts';
import { someMachine } from '../../testing/some-machine.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { insertJob } from '../cron/job-rows.ts';
import { openPostgresStore } from '../store/postgres/postgres-store.ts';
import type { TakeOverDeps } from './take-over.ts';
import { WaitingWorkstreams } from './waiting-workstreams.ts';

export const open = (url: string, nodeId: string, isWorker = false) =>
  openPostgresStore({ url, machine: { ...someMachine(nodeId), isWorker }, clock: systemClock, log: recordingLog() });

/** The folders of this machine, by their paths, with their inodes. */
const FOLDERS = new Map([
  ['/here', '7'],
  ['/replaced', '8'],
]);

/** An active daemon with workstreams of the worker `w`. */
export async function takeOverScene() {
  const url = await (await sharedPostgres()).createDatabase();
  const active = await open(url, 'a');
  const worker = await open(url, 'w', true);
  const add = (
    wsId: string,
    machine: string | null,
    { workdir = '/here', ino = '7', labels }: { workdir?: string; ino?: string | null; labels?: string } = {},
  ) =>
    queryPostgres(
      url,
      `insert into headgate.workstreams (ws_id, generated_name, workdir, workdir_ino, machine, machine_labels, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
        values ('${wsId}', 'n', '${workdir}', ${ino === null ? 'null' : `'${ino}'`}, ${machine === null ? 'null' : `'${machine}'`}, ${labels === undefined ? 'null' : `'${labels}'`}, 1, 0, 0, 0, 1, 1)`,
    );
  /** A job, with its session in this workstream. */
  const addJob = async (jobId: string, machine: string | null, wsId?: string) => {
    await active.commit({ statements: [insertJob(someJob({ id: jobId }), machine)] });
    if (wsId !== undefined)
      await queryPostgres(url, `update headgate.workstreams set session_key = 'cron:${jobId}' where ws_id = '${wsId}'`);
  };
  const jobs = async () => {
    const rows = await queryPostgres(url, 'select job_id, machine from headgate.cron_jobs order by job_id');
    return Object.fromEntries(rows.map(({ job_id, machine }) => [String(job_id), machine]));
  };
  const machines = async () => {
    const rows = await queryPostgres(url, 'select ws_id, machine from headgate.workstreams order by ws_id');
    return Object.fromEntries(rows.map(({ ws_id, machine }) => [String(ws_id), machine]));
  };
  const adopted: unknown[] = [];
  const taken: string[] = [];
  const log = recordingLog();
  const { shared } = active;
  assert.ok(shared);
  const waiting = new WaitingWorkstreams({ store: active, nodeId: 'a' });
  const deps: TakeOverDeps = {
    store: active,
    shared,
    owner: {
      labels: ['eu', 'ssd'],
      async identify(path) {
        const ino = FOLDERS.get(path);
        if (ino === undefined) throw new Error('no such folder');
        return { path, ino };
      },
    },
    waiting,
    async adopt({ from, takeRows }) {
      adopted.push([from.machine, await machines()]);
      await takeRows();
    },
    takeJobs: (jobIds) => void taken.push(...jobIds),
    log,
  };
  const dispose = async () => {
    for (const store of [worker, active]) await store.close();
  };
  return {
    url,
    active,
    worker,
    add,
    addJob,
    jobs,
    machines,
    adopted,
    taken,
    deps,
    waiting,
    log,
    [Symbol.asyncDispose]: dispose,
  };
}
