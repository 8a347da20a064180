import { type RawBuilder, sql } from 'kysely';
import type { QuarantinedMemory } from '../../../protocol/methods/memory.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { QuarantinedMemoryTable } from '../store/schema/memory-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import { type MemoryFilter, toConditions, toSaved } from './memory-rows.ts';
import { readOrigin } from './origin.ts';

/** A waiting memory, and whether the viewer may know of the workstream whose agent saved it. */
export type FoundQuarantined = QuarantinedMemoryTable & { perceives_source: number };

/** The newest waiting memories. */
export const readQuarantined = (filter: MemoryFilter, limit: number): RawBuilder<FoundQuarantined> =>
  read(filter, sql`order by m.created_ms desc, m.memory_id limit ${limit}`);

export const readQuarantinedById = (
  memoryId: string,
  { viewer, administers }: Pick<MemoryFilter, 'viewer' | 'administers'>,
): RawBuilder<FoundQuarantined> =>
  read({ viewer, ...(administers !== undefined && { administers }) }, sql`and m.memory_id = ${memoryId}`);

const read = (filter: MemoryFilter, rest: RawBuilder<unknown>): RawBuilder<FoundQuarantined> =>
  sql<FoundQuarantined>`
    select m.*, ${perceivesSource(filter.viewer)} as perceives_source
    from quarantined_memories as m where ${toConditions(filter)} ${rest}`;

const perceivesSource = (viewer: Viewer): RawBuilder<number> => sql<number>`case when exists (
  select 1 from workstreams
  where workstreams.ws_id = json_extract(m.origin_json, '$.wsId') and workstreams.loaded <> ${DELETED}
    and ${perceivedBy(viewer)}
) then 1 else 0 end`;

/** Where it comes from is told to those who may know of that workstream. */
export function toQuarantined(row: FoundQuarantined): QuarantinedMemory {
  const { taint = { kind: 'unknown' as const }, wsId, callId } = readOrigin(row.origin_json) ?? {};
  return {
    ...toSaved(row),
    taint: row.perceives_source ? taint : { kind: taint.kind },
    ...(row.perceives_source && wsId !== undefined && { wsId }),
    ...(row.perceives_source && callId !== undefined && { callId }),
  };
}

export const insertQuarantined = (row: QuarantinedMemoryTable): Statement =>
  statementOf(build.insertInto('quarantined_memories').values(row), 1);

/** Another version of it may have come meanwhile, which nobody has looked at; that one has another id. */
export const deleteQuarantined = (memoryId: string): Statement =>
  statementOf(build.deleteFrom('quarantined_memories').where('memory_id', '=', memoryId), 1);

export const deleteQuarantinedNamed = ({
  name,
  scope,
  scope_id,
}: Pick<QuarantinedMemoryTable, 'name' | 'scope' | 'scope_id'>): Statement =>
  statementOf(
    build
      .deleteFrom('quarantined_memories')
      .where('name', '=', name)
      .where('scope', '=', scope)
      .where('scope_id', '=', scope_id),
  );
