import { sql } from 'kysely';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { damaged } from '../store/store-fault.ts';
import { type Cut, countOf, isForModels, toParts } from './cut.ts';
import { insertCut, readCuts } from './cut-rows.ts';

/** A cut that is about to be stored. Its statements and event belong in one unit. */
export interface NewCut {
  cut: Cut;
  statements: Statement[];
  event: StreamEvent;
  /** How many messages count after it. */
  left: number;
  /** Call this after the commit. */
  apply(): void;
}

/** The data of a workstream that a cut changes. */
interface CutData {
  readonly wsId: string;
  readonly messageCount: number;
  readonly contextAfterSeq: number;
  cutCount: number;
  title: string | null;
  usage: object | undefined;
  prefix: object | undefined;
}

interface PlanDeps {
  store: Pick<Store, 'db' | 'reportDamage'>;
  nowMs: number;
}

type PlannedRange = Pick<Cut, 'kind' | 'afterSeq' | 'toSeq' | 'summary'>;

/** The unit is refused if the conversation has changed when it is committed. */
export async function planCut(
  data: CutData,
  { event, ...range }: PlannedRange & { event: StreamEvent },
  deps: PlanDeps,
): Promise<NewCut> {
  return { ...(await planRange(data, range, deps)), event };
}

/** Like `planCut`, for a caller that adds the events itself. */
export async function planRange(
  data: CutData,
  range: PlannedRange,
  { store, nowMs }: PlanDeps,
): Promise<Omit<NewCut, 'event'>> {
  const { wsId, messageCount: atSeq, contextAfterSeq: after } = data;
  const { cuts, damage } = await readCuts(store, wsId);
  if (damage) throw damaged(damage);
  const cut: Cut = { ...range, n: cuts.length + 1, atSeq, createdMs: nowMs };
  const left = countOf(toParts([...cuts, cut], { after, upTo: atSeq }, 'original'));
  const cutCount = atSeq - after - left;
  const isRewritten = isForModels(cut);
  return {
    cut,
    statements: [
      ...[insertCut(wsId, cut), changeContext(wsId, { cutCount, left, after, atSeq })],
      ...[...deleteNotes(wsId, cut), ...(isRewritten ? [deletePrefix(wsId)] : [])],
    ],
    left,
    apply() {
      data.cutCount = cutCount;
      data.usage = undefined;
      if (isRewritten) data.prefix = undefined;
      if (left === 0) data.title = null;
    },
  };
}

/** Removes the token count of the previous context, and the title if the next message will give another. */
const changeContext = (
  wsId: string,
  { cutCount, left, after, atSeq }: { cutCount: number; left: number; after: number; atSeq: number },
): Statement =>
  statementOf(
    build
      .updateTable('workstreams')
      .set({ cut_count: cutCount, usage_json: null, ...(left === 0 && { title: null }) })
      .where('ws_id', '=', wsId)
      .where('message_count', '=', atSeq)
      .where('context_after_seq', '=', after),
    1,
  );

/** The model reads earlier messages in other words, so its requests begin anew, without reasoning that is bound to them. */
const deletePrefix = (wsId: string): Statement => statementOf(build.deleteFrom('prefixes').where('ws_id', '=', wsId));

/** Null for a damaged note. */
const noteType = sql<string | null>`case when json_valid(body_json) then json_extract(body_json, '$.type') end`;

/**
 * Removes the notes after messages that were taken back, because later notes get the same place as the last of these.
 * For a removed message, only what its failure said.
 */
function deleteNotes(wsId: string, cut: Cut): Statement[] {
  const { kind, afterSeq, toSeq } = cut;
  if (isForModels(cut)) return [];
  const after = build.deleteFrom('notes').where('ws_id', '=', wsId).where('after_seq', '>', afterSeq);
  if (kind === 'rewind') return [statementOf(after)];
  return [statementOf(after.where('after_seq', '<=', toSeq).where(noteType, '=', 'error'))];
}
