import { GatewayError } from '../../../protocol/errors.ts';
import type { GatewayEventPayload } from '../../../protocol/events/gateway.ts';
import type { NodeRow, PairedNode } from '../../../protocol/methods/node.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { type CommandPolicy, createCommandPolicy, type NodesConfig } from '../../lending/command-policy.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';
import { type ConnectedNodes, createConnectedNodes } from './connected-nodes.ts';
import { createInvocations, type Invocations } from './invocations.ts';
import { type LastSeen, openLastSeen } from './last-seen.ts';
import { createNodeDoor, type NodeDoor } from './node-door.ts';
import { openPairedNodes, type PairedNodes } from './paired-nodes.ts';
import { createPairingRequests, type PairingRequests } from './pairing-requests.ts';
import { createNodeReturn, type NodeReturn } from './return-of-nodes.ts';

/** Machines that lend commands: pairing, connections and invocations. */
export interface Nodes {
  door: NodeDoor;
  paired: PairedNodes;
  requests: PairingRequests;
  connected: ConnectedNodes;
  invocations: Invocations;
  /**
   * Paired nodes, connected ones first, then by name. Values from a current connection override stored ones.
   * `extended`: adds when disconnected nodes were last seen.
   */
  list(options?: { extended?: boolean | undefined }): NodeRow[];
  describe(nodeId: string): NodeRow;
  /** Resolves when a node is connected, or has had its time to come back. Rejects with the signal's reason. */
  returnOf: NodeReturn['of'];
  /** Replaces what nobody may see in a text of a node. */
  clean(text: string): string;
  /** Sets where announcements are published; called once, by the gateway. */
  onAnnouncement(publish: Publish): void;
  run(signal: AbortSignal): Promise<void>;
}

type Announced = 'node.pair.requested' | 'node.pair.resolved';
type Publish = <E extends Announced>(event: E, payload: GatewayEventPayload<E>) => void;

export interface NodesDeps {
  /** Replaces what must not be stored in a text of a node. */
  clean(text: string): string;
  store: Pick<Store, 'db' | 'commit' | 'reportDamage' | 'machine'>;
  lastAliveMs: number | undefined;
  /** The current rules of config.json. */
  rules(): NodesConfig;
  clock: Clock;
  ids: Pick<Ids, 'id' | 'secret'>;
  log: Log;
}

export async function openNodes({ store, lastAliveMs, rules, clean, clock, ids, log }: NodesDeps): Promise<Nodes> {
  let publish: Publish = () => undefined;
  const paired = await openPairedNodes({ store, clock, ids });
  const lastSeen = await openLastSeen({ store, lastAliveMs, clock, log });
  const connected = createConnectedNodes((nodeId, isConnected) => {
    lastSeen.saw(nodeId, isConnected);
    returning.saw(nodeId, isConnected);
  });
  const returning = createNodeReturn({ connected, clock });
  const requests = createPairingRequests({
    clock,
    ids,
    onRequested: (request) => publish('node.pair.requested', request),
    onResolved(resolved, link) {
      publish('node.pair.resolved', resolved);
      link?.send('node.pair.resolved', resolved);
    },
  });
  const invocations = createInvocations({
    store,
    connected,
    paired,
    clean,
    clock,
    ids,
    log,
    checkAllowed: (nodeId, command) => checkAllowed(paired.get(nodeId), command, createCommandPolicy(rules())),
  });
  const describe = (node: PairedNode) => toNodeRow(node, connected);

  return {
    door: createNodeDoor(paired),
    paired,
    requests,
    connected,
    invocations,
    returnOf: returning.of,
    clean,
    list({ extended = false } = {}) {
      const rows = paired.list().map(describe).sort(byPresenceAndName);
      return extended ? rows.map((row) => withLastSeen(row, lastSeen)) : rows;
    },
    describe: (nodeId) => describe(paired.get(nodeId)),
    onAnnouncement(listener) {
      publish = listener;
    },
    async run(signal) {
      await Promise.all([requests.run(signal), invocations.run(signal)]);
    },
  };
}

/** Allows only commands that were declared when the node was approved and that config.json does not forbid. */
function checkAllowed({ nodeId, commands = [] }: PairedNode, command: string, policy: CommandPolicy): void {
  const reason = commands.includes(command) ? policy(nodeId, command) : 'not declared by the node when it was approved';
  if (reason === undefined) return;
  throw new GatewayError('INVALID_REQUEST', `node command not allowed: ${command} (${reason})`, {
    details: { reason, command },
  });
}

function toNodeRow(node: PairedNode, connected: ConnectedNodes): NodeRow {
  const { nodeId, createdAtMs: _, approvedAtMs: __, caps = [], commands = [], ...about } = node;
  const live = connected.find(nodeId);
  const now = live && { ...liveAbout(live.client), ...(live.address !== '' && { remoteIp: live.address }) };
  return {
    nodeId,
    ...about,
    ...(live && about.displayName === undefined && { displayName: short(live.client.name) }),
    ...now,
    caps: [...new Set(live?.caps ?? caps)].sort(),
    commands,
    paired: true,
    connected: live !== undefined,
  };
}

function withLastSeen(row: NodeRow, lastSeen: LastSeen): NodeRow {
  const lastSeenAtMs = row.connected ? undefined : lastSeen.find(row.nodeId);
  return lastSeenAtMs === undefined ? row : { ...row, lastSeenAtMs };
}

function liveAbout({ platform, version, deviceFamily, modelIdentifier }: { [K in About]?: string | undefined }) {
  const said = Object.entries({ platform, version, deviceFamily, modelIdentifier });
  return Object.fromEntries(said.flatMap(([key, text]) => (text === undefined ? [] : [[key, short(text)]])));
}

type About = 'platform' | 'version' | 'deviceFamily' | 'modelIdentifier';

const MAX_TEXT = 128;
const short = (text: string): string => text.slice(0, MAX_TEXT);

const nameOf = ({ displayName, nodeId }: NodeRow): string => displayName?.toLowerCase() ?? nodeId;

function byPresenceAndName(a: NodeRow, b: NodeRow): number {
  if (a.connected !== b.connected) return a.connected ? -1 : 1;
  return nameOf(a).localeCompare(nameOf(b)) || a.nodeId.localeCompare(b.nodeId);
}
