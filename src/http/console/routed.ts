import type { z } from 'zod';
import { clusterEndpoints } from '../../../protocol/http/cluster.ts';
import type { Endpoint } from '../../../protocol/http/endpoint.ts';
import { routedPath } from '../../../protocol/http/routed.ts';
import { workstreamEndpoints } from '../../../protocol/http/workstream.ts';
import type { Result } from '../../../protocol/index.ts';
import type { Cluster } from '../../gateway/cluster/cluster.ts';
import { idleNode, unknownNode } from '../../gateway/cluster/node-ids.ts';
import type { Binding } from '../bind.ts';
import type { Guarded } from '../guard.ts';

/**
 * The rows of single workstreams again, below /v1/api/route: there, the machine that serves the workstream is found
 * first. With one machine it is always this one. The rows keep their guards, because they are the same rows under another
 * path.
 */
export const routed = (rows: readonly Guarded[]): Guarded[] =>
  rows.flatMap(({ endpoint, work }) => {
    const path = routedPath(endpoint);
    return path === undefined ? [] : [{ endpoint: { ...endpoint, path }, work }];
  });

/** What a row has in addition to plain creation. */
interface Placement<E extends Endpoint> {
  /** The machine that the caller chose. */
  targetOf(asked: z.output<ReturnType<E['request']>>): string | null | undefined;
  /** The fields of the answer that say where the workstream is. */
  toPlace(
    asked: z.output<ReturnType<E['request']>>,
    result: Result<'workstream.create'>,
  ): Partial<z.input<ReturnType<E['reply']>>>;
}

/** Values that leave the choice of the machine to the daemon. */
const ANY_NODE: ReadonlySet<string> = new Set(['auto', 'pool']);

/** Creating a workstream on a machine: the same as without routing, and the answer says where it is. */
export function placedCreations(
  bindings: readonly Binding[],
  { here, standbys, workers }: Pick<Cluster, 'here' | 'standbys' | 'workers'>,
): Binding[] {
  const plain = bindings.find(({ endpoint }) => endpoint === workstreamEndpoints.create);
  if (!plain) return [];
  const placed = <E extends Endpoint>(endpoint: E, { targetOf, toPlace }: Placement<E>): Binding => ({
    ...plain,
    endpoint,
    params(asked: never, via) {
      const target = targetOf(asked);
      if (target && target !== here.nodeId && !workers().has(target))
        throw standbys().has(target) ? idleNode(here.nodeId) : unknownNode();
      return Object.assign({}, plain.params(asked, via), target ? { nodeId: target } : {});
    },
    reply: (result: never, asked: never) => Object.assign({}, plain.reply(result, asked), toPlace(asked, result)),
  });
  return [
    placed(clusterEndpoints.createRouted, {
      targetOf: ({ target_node: target }) => target,
      toPlace: ({ target_node: target, resume_ws: resumed }, { nodeId = here.nodeId }) => ({
        node_url: workers().get(nodeId) ?? here.serverUrl,
        node_id: nodeId,
        routing_strategy: target ? ('target_node' as const) : resumed ? ('resume' as const) : ('rendezvous' as const),
      }),
    }),
    placed(clusterEndpoints.create, {
      targetOf: ({ node_id: target }) => (target && ANY_NODE.has(target) ? undefined : target),
      toPlace: (_, { wsId, nodeId = here.nodeId }) => ({
        status: 'ok' as const,
        correlation_id: wsId,
        target_node: nodeId,
      }),
    }),
  ];
}
