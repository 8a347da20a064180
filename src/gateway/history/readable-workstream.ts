import type { Viewer } from '../sharing/perception.ts';
import { NoRoom } from '../workstreams/closing.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

/** What can be read of a workstream that is not loaded, too. It has no run then. */
export type ReadableWorkstream = Pick<Workstream, 'data' | 'current'>;

/** Loads a workstream for a caller that only reads. If there is no room for it, returns its stored data (decision 13). */
export async function getReadable(
  wsId: string,
  viewer: Viewer,
  workstreams: Pick<Workstreams, 'get' | 'find' | 'lookUp'>,
): Promise<ReadableWorkstream> {
  try {
    return await workstreams.get(wsId, viewer);
  } catch (error) {
    if (!(error instanceof NoRoom)) throw error;
    const data = await workstreams.lookUp(wsId, viewer);
    const loaded = workstreams.find(wsId, viewer); // meanwhile
    if (loaded) return loaded;
    if (!data) throw error;
    return { data, current: undefined };
  }
}
