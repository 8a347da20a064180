import { isDeepStrictEqual } from 'node:util';
import type { Broadcast } from '../connections/broadcast.ts';
import { DAEMON, mayPerceive, type Viewer, type Watched } from '../sharing/perception.ts';

interface ViewersDeps {
  workstreams: { find(wsId: string, viewer: Viewer): { data: Watched } | undefined };
  broadcast: Pick<Broadcast, 'publishOf'>;
}

/** Who sees which workstream now, in memory only: each connection reports it. */
export interface Viewers {
  /** `connection` identifies the caller until `signal` aborts. `wsId` undefined: it shows no workstream. */
  view(connection: object, { wsId, viewer, signal }: View): void;
  /** The ids of the users, each once; empty: the operator. */
  of(wsId: string): string[];
}

interface View {
  wsId: string | undefined;
  viewer: Viewer;
  signal: AbortSignal;
}

export function createViewers({ workstreams, broadcast }: ViewersDeps): Viewers {
  const views = new Map<object, { wsId: string; viewer: Viewer }>();
  /** The connections whose end is awaited. */
  const known = new WeakSet<object>();
  const find = (wsId: string) => workstreams.find(wsId, DAEMON)?.data;

  /** A person who no longer perceives the workstream is not named to those who do. */
  function of(wsId: string): string[] {
    const about = find(wsId);
    if (about === undefined) return [];
    const seeing = [...views.values()].filter((view) => view.wsId === wsId && mayPerceive(view.viewer, about));
    return [...new Set(seeing.map(({ viewer }) => viewer.userId ?? ''))];
  }

  /** Tells of the change if it changes who sees one of these workstreams: a second tab of a person changes nothing. */
  function change(wsIds: readonly (string | undefined)[], make: () => void): void {
    const before = wsIds.map((wsId) => (wsId === undefined ? [] : of(wsId)));
    make();
    for (const [at, wsId] of wsIds.entries()) {
      const about = wsId === undefined ? undefined : find(wsId);
      if (about === undefined) continue;
      const userIds = of(about.wsId);
      if (isDeepStrictEqual(userIds, before[at])) continue;
      broadcast.publishOf(about, 'workstream.viewers', { wsId: about.wsId, userIds });
    }
  }

  function leave(connection: object): void {
    change([views.get(connection)?.wsId], () => views.delete(connection));
  }

  return {
    of,
    view(connection, { wsId, viewer, signal }) {
      const last = views.get(connection)?.wsId;
      if (signal.aborted || last === wsId) return;
      if (!known.has(connection)) signal.addEventListener('abort', () => leave(connection), { once: true });
      known.add(connection);
      change([last, wsId], () => {
        if (wsId === undefined) views.delete(connection);
        else views.set(connection, { wsId, viewer });
      });
    },
  };
}
