import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';

/** A person let a coordinator send messages unasked in this conversation, which ends. */
export const endTrustOf = (wsId: string): Statement =>
  statementOf(
    build.updateTable('coordinators').set({ trust_by: null, trust_until_ms: null }).where('ws_id', '=', wsId),
  );
