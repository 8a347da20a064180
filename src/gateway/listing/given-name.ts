import { generatedName } from '../../../protocol/text/generated-name.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { isJobKey } from '../workstreams/session-keys.ts';

/** The name that a workstream was created with; null when it has a generated one, or its job's. */
export const givenName = ({
  ws_id,
  session_key,
  generated_name,
}: Pick<WorkstreamTable, 'ws_id' | 'session_key' | 'generated_name'>): string | null =>
  generated_name === generatedName(ws_id) || (session_key !== null && isJobKey(session_key)) ? null : generated_name;
