import type { Membership } from '../../gateway/workers/team.ts';
import { iso } from '../iso.ts';
import type { Forwarder } from './forwarder.ts';

/** What a standby says about itself. */
export interface StandbyState {
  version: string;
  nodeId: string;
  /** Of a worker, which runs workstreams for the active daemon. */
  membership?: Readonly<Membership> | undefined;
  /** The daemon that is active; undefined while there is none, or while it is unknown. */
  active: { nodeId: string; url: string | undefined; sinceMs: number } | undefined;
}

/** So that monitoring does not take a standby for a daemon that is down. */
export const toMetrics = (
  { membership }: StandbyState,
  { forwarded, open }: Forwarder['counts'],
): string => `# HELP service_lease_held 1: this daemon is the active one
# TYPE service_lease_held gauge
service_lease_held 0
# HELP service_machine_role Always 1
# TYPE service_machine_role gauge
service_machine_role{role="${membership ? 'worker' : 'standby'}"} 1
${membership ? joined(membership) : ''}# HELP service_forwarded_requests_total Requests that this standby forwarded to the active daemon
# TYPE service_forwarded_requests_total counter
service_forwarded_requests_total ${forwarded}
# HELP service_forwarded_open Forwarded requests and sockets that go on
# TYPE service_forwarded_open gauge
service_forwarded_open ${open}
`;

const joined = ({
  isJoined,
}: Readonly<Membership>): string => `# HELP service_worker_joined 1: this worker has joined the active daemon
# TYPE service_worker_joined gauge
service_worker_joined ${isJoined ? 1 : 0}
`;

export const toHealth = ({ version, nodeId, membership, active }: StandbyState, upMs: number) => ({
  status: membership ? 'worker' : 'standby',
  version,
  node_id: nodeId,
  uptime_seconds: Math.round(upMs / 100) / 10,
  active: active ? { node_id: active.nodeId, url: active.url ?? null, since: iso(active.sinceMs) } : null,
  ...(membership && { joined: membership.isJoined, trouble: membership.trouble ?? null }),
});
