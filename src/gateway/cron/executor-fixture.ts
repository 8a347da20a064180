import assert from 'node:assert/strict';
import type { Begun } from '../../cron/executor.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import type { Claim, OpenOccurrence } from '../../cron/occurrence.ts';
import { randomIds } from '../../ids.ts';
import type { Channel } from '../channels/channel.ts';
import { createChannels } from '../channels/channels.ts';
import { ANYONE, DAEMON } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { storedReader } from '../store/stored-value.ts';
import { type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';
import { createMainSession } from '../wake/main-session.ts';
import { createExecutor } from './create-executor.ts';
import { insertJob } from './job-rows.ts';
import { insertClaim, toOpenOccurrence } from './occurrence-rows.ts';

const hook: Channel = {
  name: 'webhook',
  destinations: ['ops'],
  find: async (to) => (to === 'ops' ? to : undefined),
  deliver: async () => 'taken',
};

/** An executor with the parts of a whole gateway, and claims as a ledger creates them. */
export async function executorFixture(options: WholeGatewayOptions = {}) {
  const gateway = await wholeGateway(options);
  const woken: string[] = [];
  let scheduledMs = 0;
  const executor = () =>
    createExecutor({
      ...gateway.parts,
      channels: createChannels([hook]),
      viewerOf: () => ANYONE,
      main: createMainSession({
        store: gateway.store,
        systemEvents: gateway.parts.systemEvents,
        heartbeats: { wake: (principal) => void woken.push(principal) },
        ids: randomIds,
        clock: gateway.clock,
      }),
      clock: gateway.clock,
      log: gateway.log,
      owner: 'me',
    });
  const occurrence = async ({ jobId, scheduledMs: atMs }: Claim): Promise<OpenOccurrence> => {
    const row = await gateway.store.db
      .selectFrom('cron_occurrences')
      .selectAll()
      .where('job_id', '=', jobId)
      .where('scheduled_ms', '=', atMs)
      .executeTakeFirstOrThrow();
    return toOpenOccurrence(row, storedReader(gateway.store)) ?? assert.fail('it is over');
  };
  return {
    gateway,
    /** The callers that requested heartbeats. */
    woken,
    /** Stores the job with a claim on its next occurrence; ends earlier ones. */
    async claim(job: Job): Promise<Claim> {
      scheduledMs += 1;
      const claim: Claim = { jobId: job.id, scheduledMs, trigger: 'schedule', epoch: 1, attempts: 0 };
      await gateway.store.commit({
        statements: [
          ...[forget(job), insertJob(job), endOpen],
          ...[insertClaim({ ...claim, owner: 'me', leaseMs: 100 }), laterClaim(claim)],
        ],
      });
      return claim;
    },
    begin: (job: Job, claim: Claim) => executor().begin(job, claim),
    /** Simulates a crash now and resumes. */
    async afterCrash(job: Job, claim: Claim): Promise<Begun | undefined> {
      await gateway.crash();
      return executor().resume(job, await occurrence(claim));
    },
    occurrence,
    /** Begins a job; fails the test if it does not begin. */
    async run(job: Job): Promise<Begun> {
      return (await executor().begin(job, await this.claim(job))) ?? assert.fail('did not begin');
    },
    /** The workstream of a job, and the last message that its model read. */
    async session({ id }: Job) {
      const workstream = (await gateway.parts.workstreams.findByKey(`cron:${id}`, DAEMON)) ?? assert.fail('no session');
      const { wsId } = workstream.data;
      const messages = async () => {
        const page = await gateway.parts.messages.page(wsId, { after: 0, upTo: 1_000, limit: 1_000 });
        return page.map(({ message }) => message);
      };
      return { workstream, messages };
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
    },
  };
}

const JOB = { name: 'Morning', wakeMode: 'next-heartbeat', nextMs: 5 } as const;

export const tellsMain = (text: string, more: Partial<Job> = {}): Job =>
  someJob({ ...JOB, sessionTarget: 'main', payload: { kind: 'systemEvent', text }, ...more });

type AgentTurn = Omit<Extract<Job['payload'], { kind: 'agentTurn' }>, 'kind' | 'message'>;

export const asksAgent = (message: string, { turn = {}, ...more }: Partial<Job> & { turn?: AgentTurn } = {}): Job =>
  someJob({ ...JOB, payload: { kind: 'agentTurn', message, ...turn }, ...more });

const forget = ({ id }: Job) => statementOf(build.deleteFrom('cron_jobs').where('job_id', '=', id));

/** A job has only one open occurrence at a time. */
const endOpen = statementOf(build.updateTable('cron_occurrences').set({ status: 'ok', ended_ms: 0 }));

/** The claim after so many attempts and owners. */
const laterClaim = ({ jobId, scheduledMs, epoch, attempts }: Claim) =>
  statementOf(
    build
      .updateTable('cron_occurrences')
      .set({ epoch, attempts })
      .where('job_id', '=', jobId)
      .where('scheduled_ms', '=', scheduledMs),
  );
