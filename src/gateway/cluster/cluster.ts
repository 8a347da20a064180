import type { ClusterNode, ClusterWorkstream } from '../../../protocol/cluster/cluster-methods.ts';
import type { NodeEvent } from '../../../protocol/events/cluster.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Peers } from '../store/postgres/lease/peers.ts';
import type { Moves } from '../workers/moving/moves.ts';

/** A machine without what it does. */
export type ClusterAddress = Pick<ClusterNode, 'nodeId' | 'serverUrl'>;

/**
 * The machines that serve workstreams. The views and the console paths use only this, so that several machines need
 * another implementation and no other views.
 */
export interface Cluster {
  /** This machine. */
  readonly here: ClusterAddress;
  /** Machines that forward to this one, workers too: where they can be reached, if they say so, by their ids. */
  standbys(): Peers;
  /** Where the workers are that have joined, for clients, by their ids. */
  workers(): ReadonlyMap<string, string>;
  /** How workstreams move between machines. Absent: there are no others. */
  readonly moves?: Pick<Moves, 'move'> | undefined;
  /** Calls the listener when a standby comes or goes, and returns what ends that. */
  onStandbys(listener: (event: NodeEvent) => void): () => void;
  /** Every machine with its loaded workstreams, as far as the viewer perceives them. */
  read(viewer: Viewer): Promise<ClusterMember[]>;
  /** The machine that serves a workstream, loaded or stored; undefined if no machine has one that the viewer perceives. */
  ownerOf(wsId: string, viewer: Viewer): Promise<ClusterAddress | undefined>;
  /** What a workstream does now; undefined if no machine has loaded one that the viewer perceives. */
  liveOf(wsId: string, viewer: Viewer): Promise<LiveWorkstream | undefined>;
}

export interface LiveWorkstream {
  workstream: ClusterWorkstream;
  pendingApproval?: Approval;
}

export interface ClusterMember {
  node: ClusterNode;
  workstreams: ClusterWorkstream[];
}
