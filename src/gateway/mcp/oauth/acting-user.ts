import { sql } from 'kysely';
import { requestOf } from '../../runs/run-rows.ts';
import type { Store } from '../../store/store.ts';
import type { Users } from '../../users/users.ts';

interface ActingDeps {
  store: Pick<Store, 'db'>;
  users: Pick<Users, 'count'>;
}

/**
 * In whose name the run of a workstream acts: the one who sent its message, or the owner, if the daemon started it. The
 * operator is an empty text. Messages of a coordinator act for whom its own run acted when it sent them. Undefined if others had a part in it, because they would act with an account that is not theirs.
 */
export async function actingUserIn({ store: { db }, users }: ActingDeps, wsId: string): Promise<string | undefined> {
  const run = await db
    .selectFrom('runs')
    .innerJoin('workstreams', 'workstreams.ws_id', 'runs.ws_id')
    .select(['run_id', 'request_json', 'owner_id'])
    .where('runs.ws_id', '=', wsId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  const request = run && requestOf(run);
  if (!request) return undefined;
  const isUnattended = request.unattended === true;
  const user = request.sentBy
    ? request.actsFor
    : (request.sender ?? withoutSender({ isUnattended, ownerId: run.owner_id, hasUsers: users.count > 0 }));
  if (user === undefined) return undefined;
  // A person's message counts for itself; what the daemon starts goes on with all that was written before.
  const part = isUnattended ? sql`true` : sql`json_extract(request_json, '$.steeredInto') = ${run.run_id}`;
  const { rows: others } = await sql<{ run_id: string }>`
    select run_id from runs
    where ws_id = ${wsId} and run_id <> ${run.run_id} and case when json_valid(request_json) then ${part}
      and case when json_extract(request_json, '$.sentBy') is not null
        then json_extract(request_json, '$.actsFor') is null or json_extract(request_json, '$.actsFor') <> ${user}
        else json_type(request_json, '$.unattended') is distinct from 'true'
          and coalesce(json_extract(request_json, '$.sender'), '') <> ${user} end
      else true end
    limit 1`.execute(db);
  return others.length === 0 ? user : undefined;
}

interface WithoutSender {
  isUnattended: boolean;
  ownerId: string;
  hasUsers: boolean;
}

/** In a user's workstream, only what the daemon starts comes from that user. Nobody knows who created a job of the daemon. */
function withoutSender({ isUnattended, ownerId, hasUsers }: WithoutSender): string | undefined {
  if (ownerId !== '') return isUnattended ? ownerId : undefined;
  return isUnattended && hasUsers ? undefined : '';
}
