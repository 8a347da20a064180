import type { Endpoint } from './endpoint.ts';
import { planEndpoints } from './questions/plan.ts';
import { workstreamEndpoints } from './workstream.ts';

const API = '/v1/api/';

const { send, approve, cancel, command, close } = workstreamEndpoints;
const PLAIN: ReadonlySet<string> = new Set(
  [send, approve, cancel, command, close, planEndpoints.resolve].map(({ path }) => path),
);

/** The path of a row below /v1/api/route; undefined if the row is not about a single workstream. */
export function routedPath({ path }: Pick<Endpoint, 'path'>): Endpoint['path'] | undefined {
  const isRouted = PLAIN.has(path) || path.startsWith(`${API}workstreams/{ws_id}`);
  return isRouted ? `${API}route/${path.slice(API.length)}` : undefined;
}
