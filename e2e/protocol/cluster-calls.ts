import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  newSession(): Promise<string>;
}

/** A successful call of each method of the machines. */
export function clusterCalls({ call, newSession }: Session) {
  const nodeId = async () => (await call('cluster.nodes', { limit: 1 })).nodes[0]?.nodeId ?? '';
  return {
    'cluster.overview': () => call('cluster.overview', {}),
    'cluster.status': () => call('cluster.status', {}),
    'cluster.nodes': () => call('cluster.nodes', { sort: 'tokens' }),
    'cluster.workstreams': () => call('cluster.workstreams', { perPage: 3, search: 'ws-' }),
    'cluster.node': async () => call('cluster.node', { nodeId: await nodeId() }),
    'cluster.snapshot': () => call('cluster.snapshot', {}),
    'cluster.locate': async () => call('cluster.locate', { wsId: await newSession() }),
    'cluster.move': async () => call('cluster.move', { wsId: await newSession(), nodeId: await nodeId() }),
    'cluster.live': async () => call('cluster.live', { wsId: await newSession() }),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
