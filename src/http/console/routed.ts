import { z } from 'zod';
import { kept } from '../../../protocol/contract.ts';
import { workstreamEndpoints } from '../../../protocol/http/workstream.ts';
import type { Cluster } from '../../gateway/cluster/cluster.ts';
import { unknownNode } from '../../gateway/cluster/node-ids.ts';
import type { Binding } from '../bind.ts';
import type { Guarded } from '../guard.ts';

const API = '/v1/api/';
const ROUTE = `${API}route/`;

const { send, approve, cancel, command, close, create } = workstreamEndpoints;
const PLAIN: ReadonlySet<string> = new Set([send, approve, cancel, command, close].map(({ path }) => path));

/**
 * The rows of single workstreams again, below /v1/api/route: there, the machine that serves the workstream is found
 * first. With one machine it is always this one. The rows keep their guards, because they are the same rows under another
 * path.
 */
export const routed = (rows: readonly Guarded[]): Guarded[] =>
  rows
    .filter(({ endpoint: { path } }) => PLAIN.has(path) || path.startsWith(`${API}workstreams/{ws_id}`))
    .map(({ endpoint, work }) => ({
      endpoint: { ...endpoint, path: `${ROUTE}${endpoint.path.slice(API.length)}` },
      work,
    }));

/** Creating a workstream on a machine: the same as without routing, and the answer says where it is. */
export function routedCreation(bindings: readonly Binding[], { here }: Pick<Cluster, 'here'>): Binding[] {
  const plain = bindings.find(({ endpoint }) => endpoint === create);
  if (!plain) return [];
  const request = kept(() => create.request().and(z.object({ target_node: z.string().nullish() })));
  const placed = (asked: z.output<ReturnType<typeof request>>) => {
    const strategy = asked.target_node ? 'target_node' : asked.resume_ws ? 'resume' : 'rendezvous';
    return { node_url: here.serverUrl, node_id: here.nodeId, routing_strategy: strategy };
  };
  return [
    {
      ...plain,
      endpoint: { ...create, path: `${ROUTE}workstreams/new`, request },
      params(asked: never, via) {
        const { target_node: target }: z.output<ReturnType<typeof request>> = asked;
        if (target && target !== here.nodeId) throw unknownNode();
        return plain.params(asked, via);
      },
      reply: (result: never, asked: never) => Object.assign({}, plain.reply(result, asked), placed(asked)),
    },
  ];
}
