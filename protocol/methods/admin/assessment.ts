import { z } from 'zod';
import { contract } from '../../contract.ts';
import { OutputRisk } from '../../events/output-warning.ts';
import { optionalText } from '../../frames.ts';

/** How many assessments one answer has at most. */
const MOST_ASSESSMENTS = 500;
const AtMs = z.int().min(0);

/** What the output guard found in the output of a tool call. */
const StoredAssessment = z
  .strictObject({
    assessmentId: z.string(),
    wsId: z.string(),
    callId: z.string(),
    tool: z.string(),
    flags: z.array(z.string()),
    riskLevel: OutputRisk,
    /** One sentence for each flag, for people. */
    annotations: z.array(z.string()),
    /** In characters. */
    outputLength: z.int().min(0),
    /** Whether secrets were replaced. */
    redacted: z.boolean(),
    createdAtMs: AtMs,
  })
  .meta({ id: 'StoredAssessment' });

/** What the output guard found. */
export const assessmentContracts = {
  'assessment.list': contract({
    summary: 'Findings of the output guard in the workstreams that the caller perceives, newest first.',
    scope: 'approve',
    permission: 'admin.judge',
    params: () =>
      z
        .strictObject({
          wsId: optionalText(64),
          /** First and last moment. */
          sinceMs: AtMs.optional(),
          untilMs: AtMs.optional(),
          riskLevel: OutputRisk.optional(),
          /** Default: 100. */
          limit: z.int().min(1).max(MOST_ASSESSMENTS).optional(),
          offset: AtMs.optional(),
        })
        .meta({ id: 'AssessmentListParams' }),
    result: () =>
      z
        .strictObject({ assessments: z.array(StoredAssessment), total: z.int().min(0) })
        .meta({ id: 'AssessmentListResult' }),
  }),
};
