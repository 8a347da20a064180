import { workstreamEndpoints } from '../protocol/http/workstream.ts';
import type { Product } from './stage.ts';

/** Creates workstreams and returns their ids. */
export async function createWorkstreams(
  { http }: Product,
  count: number,
  options: { auto_approve?: boolean } = {},
): Promise<string[]> {
  const made = Array.from({ length: count }, () => http.call(workstreamEndpoints.create, options));
  return (await Promise.all(made)).map(({ ws_id }) => ws_id);
}
