import type { Message } from '../../agent/message.ts';
import type { ContextCut } from '../../agent/run/window/run-window.ts';
import type { Statement, Store } from '../store/store.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Cut } from './cut.ts';
import { planRange } from './new-cut.ts';

interface ContextCutDeps {
  store: Pick<Store, 'db' | 'reportDamage'>;
  loadContext(data: WorkstreamData, pending: Cut): Promise<Message[]>;
  nowMs: number;
}

/** A cut of what models read, with the context after it. Its statements belong in one unit with its event. */
interface PreparedCut {
  statements: Statement[];
  /** What the model reads after it. */
  context: readonly Message[];
  /** Call this after the commit: changes the context in place. */
  apply(context: Message[]): void;
}

/** Reads the context before the commit, so that it cannot fail afterwards. */
export async function prepareContextCut(
  data: WorkstreamData,
  cut: ContextCut,
  { store, loadContext, nowMs }: ContextCutDeps,
): Promise<PreparedCut> {
  const planned = await planRange(data, { ...cut, afterSeq: data.contextAfterSeq }, { store, nowMs });
  const context = await loadContext(data, planned.cut);
  return {
    statements: planned.statements,
    context,
    apply(current) {
      planned.apply();
      current.length = 0;
      for (const message of context) current.push(message);
    },
  };
}
