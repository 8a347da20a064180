import type { ClusterMachine } from '../../../../protocol/cluster/cluster-methods.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { findHostTimeZone } from '../../../host-time-zone.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toLocal } from '../../local-time.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

/** The flags of `headgate cluster status`. */
export interface ClusterFlags extends TargetFlags {
  json?: boolean;
}

interface ClusterCommand {
  flags: ClusterFlags;
  around: Surroundings;
  root: URL;
}

/** Prints the daemons that share the store. */
export async function showCluster({ flags, around, root }: ClusterCommand): Promise<void> {
  const target = await resolveTarget(flags, around);
  const status = await withClient({ target, version: await readVersion(root) }, (client) =>
    client.call('cluster.status', {}),
  );
  const tz = findHostTimeZone();
  process.stdout.write(
    flags.json
      ? `${JSON.stringify(status, null, 2)}\n`
      : toTextTable([HEAD, ...status.machines.map((it) => toRow(it, tz))]) + toTroubles(status.machines),
  );
}

/** Why machines do not work together with the others, below the table. */
const toTroubles = (machines: readonly ClusterMachine[]): string =>
  machines
    .flatMap(({ nodeId, trouble }) =>
      trouble === undefined ? [] : [`${toSafeText(nodeId)}: ${toSafeText(trouble)}\n`],
    )
    .join('');

const HEAD = ['MACHINE', 'STATE', 'VERSION', 'LABELS', 'ADDRESS', 'SINCE', 'SEEN', 'EPOCH'];

function toRow(machine: ClusterMachine, tz: string): string[] {
  const { nodeId, state, version, labels = [], serverUrl, isHere, startedMs, seenAgoMs, lease } = machine;
  const agoMs = lease?.renewedAgoMs ?? seenAgoMs;
  return [
    `${toSafeText(nodeId)}${isHere ? ' *' : ''}`,
    state,
    toSafeText(version),
    toSafeText(labels.join(', ')),
    toSafeText(serverUrl),
    toLocal(lease?.sinceMs ?? startedMs, { tz }),
    `${Math.round(agoMs / 1000)} s ago`,
    lease === undefined ? '' : String(lease.epoch),
  ];
}
