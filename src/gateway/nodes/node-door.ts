import type { ClosingName } from '../../../protocol/closings.ts';
import type { ConnectParams } from '../../../protocol/connect.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Principal } from '../auth/principal.ts';
import { createAdmission } from '../connections/admission.ts';
import { NO_PERMISSIONS } from '../users/grant.ts';
import type { PairedNodes } from './paired-nodes.ts';

/** A client that calls itself a node, during its handshake. */
export interface NodeCandidate {
  client: ConnectParams['client'];
  token: string | undefined;
  address: string;
  /** Its upgrade request came from a web page. */
  hasOrigin: boolean;
}

export type NodeAdmission =
  /** `leave` frees the place of an unpaired node when its connection ends. */
  | { kind: 'admitted'; principal: Principal; leave?: () => void }
  | { kind: 'refused'; error: GatewayError; closing: ClosingName };

/** Admits nodes: paired ones by their token, others only to request pairing, in limited numbers (decision 28). */
export interface NodeDoor {
  admit(candidate: NodeCandidate): NodeAdmission;
}

export function createNodeDoor(paired: Pick<PairedNodes, 'authenticate'>): NodeDoor {
  const admission = createAdmission({ perAddress: LIMITS.unpairedNodesPerAddress, inAll: LIMITS.unpairedNodes });

  function admitUnpaired(nodeId: string, { hasOrigin, address }: NodeCandidate): NodeAdmission {
    if (hasOrigin) return refuse(new GatewayError('UNAUTHORIZED', 'unauthorized'), 'unauthorized');
    const leave = admission.enter(address);
    if (leave === undefined) {
      const error = new GatewayError('BUSY', 'too many nodes wait to be paired', { retryAfterMs: 10_000 });
      return refuse(error, 'too_many_nodes');
    }
    const principal: Principal = {
      id: `unpaired:${nodeId}`,
      scopes: new Set(['pairing']),
      permissions: NO_PERMISSIONS,
      source: { kind: 'unpaired', nodeId },
      ended: new AbortController().signal,
    };
    return { kind: 'admitted', principal, leave };
  }

  return {
    admit(candidate) {
      const { client, token } = candidate;
      const nodeId = client.instanceId;
      if (nodeId === undefined || nodeId.length > MAX_NODE_ID) {
        const problem = `invalid connect params: client.instanceId: required for a node, with at most ${MAX_NODE_ID} characters`;
        return refuse(new GatewayError('INVALID_REQUEST', problem), 'invalid_handshake');
      }
      if (token === undefined) return admitUnpaired(nodeId, candidate);
      const principal = paired.authenticate(nodeId, token);
      if (principal === undefined) return refuse(new GatewayError('UNAUTHORIZED', 'unauthorized'), 'unauthorized');
      return { kind: 'admitted', principal };
    },
  };
}

const MAX_NODE_ID = 128;

const refuse = (error: GatewayError, closing: ClosingName): NodeAdmission => ({ kind: 'refused', error, closing });
