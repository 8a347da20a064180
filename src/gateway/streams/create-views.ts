import type { Clock } from '../../clock.ts';
import type { Broadcast } from '../connections/broadcast.ts';
import type { EventLog } from '../events/event-log.ts';
import { AgentEvents } from './agent-events.ts';
import { GlobalEvents } from './global-events.ts';
import { UnseenRuns } from './unseen-runs.ts';

interface ViewDeps {
  events: EventLog;
  clock: Clock;
}

interface SharedWithViews {
  broadcast: Pick<Broadcast, 'toWatchers'>;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** What clients see of runs and workstreams, apart from the logs. */
export function createViews({ events, clock }: ViewDeps, { broadcast, stopping }: SharedWithViews) {
  return {
    unseenRuns: new UnseenRuns({ clock, events }),
    /** Runs as protocol-2 clients see them. */
    agentEvents: new AgentEvents({
      events,
      clock,
      stopping,
      send: (about, { event, payload }) => broadcast.toWatchers(event, about, JSON.stringify(payload)),
    }),
    global: new GlobalEvents({ events }),
  };
}
