import type { Cron } from '../cron/create-cron.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { scheduleMethods } from '../methods/admin/schedule.ts';
import { type CronMethodDeps, cronMethods } from '../methods/cron.ts';

type JobDeps = Pick<GatewayDeps, 'store' | 'live' | 'storePath' | 'server' | 'clock' | 'hostTimeZone'>;

interface JobParts extends Pick<CronMethodDeps, 'channels' | 'placement'> {
  cron: Cron;
}

/** Jobs, for everyone and as administrators see them. Each machine runs its own. */
export const jobNouns = (
  { store, live, storePath, server, clock, hostTimeZone }: JobDeps,
  { cron, channels, placement }: JobParts,
) => ({
  cron: {
    methods: cronMethods({ cron, channels, live, storePath, clock, hostTimeZone, placement, nodeId: server.nodeId }),
    run: (signal: AbortSignal) => cron.run(signal),
  },
  schedule: { methods: scheduleMethods({ cron, placement, store, server, clock }) },
});
