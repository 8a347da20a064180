import type { ClusterNode, ClusterWorkstream } from '../../../protocol/cluster/cluster-methods.ts';

/** A machine without what it does. */
export type ClusterAddress = Pick<ClusterNode, 'nodeId' | 'serverUrl'>;

/**
 * The machines that serve workstreams. The views and the console paths use only this, so that several machines need
 * another implementation and no other views.
 */
export interface Cluster {
  /** This machine. */
  readonly here: ClusterAddress;
  /** Every machine with its loaded workstreams. */
  read(): Promise<ClusterMember[]>;
  /** The machine that serves a workstream, loaded or stored; undefined if no machine has it. */
  ownerOf(wsId: string): Promise<ClusterAddress | undefined>;
}

export interface ClusterMember {
  node: ClusterNode;
  workstreams: ClusterWorkstream[];
}
