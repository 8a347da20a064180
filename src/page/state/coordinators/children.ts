import type { StreamEventOf, WorkstreamState } from '../../../../protocol/stream-events.ts';

type ChildEvent = StreamEventOf<'child_ws_created' | 'child_ws_state' | 'child_ws_closed' | 'child_ws_rename'>;

/** A workstream that works for a coordinator. */
export interface Child {
  readonly wsId: string;
  /** Empty until it is known. */
  readonly name: string;
  readonly state: WorkstreamState;
  readonly isOpen: boolean;
}

/** The children of a coordinator: what events have said of them, and what was read. */
export interface Children {
  readonly all: readonly Child[];
  /** Those that were made before the page was opened are among them. */
  readonly isRead: boolean;
}

export const NO_CHILDREN: Children = { all: [], isRead: false };

/** After an event about a child, which may be one that is not known yet. */
export function withChild(children: Children, event: ChildEvent): Children {
  const { all } = children;
  const at = all.findIndex(({ wsId }) => wsId === event.child_ws_id);
  const before = all[at] ?? { wsId: event.child_ws_id, name: '', state: 'idle', isOpen: true };
  const changed = changeOf(before, event);
  return { ...children, all: at < 0 ? [...all, changed] : all.with(at, changed) };
}

function changeOf(before: Child, event: ChildEvent): Child {
  switch (event.type) {
    case 'child_ws_created':
      return { ...before, name: event.name, isOpen: true };
    case 'child_ws_state':
      return { ...before, state: event.state };
    case 'child_ws_rename':
      return { ...before, name: event.name };
    case 'child_ws_closed':
      return { ...before, state: 'idle', isOpen: false };
  }
}

/** With those of a list. What events have said since is newer; only names that they did not say are taken from it. */
export const withListed = ({ all }: Children, listed: readonly Child[]): Children => {
  const known = new Map(all.map((child) => [child.wsId, child]));
  const merged = listed.map((child) => {
    const shown = known.get(child.wsId);
    return shown ? { ...shown, name: shown.name || child.name } : child;
  });
  const ids = new Set(listed.map(({ wsId }) => wsId));
  return { all: [...merged, ...all.filter(({ wsId }) => !ids.has(wsId))], isRead: true };
};

/** What a child does, in words. */
export const CHILD_WORDS: Record<WorkstreamState, string> = {
  idle: 'idle',
  thinking: 'works',
  running: 'works',
  attention: 'waits for you',
  error: 'stopped by an error',
};

/** What the open ones do, such as `2 work, 1 waits for you`. */
export function toChildCounts({ all }: Children): string {
  const open = all.filter(({ isOpen }) => isOpen);
  const count = (...states: WorkstreamState[]) => open.filter(({ state }) => states.includes(state)).length;
  const [works, waits, failed] = [count('thinking', 'running'), count('attention'), count('error')];
  const idle = open.length - works - waits - failed;
  return [
    waits > 0 && `${waits} ${waits === 1 ? 'waits' : 'wait'} for you`,
    works > 0 && `${works} ${works === 1 ? 'works' : 'work'}`,
    failed > 0 && `${failed} stopped by an error`,
    idle > 0 && `${idle} idle`,
  ]
    .filter(Boolean)
    .join(', ');
}
