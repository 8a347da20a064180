import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Result } from '../../../protocol/index.ts';
import type { UsageTotal } from '../../../protocol/methods/usage.ts';
import { toDay } from '../../day.ts';
import { readScheduleStatus, type ScheduleStatus } from '../cron/schedule-status.ts';

type DashboardRow = Result<'workstream.dashboard'>['workstreams'][number];

/** An open workstream and what it has cost. */
export interface TopRow extends DashboardRow {
  /** Undefined without usage that is listed. */
  costUsd: number | undefined;
}

/** What the daemon does, at one moment. */
export interface Top {
  atMs: number;
  version: string;
  uptimeSeconds: number;
  /** Those that wait first, then those that run, that failed, and the others. */
  workstreams: readonly TopRow[];
  /** Of today in UTC. */
  today: UsageTotal | undefined;
  schedule: ScheduleStatus;
}

const ORDER: Record<TopRow['state'], number> = { attention: 0, running: 1, thinking: 1, error: 2, idle: 3 };

export async function readTop(client: Pick<GatewayClient, 'call'>, nowMs: number): Promise<Top> {
  const from = toDay(nowMs);
  const [health, board, byWorkstream, today, schedule] = await Promise.all([
    client.call('health', {}),
    client.call('workstream.dashboard', {}),
    client.call('usage.get', { by: 'workstream' }),
    client.call('usage.get', { by: 'day', from }),
    readScheduleStatus(client),
  ]);
  const costs = new Map(byWorkstream.rows.map(({ key, costUsd }) => [key, costUsd]));
  const rows = board.workstreams.map((row) => ({ ...row, costUsd: costs.get(row.wsId) }));
  return {
    atMs: nowMs,
    version: health.version,
    uptimeSeconds: board.uptimeSeconds,
    workstreams: rows.sort((one, other) => ORDER[one.state] - ORDER[other.state]),
    today: today.total,
    schedule,
  };
}
