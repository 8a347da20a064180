import type { CronEvent } from '../../protocol/cron.ts';
import type { HeartbeatEvent } from '../../protocol/methods/wake.ts';
import type { Channels } from './channels/channels.ts';
import type { Commands } from './commands/commands.ts';
import type { Broadcast } from './connections/broadcast.ts';
import { createCron } from './cron/create-cron.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { Runs } from './runs/runs.ts';
import { Heartbeats } from './wake/heartbeats.ts';
import type { SystemEvents } from './wake/system-events.ts';
import type { Workstreams } from './workstreams/workstreams.ts';

/** What jobs and heartbeats need. */
export type ScheduleDeps = Pick<
  GatewayDeps,
  'store' | 'shared' | 'authenticator' | 'toolbox' | 'live' | 'hostTimeZone' | 'clock' | 'ids' | 'log'
>;

interface ScheduledParts {
  broadcast: Broadcast;
  systemEvents: SystemEvents;
  workstreams: Workstreams;
  channels: Channels;
  runs: Runs;
  commands: Commands;
}

/** What starts turns at its time, without a caller: heartbeats and jobs. */
export function createSchedules(
  { store, shared, authenticator, toolbox, live, hostTimeZone, clock, ids, log }: ScheduleDeps,
  { broadcast, systemEvents, workstreams, channels, runs, commands }: ScheduledParts,
) {
  const heartbeats = new Heartbeats({
    workstreams,
    runs,
    systemEvents,
    live,
    clock,
    log,
    publish: (event: HeartbeatEvent) => broadcast.publish('heartbeat', event),
  });
  const cron = createCron({
    workstreams,
    runs,
    commands,
    channels,
    viewerOf: (principalId) => authenticator.viewerOf(principalId),
    systemEvents,
    heartbeats,
    toolbox,
    store,
    shared,
    live,
    hostTimeZone,
    clock,
    ids,
    log,
    publish: (event: CronEvent) => broadcast.publish('cron', event, { isTold: true }),
  });
  return { heartbeats, cron };
}
