import { z } from 'zod';
import type { DecidedBy } from '../../../../../protocol/stream-events.ts';
import type { Connection } from '../../sqlite/sqlite-connection.ts';
import { rewriteEvents, rewriteNotes } from './rewrite-bodies.ts';

/**
 * Adds to stored decisions who made them. Before schema version 18, the journal had a word for it, and events and notes
 * had it only in the approval's row or in the text of the feedback.
 */
export function fillDeciders(connection: Connection): void {
  const rewriting = {
    beginnings: ['{"type":"approval_resolved"'],
    rewrite(body: string): string | undefined {
      const event = Resolved.safeParse(JSON.parse(body)).data;
      return event && JSON.stringify({ ...event, by: deciderOf(event, findApproval(connection, event.approval_id)) });
    },
  };
  rewriteEvents(connection, rewriting);
  rewriteNotes(connection, rewriting);
}

const Resolved = z.looseObject({
  type: z.literal('approval_resolved'),
  approval_id: z.string(),
  approved: z.boolean(),
  feedback: z.string(),
  by: z.undefined().optional(),
});
type Resolved = z.infer<typeof Resolved>;

interface Approval {
  status: unknown;
  decidedBy: unknown;
}

function findApproval(connection: Connection, approvalId: string): Approval | undefined {
  const [row] = connection.all('select status, decided_by from approvals where approval_id = ?', [approvalId]);
  return row && { status: row.status, decidedBy: row.decided_by };
}

function deciderOf({ approved, feedback }: Resolved, approval: Approval | undefined): DecidedBy {
  const status = approval?.status ?? (approved ? 'approved' : statusBy(feedback));
  switch (status) {
    case 'expired':
      return { kind: 'timeout' };
    case 'cancelled':
      return { kind: feedback === 'Cancelled by user' ? 'cancel' : 'shutdown' };
    default:
      return { kind: 'principal', id: String(approval?.decidedBy ?? 'unknown') };
  }
}

/** The status by the feedback, for a question that is no longer stored. */
function statusBy(feedback: string): string {
  if (feedback.startsWith('Approval timed out')) return 'expired';
  return feedback === 'Cancelled by user' || feedback === 'Not run: the run had ended' ? 'cancelled' : 'denied';
}
