import { assessmentEndpoints } from '../../../../protocol/http/admin/assessment.ts';
import { bind, given } from '../../bind.ts';
import { iso, momentOf } from '../../iso.ts';

export const assessmentRoutes = [
  bind(assessmentEndpoints.list, 'assessment.list', {
    params: ({ ws_id, since, until, risk_level, limit, offset }) => ({
      wsId: given(ws_id),
      sinceMs: momentOf(since),
      untilMs: momentOf(until),
      riskLevel: risk_level === '' ? undefined : risk_level,
      limit,
      offset,
    }),
    fieldNames: { sinceMs: 'since', untilMs: 'until' },
    reply: ({ assessments, total }) => ({
      assessments: assessments.map((assessment) => ({
        assessment_id: assessment.assessmentId,
        ws_id: assessment.wsId,
        call_id: assessment.callId,
        func_name: assessment.tool,
        flags: JSON.stringify(assessment.flags),
        risk_level: assessment.riskLevel,
        annotations: JSON.stringify(assessment.annotations),
        output_length: assessment.outputLength,
        redacted: assessment.redacted ? (1 as const) : (0 as const),
        created: iso(assessment.createdAtMs),
      })),
      total,
    }),
  }),
];
