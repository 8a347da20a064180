import { isDeepStrictEqual } from 'node:util';
import type { Broadcast } from '../connections/broadcast.ts';
import { DAEMON, mayPerceive, type Viewer, type Watched } from '../sharing/perception.ts';
import type { Sharing } from '../sharing/sharing.ts';

interface ViewersDeps {
  workstreams: { find(wsId: string, viewer: Viewer): { data: Watched } | undefined };
  sharing: Pick<Sharing, 'onChanged'>;
  broadcast: Pick<Broadcast, 'publishOf'>;
}

/** Who sees which workstream now, in memory only: each connection reports it. */
export interface Viewers {
  /** In place of what the connection showed before. */
  view(shown: View): void;
  /** The ids of the users, each once; empty: the operator. */
  of(wsId: string): string[];
}

interface View {
  /** Undefined: the connection shows no workstream. */
  wsId: string | undefined;
  viewer: Viewer;
  /** Aborts when the connection ends. All calls of a connection have the same one, which identifies it. */
  signal: AbortSignal;
}

export function createViewers({ workstreams, sharing, broadcast }: ViewersDeps): Viewers {
  const views = new Map<AbortSignal, { wsId: string; viewer: Viewer }>();
  /** Who was last said to see a workstream; without those that nobody sees. */
  const told = new Map<string, string[]>();
  /** The connections whose end is awaited. */
  const known = new WeakSet<AbortSignal>();
  const find = (wsId: string) => workstreams.find(wsId, DAEMON)?.data;

  /** A person who no longer perceives the workstream is not named to those who do. */
  function of(wsId: string): string[] {
    const about = find(wsId);
    if (about === undefined) return [];
    const seeing = [...views.values()].filter((view) => view.wsId === wsId && mayPerceive(view.viewer, about));
    return [...new Set(seeing.map(({ viewer }) => viewer.userId ?? ''))];
  }

  /** Tells of a change if it changes who sees the workstream: a second tab of a person changes nothing. */
  function tell(wsId: string): void {
    const about = find(wsId);
    const userIds = of(wsId);
    const before = told.get(wsId) ?? [];
    if (userIds.length > 0) told.set(wsId, userIds);
    else told.delete(wsId);
    if (about === undefined || isDeepStrictEqual(userIds, before)) return;
    broadcast.publishOf(about, 'workstream.viewers', { wsId, userIds });
  }

  function leave(signal: AbortSignal): void {
    const last = views.get(signal)?.wsId;
    views.delete(signal);
    if (last !== undefined) tell(last);
  }

  // Whoever loses sight of a workstream does not see it any more, though the page may still show it for a moment.
  sharing.onChanged(tell);

  return {
    of,
    view({ wsId, viewer, signal }) {
      const last = views.get(signal)?.wsId;
      if (signal.aborted || last === wsId) return;
      if (!known.has(signal)) signal.addEventListener('abort', () => leave(signal), { once: true });
      known.add(signal);
      if (wsId === undefined) views.delete(signal);
      else views.set(signal, { wsId, viewer });
      for (const changed of [last, wsId]) if (changed !== undefined) tell(changed);
    },
  };
}
