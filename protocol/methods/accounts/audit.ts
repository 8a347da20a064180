import { z } from 'zod';
import { contract } from '../../contract.ts';
import { optionalText } from '../../frames.ts';

const AtMs = z.int().min(0);

/** `denied`: the caller lacked a right. `failed`: the call was refused or failed for another reason. */
export const AuditOutcome = z.enum(['ok', 'denied', 'failed']);
export type AuditOutcome = z.infer<typeof AuditOutcome>;

/** Who did what, from where, to what, and how it ended. */
export const AuditEvent = z
  .strictObject({
    /** Counts from 1 without gaps. */
    seq: z.int().min(1),
    eventId: z.string(),
    atMs: AtMs,
    /** The user, or the principal where no user acts: `operator`, `token:…`, `local`. */
    userId: z.string(),
    /** The user’s name at that time; empty where no user acts. */
    username: z.string(),
    /** The credential that was used. */
    principal: z.string(),
    action: z.string(),
    resourceType: z.string(),
    resourceId: z.string(),
    outcome: AuditOutcome,
    /** JSON text of an object with what else is known; never a secret. */
    detail: z.string(),
    ipAddress: z.string(),
  })
  .meta({ id: 'AuditEvent' });
export type AuditEvent = z.infer<typeof AuditEvent>;

/** The record of who did what. It can only grow, and changes of what it holds are found. */
export const auditContracts = {
  'audit.list': contract({
    summary: 'Recorded actions, newest first.',
    scope: 'approve',
    permission: 'admin.audit',
    params: () =>
      z
        .strictObject({
          action: optionalText(64),
          userId: optionalText(128),
          outcome: AuditOutcome.optional(),
          /** First and last moment. */
          sinceMs: AtMs.optional(),
          untilMs: AtMs.optional(),
          /** Default: 50. */
          limit: z.int().min(1).max(200).optional(),
          offset: z.int().min(0).optional(),
        })
        .meta({ id: 'AuditListParams' }),
    result: () =>
      z.strictObject({ events: z.array(AuditEvent), total: z.int().min(0) }).meta({ id: 'AuditListResult' }),
  }),
  'audit.verify': contract({
    summary: 'Check every record against the digests that chain them, and the last one against its signature.',
    scope: 'approve',
    permission: 'admin.audit',
    weight: 10,
    params: () => z.strictObject({}).meta({ id: 'AuditVerifyParams' }),
    result: () =>
      z
        .strictObject({
          ok: z.boolean(),
          /** How many records were checked. */
          checked: z.int().min(0),
          /** The number of the first record that is not as it was written. */
          brokenAt: z.int().min(1).optional(),
          /** Why it is broken. */
          problem: z.enum(['changed', 'missing', 'truncated', 'signature']).optional(),
          /** If it is not ok: the number of the last record that is known to have been signed. */
          signedSeq: z.int().min(0).optional(),
          /** The file with the signature was removed, or replaced by an older version of itself. */
          head: z.enum(['missing', 'older']).optional(),
        })
        .meta({ id: 'AuditVerifyResult' }),
  }),
};
