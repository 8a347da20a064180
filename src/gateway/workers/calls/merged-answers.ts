import type { MethodName, Result } from '../../../../protocol/index.ts';
import type { Json } from '../links/link.ts';

/** One answer from those of all machines, that of the active daemon first. */
type Merge = (answers: readonly Json[]) => unknown;

function merging<M extends MethodName>(method: M, merge: (first: Result<M>, all: Result<M>[]) => Result<M>) {
  const untyped: Merge = (answers) => {
    const all: Result<M>[] = [...answers]; // they are of this method
    const [first] = all;
    if (first === undefined) throw new Error('no machine has answered');
    return merge(first, all);
  };
  return [method, untyped] as const;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The lists of what machines have in memory, which only all of them together answer in full. */
export const MERGED: ReadonlyMap<string, Merge> = new Map([
  merging('workstream.list', (_, all) => ({
    workstreams: all.flatMap(({ workstreams }) => workstreams).sort((a, b) => a.createdMs - b.createdMs),
  })),
  merging('workstream.dashboard', (first, all) => ({
    ...first,
    workstreams: all.flatMap(({ workstreams }) => workstreams),
    totalTokens: sum(all.map(({ totalTokens }) => totalTokens)),
    totalToolCalls: sum(all.map(({ totalToolCalls }) => totalToolCalls)),
    activeCount: sum(all.map(({ activeCount }) => activeCount)),
  })),
  merging('approval.list', (_, all) => ({
    approvals: all.flatMap(({ approvals }) => approvals).sort((a, b) => a.askedAtMs - b.askedAtMs),
  })),
  merging('sessions.list', (first, all) => {
    const byId = new Map(all.flatMap(({ sessions }) => sessions).map((session) => [session.sessionId, session]));
    const sessions = [...byId.values()].sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0));
    return { ...first, count: sessions.length, sessions };
  }),
]);
