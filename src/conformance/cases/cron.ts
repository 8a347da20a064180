import { z } from 'zod';
import { CronJob } from '../../../protocol/cron.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import { type Lab, needs, type Session } from '../lab.ts';
import { expectEqual, expectThat, Inapplicable, Violation } from '../verdict.ts';
import { MESSAGE } from './calls.ts';

const DAY_MS = 86_400_000;
/** A job that does not become due during a case. It has a separate session, which `withJob` removes too. */
const JOB = {
  name: 'conformance',
  schedule: { kind: 'every', everyMs: DAY_MS },
  sessionTarget: 'isolated',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'agentTurn', message: MESSAGE, timeoutSeconds: 5 },
};
/** For a job that runs: its result is not posted to the session `main`. */
const QUIET = { tellMain: false };

const Jobs = z.object({ jobs: z.array(z.object({ id: z.string() })) });
const Revised = z.object({ jobs: z.array(z.object({ id: z.string(), name: z.string(), revision: z.int() })) });
const Preview = z.object({ runs: z.array(z.object({ atMs: z.int(), local: z.string(), offset: z.string() })) });
const Told = z.object({ jobId: z.string(), action: z.string() });

/** Creates a job, and removes it after the work. */
async function withJob<T>(
  lab: Lab,
  work: (session: Session, job: CronJob) => Promise<T>,
  asked: object = {},
): Promise<T> {
  const session = await lab.connect();
  needs(session, 'cron.add', 'cron.remove', 'sessions.delete');
  const { ok, payload, error } = await session.request('cron.add', { ...JOB, ...asked });
  if (!ok && 'tellMain' in asked) throw new Inapplicable('a run of a job would leave a line in the session main');
  if (!ok) throw new Violation(`cron.add was answered ${error?.code}: ${error?.message}`);
  const { id } = z.object({ id: z.string() }).parse(payload);
  lab.takeBack(async () => (await lab.connect()).request('sessions.delete', { key: `cron:${id}` }));
  lab.takeBack(async () => (await lab.connect()).request('cron.remove', { id }));
  const worked = await work(session, CronJob.parse(payload));
  await session.call('cron.remove', { id });
  return worked;
}

async function refusalOf(session: Session, method: string, params: object): Promise<string> {
  const { ok, error } = await session.request(method, params);
  expectEqual({ ok, code: error?.code }, { ok: false, code: 'INVALID_REQUEST' }, `the answer to ${method}`);
  return error?.message ?? '';
}

async function listed(session: Session, params: object): Promise<string[]> {
  return Jobs.parse(await session.call('cron.list', params)).jobs.map(({ id }) => id);
}

