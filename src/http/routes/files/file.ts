import { fileEndpoints } from '../../../../protocol/http/files/file.ts';
import { bind, given } from '../../bind.ts';
import { iso } from '../../iso.ts';

export const fileRoutes = [
  bind(fileEndpoints.list, 'file.list', {
    params: ({ ws_id, path, offset, limit }) => ({
      wsId: ws_id,
      path: given(path),
      offset,
      limit,
    }),
    reply: ({ entries, ...same }) => ({
      ...same,
      entries: entries.map(({ sizeBytes: size, modifiedMs, ...entry }) => ({
        ...entry,
        size,
        modified: modifiedMs === undefined ? undefined : iso(modifiedMs),
      })),
    }),
  }),
  bind(fileEndpoints.find, 'file.find', {
    params: ({ ws_id, query, limit }) => ({ wsId: ws_id, query: given(query), limit }),
    reply: (found) => found,
  }),
  bind(fileEndpoints.read, 'file.read', {
    params: ({ ws_id, path, offset, limit }) => ({
      wsId: ws_id,
      path,
      offset,
      limit,
    }),
    reply: ({ sizeBytes: size, modifiedMs, ...same }) => ({ size, modified: iso(modifiedMs), ...same }),
  }),
  bind(fileEndpoints.changes, 'file.changes', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: (changes) => changes,
  }),
  bind(fileEndpoints.diff, 'file.diff', {
    params: ({ ws_id, path, part }) => ({ wsId: ws_id, path, part: part ?? undefined }),
    reply: (diff) => diff,
  }),
  bind(fileEndpoints.discard, 'file.discard', {
    params: ({ ws_id, path, seen }) => ({ wsId: ws_id, path, seen }),
    reply: ({ runIds, ...same }) => ({ run_ids: runIds, ...same }),
  }),
];
