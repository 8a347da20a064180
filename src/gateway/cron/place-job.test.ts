import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import { placeJob } from './place-job.ts';

type Asked = Parameters<typeof placeJob>[0];

const TURN: Asked = { payload: { kind: 'agentTurn', message: 'look' } };
const LINE: Asked = { payload: { kind: 'systemEvent', text: 'look' } };

/** Where the job goes: a machine, or what refuses it. `far`: how many jobs the joined workers have. */
async function placeOf(asked: Asked, { own = 0, far = {} }: { own?: number; far?: Record<string, number> } = {}) {
  const jobs = Array.from({ length: own }, (_, n): Job => someJob({ id: `job_${n}`, payload: TURN.payload }));
  const workers = Object.keys(far);
  try {
    await placeJob(asked, {
      placement: { has: (id) => workers.includes(id), machines: () => workers },
      nodeId: 'here',
      cron: {
        scheduler: { jobs: () => [...jobs, someJob({ enabled: false }), someJob({ payload: LINE.payload })] },
        elsewhere: {
          enabled: async () => new Map([...Object.entries(far).filter(([, jobsOf]) => jobsOf > 0), ['lost', 0]]),
        },
      },
    });
    return 'here';
  } catch (error) {
    if (error instanceof Elsewhere) return error.machine;
    return error instanceof GatewayError ? error.code : assert.fail();
  }
}

test('a new job goes to the machine with the fewest enabled jobs, and stays here if none has fewer', async () => {
  assert.deepEqual(
    await Promise.all([
      placeOf(TURN, { own: 5 }),
      placeOf(TURN, { own: 0, far: { w: 0 } }),
      placeOf(TURN, { own: 1, far: { w: 0 } }),
      placeOf(TURN, { own: 3, far: { v: 2, w: 1 } }),
      placeOf(TURN, { own: 1, far: { v: 1, w: 1 } }),
    ]),
    ['here', 'here', 'w', 'w', 'here'],
  );
});

test('a job for the main session stays here, and cannot go to another machine', async () => {
  const at = { own: 5, far: { w: 0 } };
  assert.deepEqual(
    await Promise.all([
      placeOf(LINE, at),
      placeOf({ ...LINE, nodeId: 'w' }, at),
      placeOf({ ...LINE, nodeId: 'here' }, at),
    ]),
    ['here', 'INVALID_REQUEST', 'here'],
  );
});

test('a caller may name the machine, if it has joined', async () => {
  const at = { own: 0, far: { w: 9 } };
  assert.deepEqual(
    await Promise.all([
      placeOf({ ...TURN, nodeId: 'w' }, at),
      placeOf({ ...TURN, nodeId: 'here' }, at),
      placeOf({ ...TURN, nodeId: 'lost' }, at),
    ]),
    ['w', 'here', 'NOT_FOUND'],
  );
});
