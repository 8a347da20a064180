import { GatewayError } from '../../../protocol/errors.ts';
import type { Params } from '../../../protocol/index.ts';
import type { Scheduler } from '../../cron/scheduler.ts';
import { unknownNode } from '../cluster/node-ids.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import type { Placement } from '../workers/team.ts';
import type { JobsElsewhere } from './jobs-elsewhere.ts';

export interface Placing {
  placement: Pick<Placement, 'has' | 'machines'>;
  /** This machine. */
  nodeId: string;
  cron: { scheduler: Pick<Scheduler, 'jobs'>; elsewhere: Pick<JobsElsewhere, 'enabled'> };
}

type NewJob = Pick<Params<'cron.add'>, 'payload' | 'nodeId'>;

/**
 * Throws Elsewhere if another machine is to have the new job: the worker that its caller names, or the one with the fewest
 * jobs, if it has fewer than this machine. The main session is with the active daemon.
 */
export async function placeJob(asked: NewJob, { placement, nodeId, cron }: Placing): Promise<void> {
  if (asked.nodeId === nodeId) return;
  if (asked.nodeId !== undefined) {
    if (!placement.has(asked.nodeId)) throw unknownNode();
    if (isBound(asked)) throw new GatewayError('INVALID_REQUEST', BOUND);
    throw new Elsewhere(asked.nodeId);
  }
  const workers = placement.machines();
  if (workers.length === 0 || isBound(asked)) return;
  const counts = await cron.elsewhere.enabled();
  const own = [...cron.scheduler.jobs()].filter(
    ({ enabled, payload }) => enabled && payload.kind === 'agentTurn',
  ).length;
  const [least] = workers.map((id) => ({ id, jobs: counts.get(id) ?? 0 })).sort((a, b) => a.jobs - b.jobs);
  if (least !== undefined && least.jobs < own) throw new Elsewhere(least.id);
}

const BOUND = 'nodeId: jobs in the main session run on the active machine';

const isBound = ({ payload }: NewJob): boolean => payload.kind === 'systemEvent';
