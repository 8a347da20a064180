import { z } from 'zod';
import type { Endpoint } from '../../../protocol/http/endpoint.ts';
import { endpoint } from '../../../protocol/http/endpoint.ts';
import type { Cluster } from '../../gateway/cluster/cluster.ts';
import { invalidNode, isNodeId, unknownNode } from '../../gateway/cluster/node-ids.ts';
import type { Answer, Respond } from '../exchange.ts';
import type { Guarded } from '../guard.ts';

const PREFIX = '/node/';

/**
 * The path without the prefix of this machine: `/node/{node_id}/v1/…` is `/v1/…`. Taken off before anything else looks at
 * the path, so that every check sees the path that is served, and only once. The id is compared as it was sent: nothing is
 * decoded or normalized.
 */
export function withoutNode(path: string, { here }: { here: Pick<Cluster['here'], 'nodeId'> }): string {
  const prefix = `${PREFIX}${here.nodeId}`;
  if (path === prefix) return '/';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

interface NodeDeps {
  cluster: Pick<Cluster, 'here'>;
  respond: Respond;
  notFound: Answer;
}

const VERBS: readonly Endpoint['verb'][] = ['get', 'post', 'put', 'delete'];

/** The paths of other machines: callers who may read anything learn that there is no such machine. */
export const nodeRoutes = ({ cluster, respond, notFound }: NodeDeps): Guarded[] =>
  VERBS.flatMap((verb) =>
    (['/node/{node_id}', '/node/{node_id}/{+rest}'] as const).map((path) => ({
      endpoint: endpoint({
        verb,
        path,
        summary: 'A path of another machine.',
        scope: 'read',
        request: () => z.object({}),
        reply: () => z.object({}),
      }),
      work(exchange) {
        const { node_id: nodeId = '' } = exchange.fields;
        if (!isNodeId(nodeId)) throw invalidNode();
        // This machine's own prefix a second time, or encoded.
        if (nodeId !== cluster.here.nodeId) throw unknownNode();
        respond(exchange, notFound);
      },
    })),
  );