export const cronCases: ConformanceCase[] = [
  {
    must: 'A refused `cron.add` must name the field and create nothing; a refused `cron.update` must change nothing',
    run: (lab) =>
      withJob(lab, async (session, job) => {
        needs(session, 'cron.update', 'cron.list');
        const wrong: [string, object][] = [
          ['expr', { schedule: { kind: 'cron', expr: '99 * * * *' } }],
          ['expr', { schedule: { kind: 'cron', expr: '0 0 30 2 *' } }],
          ['tz', { schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'Europe/Nowhere' } }],
          ['atMs', { schedule: { kind: 'at', atMs: -1 } }],
          ['payload', { sessionTarget: 'main' }],
        ];
        for (const [field, asked] of wrong) {
          const told = await refusalOf(session, 'cron.add', { ...JOB, ...asked });
          expectThat(told.includes(field), `the error does not name ${field}: ${told}`);
          await refusalOf(session, 'cron.update', { id: job.id, patch: { name: 'changed', ...asked } });
        }
        const { jobs } = z.object({ jobs: z.array(CronJob) }).parse(await session.call('cron.list', {}));
        expectEqual(
          jobs.find(({ id }) => id === job.id),
          job,
          'the job',
        );
      }),
  },
  {
    must: 'An unknown job id must be answered NOT_FOUND, except by `cron.remove` and `cron.runs`, which succeed',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'cron.update', 'cron.run', 'cron.remove', 'cron.runs');
      for (const [method, params] of [
        ['cron.update', { id: 'nobody', patch: {} }],
        ['cron.run', { id: 'nobody' }],
      ] as const) {
        expectEqual((await session.request(method, params)).error?.code, 'NOT_FOUND', `the answer to ${method}`);
      }
      expectEqual(await session.call('cron.remove', { id: 'nobody' }), { ok: true, removed: false }, 'the removal');
      expectEqual(await session.call('cron.runs', { id: 'nobody' }), { entries: [] }, 'the runs');
    },
  },
  {
    must: 'Without `extended` a job must have the fields of the specification and no others',
    run: (lab) =>
      withJob(lab, async (session) => {
        needs(session, 'cron.list');
        const { error } = z.object({ jobs: z.array(CronJob) }).safeParse(await session.call('cron.list', {}));
        expectThat(error === undefined, `the list does not fit its shape: ${error?.issues[0]?.message}`);
      }),
  },
  {
    must: 'Everything that happens to a job must be sent as a `cron` event, without gaps in `seq`',
    async run(lab) {
      const { id, session } = await withJob(
        lab,
        async (of, job) => {
          needs(of, 'cron.update', 'cron.run');
          await of.call('cron.update', { id: job.id, patch: { name: 'renamed' } });
          await of.call('cron.run', { id: job.id, mode: 'force' });
          return { id: job.id, session: of };
        },
        QUIET,
      );
      const told = () =>
        session.events('cron').flatMap(({ payload }) => {
          const { data } = Told.safeParse(payload);
          return data?.jobId === id ? [data.action] : [];
        });
      await session.until('removed', () => told().includes('removed') || undefined);
      expectEqual(told(), ['added', 'updated', 'started', 'finished', 'removed'], 'the events');
    },
  },
  {
    must: '`cron.list` must start with the job that is due next, and include disabled jobs only on request',
    run: (lab) =>
      withJob(
        lab,
        async (session, { id }) => {
          needs(session, 'cron.list');
          expectThat(!(await listed(session, {})).includes(id), 'the disabled job is listed without includeDisabled');
          expectThat(
            (await listed(session, { includeDisabled: true })).includes(id),
            'the disabled job is missing with includeDisabled',
          );
        },
        { enabled: false },
      ),
  },
  {
    must: '`cron.run` must report whether the job ran, and wait for the end unless `wait` is false',
    run: (lab) =>
      withJob(
        lab,
        async (session, { id }) => {
          needs(session, 'cron.run', 'cron.runs');
          const early = await session.call('cron.run', { id });
          expectEqual(early, { ok: true, ran: false, reason: 'not-due' }, 'the answer before its time');
          expectEqual(await session.call('cron.run', { id, mode: 'force' }), { ok: true, ran: true }, 'the answer');
          const { entries } = z
            .object({ entries: z.array(z.unknown()) })
            .parse(await session.call('cron.runs', { id }));
          expectEqual(entries.length, 1, 'the stored runs');
        },
        QUIET,
      ),
  },
  {
    must: 'The `read` scope must allow viewing jobs but not changing them',
    run: (lab) =>
      withJob(lab, async (session, { id }) => {
        needs(session, 'cron.list');
        const reader = await lab.connect((await lab.makeReader(session)).token);
        expectThat((await listed(reader, {})).includes(id), 'the job is not listed');
        for (const [method, params] of [
          ['cron.add', JOB],
          ['cron.update', { id, patch: { name: 'changed' } }],
          ['cron.run', { id, mode: 'force' }],
          ['cron.remove', { id }],
        ] as const) {
          expectEqual((await reader.request(method, params)).error?.code, 'FORBIDDEN', `the answer to ${method}`);
        }
        expectThat((await listed(session, {})).includes(id), 'the job is gone');
      }),
  },
  {
    must: 'A `cron.update` with an outdated `revision` must be answered CONFLICT and change nothing',
    run: (lab) =>
      withJob(lab, async (session, { id }) => {
        needs(session, 'cron.update', 'cron.list');
        const now = async () => {
          const { jobs } = Revised.parse(await session.call('cron.list', { extended: true }));
          return jobs.find((job) => job.id === id);
        };
        const before = await now();
        const rename = (name: string) =>
          session.request('cron.update', { id, revision: before?.revision, patch: { name } });
        expectEqual((await rename('first')).ok, true, 'whether the first change was accepted');
        expectEqual((await rename('second')).error?.code, 'CONFLICT', 'the answer to the second');
        expectEqual((await now())?.name, 'first', 'the name');
      }),
  },
  {
    must: '`cron.preview` must return its times in order, each with its local time and offset',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'cron.preview');
      const schedule = { kind: 'cron', expr: '*/7 * * * *', tz: 'Australia/Lord_Howe' };
      const { runs } = Preview.parse(await session.call('cron.preview', { schedule, count: 50, fromMs: 0 }));
      expectEqual(runs.length, 50, 'how many times');
      for (const [index, { atMs, local, offset }] of runs.entries()) {
        expectThat(atMs > (runs[index - 1]?.atMs ?? 0), 'a time is not after the previous one');
        expectEqual(Date.parse(`${local}${offset}`), atMs, 'the local time with its offset');
      }
    },
  },
  {
    must: 'A job must keep the time zone that applied when it was created',
    run: (lab) =>
      withJob(
        lab,
        async (_, { schedule }) =>
          expectThat(schedule.kind === 'cron' && Boolean(schedule.tz), 'the schedule has no time zone'),
        { schedule: { kind: 'cron', expr: '0 9 * * *' } },
      ),
  },
];
