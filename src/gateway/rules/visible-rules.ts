import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import { perceivedBy, seesEverything, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';

/**
 * The rules that a viewer may know of: those of workstreams that they perceive, their own, those that hold for everybody, and
 * for holders of `admin.policies` all others. What was given in a workstream that they do not perceive may tell of it.
 */
export async function visibleRules(rules: readonly Rule[], viewer: Viewer, { db }: Pick<Store, 'db'>): Promise<Rule[]> {
  if (seesEverything(viewer)) return [...rules];
  const named = [...new Set(rules.flatMap(({ wsId, given }) => [wsId ?? [], given?.wsId ?? []].flat()))];
  const perceived = await perceivedAmong(named, viewer, db);
  const isAdmin = viewer.permissions.has('admin.policies');
  return rules.filter(({ wsId, folder, userId, given }) => {
    if (userId !== undefined && userId === viewer.userId) return true;
    if ([wsId, given?.wsId].some((id) => id !== undefined && !perceived.has(id))) return false;
    return isAdmin || wsId !== undefined || (folder === undefined && userId === undefined);
  });
}

/** So many names fit into one statement. */
const BATCH = 500;

async function perceivedAmong(wsIds: readonly string[], viewer: Viewer, db: Store['db']): Promise<Set<string>> {
  const found = new Set<string>();
  for (let from = 0; from < wsIds.length; from += BATCH) {
    const rows = await db
      .selectFrom('workstreams')
      .select('ws_id')
      .where('ws_id', 'in', wsIds.slice(from, from + BATCH))
      .where('loaded', '!=', DELETED)
      .where(perceivedBy(viewer))
      .execute();
    for (const { ws_id } of rows) found.add(ws_id);
  }
  return found;
}
