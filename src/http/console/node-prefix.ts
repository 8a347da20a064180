import { z } from 'zod';
import type { Endpoint } from '../../../protocol/http/endpoint.ts';
import { endpoint } from '../../../protocol/http/endpoint.ts';
import type { Cluster } from '../../gateway/cluster/cluster.ts';
import { invalidNode, isNodeId, unknownNode, unreachableNode } from '../../gateway/cluster/node-ids.ts';
import type { Answer, Exchange, Respond } from '../exchange.ts';
import type { Guarded } from '../guard.ts';
import { askStandby } from './ask-standby.ts';

const PREFIX = '/node/';
/** What a standby answers itself. */
const OWN_PATHS: ReadonlySet<string> = new Set(['/health', '/metrics']);

/**
 * The path without the prefix of this machine: `/node/{node_id}/v1/…` is `/v1/…`. Taken off before anything else looks at
 * the path, so that every check sees the path that is served, and only once. The id is compared as it was sent: nothing is
 * decoded or normalized. A standby would only forward to this machine, so its paths are served here, but for its own ones.
 */
export function withoutNode(path: string, { here, standbys }: Prefixes): string {
  if (!path.startsWith(PREFIX)) return path;
  const end = path.indexOf('/', PREFIX.length);
  const nodeId = path.slice(PREFIX.length, end < 0 ? undefined : end);
  const rest = end < 0 ? '/' : path.slice(end);
  if (nodeId === here.nodeId) return rest;
  return standbys?.().has(nodeId) && !OWN_PATHS.has(rest) ? rest : path;
}

interface Prefixes {
  here: Pick<Cluster['here'], 'nodeId'>;
  standbys?: Cluster['standbys'];
}

interface NodeDeps {
  cluster: Pick<Cluster, 'here' | 'standbys'>;
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
      work: (exchange) => serveNode(verb, exchange, { cluster, respond, notFound }),
    })),
  );

async function serveNode(
  verb: Endpoint['verb'],
  exchange: Exchange,
  { cluster, respond, notFound }: NodeDeps,
): Promise<void> {
  const { node_id: nodeId = '' } = exchange.fields;
  if (!isNodeId(nodeId)) throw invalidNode();
  const rest = exchange.path.slice(PREFIX.length + nodeId.length);
  const standbys = cluster.standbys();
  // This machine's own prefix a second time, or encoded.
  if (nodeId === cluster.here.nodeId) return respond(exchange, notFound);
  if (!standbys.has(nodeId) || !isOwnOf(verb, rest)) throw unknownNode();
  const address = standbys.get(nodeId);
  if (address === undefined) throw unreachableNode();
  respond(
    exchange,
    await askStandby(address, rest, exchange.requestId).catch((error: unknown) =>
      Promise.reject(unreachableNode(error)),
    ),
  );
}

const isOwnOf = (verb: Endpoint['verb'], path: string): boolean => verb === 'get' && OWN_PATHS.has(path);
